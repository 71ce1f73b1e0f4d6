"""Groups, their members, and assignments of roles."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "groups",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_groups"),
        sa.UniqueConstraint("name", name="uq_groups_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "group_members",
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name="fk_group_members_group_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_group_members_user_id"),
        sa.PrimaryKeyConstraint("group_id", "user_id", name="pk_group_members"),
    )
    op.create_index("ix_group_members_user_id", "group_members", ["user_id"])
    op.create_table(
        "role_assignments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("group_id", sa.Integer(), nullable=True),
        sa.Column("workspace_id", sa.Integer(), nullable=True),
        sa.CheckConstraint("(user_id IS NULL) <> (group_id IS NULL)", name="ck_role_assignments_one_holder"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_role_assignments_user_id"),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name="fk_role_assignments_group_id"),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name="fk_role_assignments_workspace_id"),
        sa.PrimaryKeyConstraint("id", name="pk_role_assignments"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_role_assignments_user_id", "role_assignments", ["user_id"])
    op.create_index("ix_role_assignments_group_id", "role_assignments", ["group_id"])
    op.create_index("ix_role_assignments_workspace_id", "role_assignments", ["workspace_id"])


def downgrade() -> None:
    op.drop_table("role_assignments")
    op.drop_table("group_members")
    op.drop_table("groups")
