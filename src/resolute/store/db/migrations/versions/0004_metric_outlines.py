"""Outlines of metric chunks. Chunks that are there already have none, and are read as before."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "metric_outlines",
        sa.Column("chunk_id", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("outline", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["metric_chunks.id"], name="fk_metric_outlines_chunk_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_id", "name", name="pk_metric_outlines"),
    )


def downgrade() -> None:
    op.drop_table("metric_outlines")
