"""What the log of a run has set off, so that nothing is set off twice."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("allocations", sa.Column("log_matches", sa.Text(), nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("allocations", "log_matches")
