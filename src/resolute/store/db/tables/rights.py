"""Groups, their members, and who has which role where."""

from sqlalchemy import CheckConstraint, Column, ForeignKey, Integer, Table, Text

from resolute.domain.rights import RoleName
from resolute.store.db.columns import Choice
from resolute.store.db.tables.base import metadata

groups = Table(
    "groups",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    sqlite_autoincrement=True,
)

group_members = Table(
    "group_members",
    metadata,
    Column("group_id", Integer, ForeignKey("groups.id"), primary_key=True),
    Column("user_id", Integer, ForeignKey("users.id"), primary_key=True, index=True),
)

role_assignments = Table(
    "role_assignments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("role", Choice(RoleName), nullable=False),
    Column("user_id", Integer, ForeignKey("users.id"), index=True),
    Column("group_id", Integer, ForeignKey("groups.id"), index=True),
    # None: everywhere.
    Column("workspace_id", Integer, ForeignKey("workspaces.id"), index=True),
    CheckConstraint("(user_id IS NULL) <> (group_id IS NULL)", name="ck_role_assignments_one_holder"),
    sqlite_autoincrement=True,
)
