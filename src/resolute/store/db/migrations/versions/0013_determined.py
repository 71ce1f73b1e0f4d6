"""Default pools of workspaces, heartbeats, log retention, and checkpoints that trials work with."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for pool in ("default_compute_pool", "default_aux_pool"):
        op.add_column("workspaces", sa.Column(pool, sa.Text(), nullable=False, server_default=""))
    op.add_column("trials", sa.Column("heartbeat_at", sa.BigInteger()))
    op.add_column("trials", sa.Column("log_retention_days", sa.Integer()))
    op.create_table(
        "trial_sources",
        sa.Column("trial_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("checkpoint_uuid", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("model_id", sa.Integer()),
        sa.Column("model_version", sa.Integer()),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("trial_id", "checkpoint_uuid"),
    )
    op.create_index("ix_trial_sources_checkpoint_uuid", "trial_sources", ["checkpoint_uuid"])
    op.create_index("ix_trial_sources_model_id_model_version", "trial_sources", ["model_id", "model_version"])


def downgrade() -> None:
    op.drop_table("trial_sources")
    for table, columns in (
        ("trials", ("log_retention_days", "heartbeat_at")),
        ("workspaces", ("default_aux_pool", "default_compute_pool")),
    ):
        for column in columns:
            op.drop_column(table, column)
