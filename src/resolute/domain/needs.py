"""What a route asks of its caller: a closed vocabulary, said where the route is declared. Pure.

`VIEW_EXPERIMENT` on a route with `{experiment_id}` in its path is decided before the route runs. `.in_body` and
`.listed` say that the route itself decides, about what its body or query names, or which rows it shows. A running
task's own token calls nothing unless the route says so.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from resolute.domain.rights import OF_CLUSTER, Permission


class Door(StrEnum):
    OPEN = "open"
    """Everybody, without a token."""
    CHECKED_INSIDE = "checked inside"
    """The route asks for a token by itself: a deployment may be public, or take a key of its own."""
    SIGNED_IN = "signed in"
    """Any user. What the route shows or changes is his own, or no secret."""
    TASK = "task"
    """A running task alone: no user, whatever his rights."""
    PERMISSION = "permission"


class Decided(StrEnum):
    BEFORE = "before"
    """By the path, or by no more than who is calling, before the route runs."""
    IN_BODY = "in body"
    """By the route, for every thing that the body or the query names."""
    LISTED = "listed"
    """By the route: it shows what the caller may see and leaves out the rest."""


class Tasks(StrEnum):
    NONE = "none"
    OWN = "own"
    """When every trial, task, allocation and experiment in the path is the task's own."""
    ANY = "any"
    """The route checks what it is about, with the rights of the task's owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    door: Door
    permission: Permission | None = None
    decided: Decided = Decided.BEFORE
    tasks: Tasks = Tasks.NONE

    @property
    def in_body(self) -> "Need":
        return replace(self, decided=Decided.IN_BODY)

    @property
    def listed(self) -> "Need":
        return replace(self, decided=Decided.LISTED)

    @property
    def or_own_task(self) -> "Need":
        return replace(self, tasks=Tasks.OWN)

    @property
    def or_any_task(self) -> "Need":
        return replace(self, tasks=Tasks.ANY)

    @property
    def is_about_path(self) -> bool:
        """Whether a parameter of the path must say which workspace it is about."""
        if self.permission is None or self.permission in OF_CLUSTER:
            return False
        return self.decided is Decided.BEFORE


def _permission(permission: Permission) -> Need:
    return Need(door=Door.PERMISSION, permission=permission)


PUBLIC = Need(door=Door.OPEN)
CHECKED_INSIDE = Need(door=Door.CHECKED_INSIDE)
SIGNED_IN = Need(door=Door.SIGNED_IN)
OWN_TASK = Need(door=Door.TASK, tasks=Tasks.OWN)
ANY_TASK = Need(door=Door.TASK, tasks=Tasks.ANY)

CREATE_EXPERIMENT = _permission(Permission.CREATE_EXPERIMENT)
VIEW_EXPERIMENT = _permission(Permission.VIEW_EXPERIMENT_METADATA)
VIEW_ARTIFACTS = _permission(Permission.VIEW_EXPERIMENT_ARTIFACTS)
EDIT_EXPERIMENT = _permission(Permission.UPDATE_EXPERIMENT)
DESCRIBE_EXPERIMENT = _permission(Permission.UPDATE_EXPERIMENT_METADATA)
DELETE_EXPERIMENT = _permission(Permission.DELETE_EXPERIMENT)
DELETE_CHECKPOINTS = _permission(Permission.DELETE_CHECKPOINTS)
REPORT = _permission(Permission.REPORT_FOR_TASK)
"""For a task's own token, and for those who may speak for it."""

CREATE_TASK = _permission(Permission.CREATE_NSC)
VIEW_TASK = _permission(Permission.VIEW_NSC)
EDIT_TASK = _permission(Permission.UPDATE_NSC)

CREATE_WORKSPACE = _permission(Permission.CREATE_WORKSPACE)
VIEW_WORKSPACE = _permission(Permission.VIEW_WORKSPACE)
EDIT_WORKSPACE = _permission(Permission.UPDATE_WORKSPACE)
DELETE_WORKSPACE = _permission(Permission.DELETE_WORKSPACE)
CREATE_PROJECT = _permission(Permission.CREATE_PROJECT)
VIEW_PROJECT = _permission(Permission.VIEW_PROJECT)
EDIT_PROJECT = _permission(Permission.UPDATE_PROJECT)
DELETE_PROJECT = _permission(Permission.DELETE_PROJECT)
WRITE_NOTES = _permission(Permission.WRITE_PROJECT_NOTES)

VIEW_TEMPLATE = _permission(Permission.VIEW_TEMPLATES)
CREATE_TEMPLATE = _permission(Permission.CREATE_TEMPLATES)
EDIT_TEMPLATE = _permission(Permission.UPDATE_TEMPLATES)
DELETE_TEMPLATE = _permission(Permission.DELETE_TEMPLATES)

VIEW_MODEL = _permission(Permission.VIEW_MODEL_REGISTRY)
CREATE_MODEL = _permission(Permission.CREATE_MODEL_REGISTRY)
EDIT_MODEL = _permission(Permission.EDIT_MODEL_REGISTRY)
DELETE_MODEL = _permission(Permission.DELETE_OTHER_USER_MODEL_REGISTRY)
"""Owners need less; see `domain.rights`."""
DELETE_MODEL_VERSION = _permission(Permission.DELETE_OTHER_USER_MODEL_VERSION)

VIEW_DATASET = _permission(Permission.VIEW_DATASETS)
EDIT_DATASET = _permission(Permission.EDIT_DATASETS)
DELETE_DATASET = _permission(Permission.DELETE_DATASETS)
VIEW_DEPLOYMENT = _permission(Permission.VIEW_DEPLOYMENTS)
EDIT_DEPLOYMENT = _permission(Permission.EDIT_DEPLOYMENTS)
DELETE_DEPLOYMENT = _permission(Permission.DELETE_DEPLOYMENTS)

ADMINISTRATE_USERS = _permission(Permission.ADMINISTRATE_USER)
EDIT_AGENTS = _permission(Permission.UPDATE_AGENTS)
BIND_POOLS = _permission(Permission.MODIFY_RP_WORKSPACE_BINDINGS)
VIEW_MASTER_LOGS = _permission(Permission.VIEW_MASTER_LOGS)
VIEW_MASTER_CONFIG = _permission(Permission.VIEW_MASTER_CONFIG)
EDIT_MASTER_CONFIG = _permission(Permission.UPDATE_MASTER_CONFIG)
VIEW_WEBHOOKS = _permission(Permission.VIEW_WEBHOOKS)
EDIT_WEBHOOKS = _permission(Permission.EDIT_WEBHOOKS)
