"""Who may do what: permissions, the roles that hold them, and the decision. Pure.

Permissions and roles have the names that Determined gave them; those at the end of `Permission` are our own. Two modes:
in `basic` whoever is signed in works with everything, and owners and administrators delete; in `roles` only what was
assigned counts, everywhere or in a workspace.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from resolute.domain.errors import Forbidden, NotFound
from resolute.domain.user import User


class RightsMode(StrEnum):
    BASIC = "basic"
    ROLES = "roles"


class Permission(StrEnum):
    ADMINISTRATE_USER = "ADMINISTRATE_USER"
    ADMINISTRATE_TOKEN = "ADMINISTRATE_TOKEN"
    UPDATE_GROUP = "UPDATE_GROUP"
    ASSIGN_ROLES = "ASSIGN_ROLES"
    CREATE_EXPERIMENT = "CREATE_EXPERIMENT"
    VIEW_EXPERIMENT_ARTIFACTS = "VIEW_EXPERIMENT_ARTIFACTS"
    VIEW_EXPERIMENT_METADATA = "VIEW_EXPERIMENT_METADATA"
    UPDATE_EXPERIMENT = "UPDATE_EXPERIMENT"
    UPDATE_EXPERIMENT_METADATA = "UPDATE_EXPERIMENT_METADATA"
    DELETE_EXPERIMENT = "DELETE_EXPERIMENT"
    CREATE_NSC = "CREATE_NSC"
    VIEW_NSC = "VIEW_NSC"
    UPDATE_NSC = "UPDATE_NSC"
    CREATE_WORKSPACE = "CREATE_WORKSPACE"
    VIEW_WORKSPACE = "VIEW_WORKSPACE"
    UPDATE_WORKSPACE = "UPDATE_WORKSPACE"
    DELETE_WORKSPACE = "DELETE_WORKSPACE"
    SET_WORKSPACE_CHECKPOINT_STORAGE_CONFIG = "SET_WORKSPACE_CHECKPOINT_STORAGE_CONFIG"
    CREATE_PROJECT = "CREATE_PROJECT"
    VIEW_PROJECT = "VIEW_PROJECT"
    UPDATE_PROJECT = "UPDATE_PROJECT"
    DELETE_PROJECT = "DELETE_PROJECT"
    VIEW_MODEL_REGISTRY = "VIEW_MODEL_REGISTRY"
    EDIT_MODEL_REGISTRY = "EDIT_MODEL_REGISTRY"
    CREATE_MODEL_REGISTRY = "CREATE_MODEL_REGISTRY"
    DELETE_MODEL_REGISTRY = "DELETE_MODEL_REGISTRY"
    DELETE_MODEL_VERSION = "DELETE_MODEL_VERSION"
    DELETE_OTHER_USER_MODEL_REGISTRY = "DELETE_OTHER_USER_MODEL_REGISTRY"
    DELETE_OTHER_USER_MODEL_VERSION = "DELETE_OTHER_USER_MODEL_VERSION"
    VIEW_TEMPLATES = "VIEW_TEMPLATES"
    CREATE_TEMPLATES = "CREATE_TEMPLATES"
    UPDATE_TEMPLATES = "UPDATE_TEMPLATES"
    DELETE_TEMPLATES = "DELETE_TEMPLATES"
    VIEW_WEBHOOKS = "VIEW_WEBHOOKS"
    EDIT_WEBHOOKS = "EDIT_WEBHOOKS"
    VIEW_MASTER_LOGS = "VIEW_MASTER_LOGS"
    VIEW_MASTER_CONFIG = "VIEW_MASTER_CONFIG"
    UPDATE_MASTER_CONFIG = "UPDATE_MASTER_CONFIG"
    UPDATE_AGENTS = "UPDATE_AGENTS"
    MODIFY_RP_WORKSPACE_BINDINGS = "MODIFY_RP_WORKSPACE_BINDINGS"
    # Our own.
    DELETE_CHECKPOINTS = "DELETE_CHECKPOINTS"
    REPORT_FOR_TASK = "REPORT_FOR_TASK"
    """Say what only a running task knows: metrics, logs, its exit. Its own token may; of people, its owner."""
    WRITE_PROJECT_NOTES = "WRITE_PROJECT_NOTES"
    VIEW_DATASETS = "VIEW_DATASETS"
    EDIT_DATASETS = "EDIT_DATASETS"
    DELETE_DATASETS = "DELETE_DATASETS"
    VIEW_DEPLOYMENTS = "VIEW_DEPLOYMENTS"
    """And call them."""
    EDIT_DEPLOYMENTS = "EDIT_DEPLOYMENTS"
    DELETE_DEPLOYMENTS = "DELETE_DEPLOYMENTS"


P = Permission
ALL = frozenset(Permission)

OF_CLUSTER = frozenset(
    {
        P.ADMINISTRATE_USER,
        P.ADMINISTRATE_TOKEN,
        P.UPDATE_GROUP,
        P.CREATE_WORKSPACE,
        P.VIEW_WEBHOOKS,
        P.EDIT_WEBHOOKS,
        P.VIEW_MASTER_LOGS,
        P.VIEW_MASTER_CONFIG,
        P.UPDATE_MASTER_CONFIG,
        P.UPDATE_AGENTS,
        P.MODIFY_RP_WORKSPACE_BINDINGS,
    }
)
"""Permissions that belong to no workspace: only a role that is assigned everywhere gives them."""


# ----------------------------------------------------------------------------------------------------------- roles


class RoleName(StrEnum):
    CLUSTER_ADMIN = "ClusterAdmin"
    WORKSPACE_ADMIN = "WorkspaceAdmin"
    WORKSPACE_CREATOR = "WorkspaceCreator"
    VIEWER = "Viewer"
    EDITOR = "Editor"
    MODEL_REGISTRY_VIEWER = "ModelRegistryViewer"
    EDITOR_RESTRICTED = "EditorRestricted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    id: int
    """As Determined numbers them."""
    name: RoleName
    permissions: frozenset[Permission]

    @property
    def is_global_only(self) -> bool:
        """Whether it says nothing about a single workspace."""
        return self.permissions <= OF_CLUSTER or self.name is RoleName.CLUSTER_ADMIN


_VIEW = frozenset(
    {
        P.VIEW_EXPERIMENT_ARTIFACTS,
        P.VIEW_EXPERIMENT_METADATA,
        P.VIEW_NSC,
        P.VIEW_WORKSPACE,
        P.VIEW_PROJECT,
        P.VIEW_MODEL_REGISTRY,
        P.VIEW_TEMPLATES,
        P.VIEW_DATASETS,
        P.VIEW_DEPLOYMENTS,
    }
)
_EDIT_RESTRICTED = _VIEW | {
    P.CREATE_EXPERIMENT,
    P.UPDATE_EXPERIMENT,
    P.UPDATE_EXPERIMENT_METADATA,
    P.DELETE_EXPERIMENT,
    P.DELETE_CHECKPOINTS,
    P.CREATE_PROJECT,
    P.UPDATE_PROJECT,
    P.DELETE_PROJECT,
    P.WRITE_PROJECT_NOTES,
    P.CREATE_MODEL_REGISTRY,
    P.EDIT_MODEL_REGISTRY,
    P.DELETE_MODEL_REGISTRY,
    P.DELETE_MODEL_VERSION,
    P.CREATE_TEMPLATES,
    P.UPDATE_TEMPLATES,
    P.DELETE_TEMPLATES,
    P.EDIT_DATASETS,
    P.DELETE_DATASETS,
    P.EDIT_DEPLOYMENTS,
    P.DELETE_DEPLOYMENTS,
}
_EDIT = _EDIT_RESTRICTED | {P.CREATE_NSC, P.UPDATE_NSC}
_ADMINISTRATE_WORKSPACE = _EDIT | {
    P.UPDATE_WORKSPACE,
    P.DELETE_WORKSPACE,
    P.SET_WORKSPACE_CHECKPOINT_STORAGE_CONFIG,
    P.ASSIGN_ROLES,
    P.DELETE_OTHER_USER_MODEL_REGISTRY,
    P.DELETE_OTHER_USER_MODEL_VERSION,
}
ROLES: Mapping[RoleName, Role] = {
    role.name: role
    for role in (
        Role(id=1, name=RoleName.CLUSTER_ADMIN, permissions=ALL),
        Role(id=2, name=RoleName.WORKSPACE_ADMIN, permissions=_ADMINISTRATE_WORKSPACE),
        Role(id=3, name=RoleName.WORKSPACE_CREATOR, permissions=frozenset({P.CREATE_WORKSPACE})),
        Role(id=4, name=RoleName.VIEWER, permissions=_VIEW),
        Role(id=5, name=RoleName.EDITOR, permissions=_EDIT),
        Role(id=6, name=RoleName.MODEL_REGISTRY_VIEWER, permissions=frozenset({P.VIEW_MODEL_REGISTRY})),
        Role(id=7, name=RoleName.EDITOR_RESTRICTED, permissions=_EDIT_RESTRICTED),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleAssignment:
    """To a user or to a group, never to both; without a workspace it holds everywhere."""

    id: int
    role: RoleName
    user_id: int | None = None
    group_id: int | None = None
    workspace_id: int | None = None


# ------------------------------------------------------------------------------------------------------ basic mode

ADMINISTRATORS_ONLY = frozenset(
    {
        P.ADMINISTRATE_USER,
        P.ADMINISTRATE_TOKEN,
        P.UPDATE_GROUP,
        P.ASSIGN_ROLES,
        P.UPDATE_MASTER_CONFIG,
        P.UPDATE_AGENTS,
        P.MODIFY_RP_WORKSPACE_BINDINGS,
        P.EDIT_WEBHOOKS,
    }
)
OWNERS_AND_ADMINISTRATORS = frozenset(
    {
        P.DELETE_EXPERIMENT,
        P.DELETE_CHECKPOINTS,
        P.REPORT_FOR_TASK,
        P.UPDATE_NSC,
        P.UPDATE_WORKSPACE,
        P.DELETE_WORKSPACE,
        P.SET_WORKSPACE_CHECKPOINT_STORAGE_CONFIG,
        P.UPDATE_PROJECT,
        P.DELETE_PROJECT,
        P.DELETE_OTHER_USER_MODEL_REGISTRY,
        P.DELETE_OTHER_USER_MODEL_VERSION,
        P.DELETE_DATASETS,
        P.DELETE_DEPLOYMENTS,
    }
)
EVERYBODY = ALL - ADMINISTRATORS_ONLY - OWNERS_AND_ADMINISTRATORS

_ENOUGH_FOR_OWNERS: Mapping[Permission, Permission] = {
    P.DELETE_OTHER_USER_MODEL_REGISTRY: P.DELETE_MODEL_REGISTRY,
    P.DELETE_OTHER_USER_MODEL_VERSION: P.DELETE_MODEL_VERSION,
    P.REPORT_FOR_TASK: P.UPDATE_EXPERIMENT,
}
"""In the mode with roles: what an owner needs where others need more."""


# -------------------------------------------------------------------------------------------------------- decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What somebody wants to do something with."""

    name: str
    """For a sentence: `experiment 3`."""
    missing: str
    """What is said when it is not there: whoever may not see it reads the same."""
    view: Permission | None
    """Needed to know that it exists. None: everybody may know."""
    workspace_id: int | None = None
    owner_ids: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What one user may do."""

    user_id: int
    username: str
    mode: RightsMode = RightsMode.BASIC
    everywhere: frozenset[Permission] = frozenset()
    in_workspaces: Mapping[int, frozenset[Permission]] = field(default_factory=dict)

    def has(self, permission: Permission) -> bool:
        """Everywhere, whatever it is about."""
        return permission in self.everywhere

    def holds(self, permission: Permission, workspace_id: int | None) -> bool:
        if permission in self.everywhere:
            return True
        return workspace_id is not None and permission in self.in_workspaces.get(workspace_id, ())

    def workspaces(self, permission: Permission) -> frozenset[int] | None:
        """Those in which the permission is held; None: all there are and will be."""
        if permission in self.everywhere:
            return None
        return frozenset(key for key, held in self.in_workspaces.items() if permission in held)

    def sees(self, subject: Subject) -> bool:
        return subject.view is None or self.holds(subject.view, subject.workspace_id)

    def may(self, permission: Permission, subject: Subject) -> bool:
        if self.holds(permission, subject.workspace_id):
            return True
        if self.user_id not in subject.owner_ids:
            return False
        if self.mode is RightsMode.BASIC:
            return permission in OWNERS_AND_ADMINISTRATORS
        enough = _ENOUGH_FOR_OWNERS.get(permission)
        return enough is not None and self.holds(enough, subject.workspace_id)

    def require(self, permission: Permission, subject: Subject, workspace: str = "") -> None:
        """Raises NotFound for what may not be seen, Forbidden for what may be seen and not done.

        `workspace` is the name for the sentence.
        """
        if not self.sees(subject):
            raise NotFound(subject.missing)
        if not self.may(permission, subject):
            raise Forbidden(self._refusal(permission, subject, workspace))

    def require_everywhere(self, permission: Permission) -> None:
        if not self.has(permission):
            raise Forbidden(
                f"{self.username!r} may not do this: only administrators have the permission {permission}. Ask one of "
                "them."
            )

    def _refusal(self, permission: Permission, subject: Subject, workspace: str) -> str:
        where = f" in workspace {workspace!r}" if workspace else ""
        if self.mode is RightsMode.BASIC and permission in OWNERS_AND_ADMINISTRATORS:
            return (
                f"{subject.name[:1].upper()}{subject.name[1:]} belongs to somebody else, and {self.username!r} does "
                f"not have the permission {permission}{where}. Ask its owner or an administrator."
            )
        return (
            f"{self.username!r} may not do this to {subject.name}: it needs the permission {permission}{where}. Ask an "
            "administrator for a role that has it."
        )


def basic_rights(user: User) -> Rights:
    return Rights(
        user_id=user.id,
        username=user.username,
        mode=RightsMode.BASIC,
        everywhere=ALL if user.is_admin else EVERYBODY,
    )


def rights_from_roles(user: User, assignments: Iterable[RoleAssignment]) -> Rights:
    """`assignments`: those of the user and of all groups he is in. Administrators are cluster admins."""
    everywhere: frozenset[Permission] = ALL if user.is_admin else frozenset()
    in_workspaces: dict[int, frozenset[Permission]] = {}
    for each in assignments:
        permissions = ROLES[each.role].permissions
        if each.workspace_id is None:
            everywhere |= permissions
        else:
            own = permissions - OF_CLUSTER
            in_workspaces[each.workspace_id] = in_workspaces.get(each.workspace_id, frozenset()) | own
    return Rights(
        user_id=user.id,
        username=user.username,
        mode=RightsMode.ROLES,
        everywhere=everywhere,
        in_workspaces=in_workspaces,
    )
