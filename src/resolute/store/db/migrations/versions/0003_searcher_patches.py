"""Searches are stored as a snapshot and the patches since."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("searcher_snapshots", sa.Column("stamp", sa.Text()))
    op.create_table(
        "searcher_patches",
        sa.Column("experiment_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("patch", sa.Text()),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], name="fk_searcher_patches_experiment_id"),
        sa.PrimaryKeyConstraint("experiment_id", "number", name="pk_searcher_patches"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("searcher_patches")
    op.drop_column("searcher_snapshots", "stamp")
