"""As which account of a machine the work of a user or workspace runs."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("agent_account", sa.Text()))
    op.add_column("workspaces", sa.Column("agent_account", sa.Text()))


def downgrade() -> None:
    op.drop_column("workspaces", "agent_account")
    op.drop_column("users", "agent_account")
