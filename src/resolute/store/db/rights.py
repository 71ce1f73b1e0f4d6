"""Groups, their members and role assignments."""

from dataclasses import replace

from sqlalchemy import Connection, delete, or_, select

from resolute.domain.errors import AlreadyExists, NotFound
from resolute.domain.rights import Group, RoleAssignment
from resolute.store.db import tables
from resolute.store.db.rows import Rows

_groups = Rows(tables.groups, Group)
_assignments = Rows(tables.role_assignments, RoleAssignment)
_g, _m, _a = tables.groups.c, tables.group_members.c, tables.role_assignments.c


class RightsTable:
    """`engine.ports.database.RightsOfUsers`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # ------------------------------------------------------------------------------------------------------ groups

    def add_group(self, group: Group) -> Group:
        self._refuse_taken_name(group)
        return replace(group, id=_groups.add(self._connection, group))

    def group(self, group_id: int) -> Group:
        group = _groups.get(self._connection, group_id)
        if group is None:
            raise NotFound(f"group not found: {group_id}")
        return group

    def groups(self) -> list[Group]:
        return _groups.all(self._connection, _groups.select().order_by(_g.id))

    def save_group(self, group: Group) -> None:
        self._refuse_taken_name(group)
        if not _groups.save(self._connection, group):
            raise NotFound(f"group not found: {group.id}")

    def remove_group(self, group_id: int) -> None:
        self._connection.execute(delete(tables.role_assignments).where(_a.group_id == group_id))
        self._connection.execute(delete(tables.group_members).where(_m.group_id == group_id))
        self._connection.execute(delete(tables.groups).where(_g.id == group_id))

    def add_member(self, group_id: int, user_id: int) -> None:
        if user_id not in self.members(group_id):
            values = {"group_id": group_id, "user_id": user_id}
            self._connection.execute(tables.group_members.insert(), values)

    def remove_member(self, group_id: int, user_id: int) -> None:
        own = (_m.group_id == group_id, _m.user_id == user_id)
        self._connection.execute(delete(tables.group_members).where(*own))

    def members(self, group_id: int) -> list[int]:
        statement = select(_m.user_id).where(_m.group_id == group_id).order_by(_m.user_id)
        return list(self._connection.execute(statement).scalars())

    def groups_of(self, user_id: int) -> list[Group]:
        statement = _groups.select().join(tables.group_members, _m.group_id == _g.id)
        return _groups.all(self._connection, statement.where(_m.user_id == user_id).order_by(_g.id))

    # ------------------------------------------------------------------------------------------------- assignments

    def add_assignment(self, assignment: RoleAssignment) -> RoleAssignment:
        return replace(assignment, id=_assignments.add(self._connection, assignment))

    def remove_assignment(self, assignment_id: int) -> None:
        self._connection.execute(delete(tables.role_assignments).where(_a.id == assignment_id))

    def assignments(self, *, workspace_id: int | None = None) -> list[RoleAssignment]:
        statement = _assignments.select().order_by(_a.id)
        if workspace_id is not None:
            statement = statement.where(_a.workspace_id == workspace_id)
        return _assignments.all(self._connection, statement)

    def assignments_of(self, user_id: int) -> list[RoleAssignment]:
        own_groups = select(_m.group_id).where(_m.user_id == user_id)
        statement = _assignments.select().where(or_(_a.user_id == user_id, _a.group_id.in_(own_groups)))
        return _assignments.all(self._connection, statement.order_by(_a.id))

    def _refuse_taken_name(self, group: Group) -> None:
        holder = _groups.first(self._connection, _groups.select().where(_g.name == group.name))
        if holder is not None and holder.id != group.id:
            raise AlreadyExists(f"group {group.name!r} exists already. Choose another name.")
