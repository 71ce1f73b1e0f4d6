"""Tasks that other tasks started, and tasks that are paused."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tasks", sa.Column("parent_id", sa.Text()))
    op.add_column("tasks", sa.Column("forked_from", sa.Text()))
    op.add_column("tasks", sa.Column("is_pausable", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.add_column("tasks", sa.Column("paused_at", sa.BigInteger()))
    op.create_index("ix_tasks_parent_id", "tasks", ["parent_id"])


def downgrade() -> None:
    op.drop_index("ix_tasks_parent_id", "tasks")
    for name in ("paused_at", "is_pausable", "forked_from", "parent_id"):
        op.drop_column("tasks", name)
