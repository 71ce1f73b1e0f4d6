"""What a caller may do: his rights read from the store, and asked inside a transaction.

Groups, members and assignments are changed here alone; each change is told to `RIGHTS_CHANGED`, so that whoever
remembers rights forgets them.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from resolute.domain.allocation import Allocation
from resolute.domain.change import Action
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.rights import (
    ROLES,
    Group,
    Permission,
    Rights,
    RightsMode,
    RoleAssignment,
    RoleName,
    basic_rights,
    rights_from_roles,
)
from resolute.domain.user import User
from resolute.engine.access.subjects import NAMES_ALL_THERE_ARE, Beside, subject_of
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import Flow, flow

RIGHTS_CHANGED = "rights"
"""Topic on the bus: somebody's rights are no longer what they were. Groups and assignments have it in the table of
kinds (`engine.changes.kinds`)."""


# ------------------------------------------------------------------------------------------------------------- ask


def rights_of(tx: Transaction, user: User, mode: RightsMode) -> Rights:
    if mode is RightsMode.BASIC:
        return basic_rights(user)
    return rights_from_roles(user, tx.rights.assignments_of(user.id))


def require(
    tx: Transaction, rights: Rights, permission: Permission, parameter: str, value: Any, beside: Beside | None = None
) -> None:
    """Raises NotFound for what is not there or may not be seen, Forbidden for what may be seen and not done.

    Whoever holds the permission everywhere is not asked what it is about: whether it exists, the use-case says.
    """
    if rights.has(permission):
        return
    try:
        subject = subject_of(tx, parameter, value, beside)
    except NotFound:
        if rights.mode is RightsMode.BASIC or parameter not in NAMES_ALL_THERE_ARE:
            raise
        raise NotFound(f"{parameter.removesuffix('_name')} not found: {value}.") from None
    workspace = ""
    if subject.workspace_id is not None and not rights.may(permission, subject):
        workspace = tx.workspaces.get(subject.workspace_id).name
    rights.require(permission, subject, workspace)


def seen(tx: Transaction, rights: Rights, permission: Permission, parameter: str, values: Iterable[Any]) -> list[Any]:
    """Those of `values` that are there, and for which the permission is held."""
    return [each for each in values if _is_held(tx, rights, permission, parameter, each)]


def seen_allocations(tx: Transaction, rights: Rights, allocations: Iterable[Allocation]) -> set[str]:
    """Ids of those whose work may be seen, whatever kind of task it is."""
    held = list(allocations)
    if all(rights.has(view) for view in (Permission.VIEW_EXPERIMENT_METADATA, Permission.VIEW_NSC)):
        return {allocation.id for allocation in held}
    return {each.id for each in held if rights.sees(subject_of(tx, "allocation_id", each.id))}


def _is_held(tx: Transaction, rights: Rights, permission: Permission, parameter: str, value: Any) -> bool:
    try:
        return rights.may(permission, subject_of(tx, parameter, value))
    except NotFound:
        return False


# ---------------------------------------------------------------------------------------------------------- groups


def add_group(platform: Platform, name: str, user_ids: Iterable[int] = ()) -> Group:
    """Raises AlreadyExists for a name that is taken."""
    with flow(platform) as current:
        group = current.add(Group(id=0, name=_checked_group_name(name)))
        _add_members(current, group, user_ids)
        return group


def rename_group(platform: Platform, group_id: int, name: str) -> Group:
    with flow(platform) as current:
        group = current.tx.rights.group(group_id)
        return current.change(group, replace(group, name=_checked_group_name(name)))


def remove_group(platform: Platform, group_id: int) -> None:
    """With its assignments."""
    with flow(platform) as current:
        group = current.tx.rights.group(group_id)
        for assignment in current.tx.rights.assignments():
            if assignment.group_id == group_id:
                current.remove(assignment)
        current.remove(group)


def add_members(platform: Platform, group_id: int, user_ids: Iterable[int]) -> None:
    """Adding somebody twice changes nothing."""
    with flow(platform) as current:
        _add_members(current, current.tx.rights.group(group_id), user_ids)


def remove_members(platform: Platform, group_id: int, user_ids: Iterable[int]) -> None:
    with flow(platform) as current:
        group = current.tx.rights.group(group_id)
        for user_id in user_ids:
            current.tx.rights.remove_member(group.id, user_id)
            _member_changed(current, group, left=user_id)


def _add_members(current: Flow, group: Group, user_ids: Iterable[int]) -> None:
    for user_id in user_ids:
        current.tx.rights.add_member(group.id, current.tx.users.get(user_id).id)
        _member_changed(current, group, joined=user_id)


def _member_changed(current: Flow, group: Group, **who: int) -> None:
    current.record(Action.CHANGED, "group", group.id, name=group.name, **who)
    current.publish(RIGHTS_CHANGED)


def _checked_group_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= 80:
        raise InvalidInput(f"The group name {name[:40]!r} has {len(name)} characters; give it 1 to 80.")
    return name


# ----------------------------------------------------------------------------------------------------- assignments


def assign_role(
    platform: Platform,
    role: RoleName,
    *,
    user_id: int | None = None,
    group_id: int | None = None,
    workspace_id: int | None = None,
) -> RoleAssignment:
    """To a user or to a group; without a workspace everywhere. Repeating changes nothing."""
    with flow(platform) as current:
        return grant(current, role, user_id=user_id, group_id=group_id, workspace_id=workspace_id)


def grant(
    current: Flow,
    role: RoleName,
    *,
    user_id: int | None = None,
    group_id: int | None = None,
    workspace_id: int | None = None,
) -> RoleAssignment:
    """As `assign_role`, as part of a larger change."""
    if (user_id is None) == (group_id is None):
        raise InvalidInput(f"Role {role}: say either a user or a group to assign it to.")
    if workspace_id is not None and ROLES[role].is_global_only:
        raise InvalidInput(f"Role {role} is about the whole cluster. Assign it without a workspace.")
    _require_there(current.tx, user_id, group_id, workspace_id)
    wanted = RoleAssignment(id=0, role=role, user_id=user_id, group_id=group_id, workspace_id=workspace_id)
    for known in current.tx.rights.assignments():
        if replace(known, id=0) == wanted:
            return known
    return current.add(wanted)


def remove_assignment(platform: Platform, assignment_id: int) -> None:
    """Raises NotFound."""
    with flow(platform) as current:
        for assignment in current.tx.rights.assignments():
            if assignment.id == assignment_id:
                current.remove(assignment)
                return
    raise NotFound(f"role assignment not found: {assignment_id}")


def _require_there(tx: Transaction, user_id: int | None, group_id: int | None, workspace_id: int | None) -> None:
    if user_id is not None:
        tx.users.get(user_id)
    if group_id is not None:
        tx.rights.group(group_id)
    if workspace_id is not None:
        tx.workspaces.get(workspace_id)
