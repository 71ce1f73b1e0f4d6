"""What the supervisors of gangs over several hosts report: where each node is reached, its phase, its output."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gang_nodes",
        sa.Column("allocation_id", sa.Text(), nullable=False),
        sa.Column("rank", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("slot_ids", sa.Text(), nullable=False),
        sa.Column("ports", sa.Text(), nullable=False),
        sa.Column("phase", sa.String(length=32), nullable=False),
        sa.Column("phase_since", sa.BigInteger(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("log_sequence", sa.BigInteger(), nullable=False),
        sa.Column("log_start", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("allocation_id", "rank", name="pk_gang_nodes"),
    )


def downgrade() -> None:
    op.drop_table("gang_nodes")
