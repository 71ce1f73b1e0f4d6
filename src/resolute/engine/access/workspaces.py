"""Where work is kept: workspaces and the projects in them."""

import re
from dataclasses import dataclass, replace
from typing import Any

from resolute.domain.agent_account import AgentAccount
from resolute.domain.errors import AlreadyExists, Forbidden, IllegalTransition, InvalidConfig, InvalidInput
from resolute.domain.rights import RightsMode, RoleName
from resolute.domain.user import User
from resolute.domain.workspace import Project, Workspace
from resolute.engine.access.rights import RIGHTS_CHANGED, grant
from resolute.engine.jobs.pools import find_pool, storage_defaults
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.registry import ModelQuery
from resolute.engine.unit_of_work import flow
from resolute.spec.secrets import restored
from resolute.spec.storage import check_storage

UNCATEGORIZED = "Uncategorized"
_KEY = re.compile(r"[A-Z0-9]{1,5}")


def ensure_default_workspace(platform: Platform) -> None:
    """On an empty store, create the workspace and project that experiments go to when they name none."""
    with flow(platform) as current:
        tx, now = current.tx, current.now
        if tx.workspaces.all():
            return
        owner = tx.users.by_name("admin") or tx.users.all()[0]
        workspace = current.add(
            Workspace(id=0, name=UNCATEGORIZED, user_id=owner.id, is_immutable=True, created_at=now)
        )
        current.add(
            Project(
                id=0,
                workspace_id=workspace.id,
                name=UNCATEGORIZED,
                key="UNCAT",
                user_id=owner.id,
                is_immutable=True,
                created_at=now,
            )
        )


# ------------------------------------------------------------------------------------------------------ workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSettings:
    """None: leave as it is. An empty pool: the cluster's default."""

    default_compute_pool: str | None = None
    default_aux_pool: str | None = None

    def check(self, platform: Platform) -> None:
        for key, pool in (("defaultComputePool", self.default_compute_pool), ("defaultAuxPool", self.default_aux_pool)):
            if pool:
                find_pool(platform, pool, key=key)

    def laid_over(self, workspace: Workspace) -> Workspace:
        compute, aux = self.default_compute_pool, self.default_aux_pool
        return replace(
            workspace,
            default_compute_pool=workspace.default_compute_pool if compute is None else compute,
            default_aux_pool=workspace.default_aux_pool if aux is None else aux,
        )


def _check_storage(platform: Platform, storage: dict[str, Any] | None) -> None:
    """As an experiment will read it, over the cluster's: what cannot be used is refused before work depends on it."""
    if not storage:
        return
    defaults = storage_defaults(platform, storage)
    try:
        check_storage(defaults)
    except InvalidConfig as problem:
        raise InvalidInput(f"checkpointStorageConfig: {problem}") from problem


def add_workspace(
    platform: Platform,
    *,
    user: User,
    name: str,
    checkpoint_storage: dict[str, Any] | None = None,
    agent_account: AgentAccount | None = None,
    settings: WorkspaceSettings | None = None,
) -> Workspace:
    """In the mode with roles its creator becomes its administrator."""
    name = _checked_name("workspace", name)
    _check_storage(platform, checkpoint_storage)
    settings = settings or WorkspaceSettings()
    settings.check(platform)
    with flow(platform) as current:
        _refuse_taken_workspace(current.tx, name)
        workspace = current.add(
            Workspace(
                id=0,
                name=name,
                user_id=user.id,
                checkpoint_storage=checkpoint_storage,
                agent_account=agent_account,
                default_compute_pool=settings.default_compute_pool or "",
                default_aux_pool=settings.default_aux_pool or "",
                created_at=current.now,
            )
        )
        if platform.config.rights is RightsMode.ROLES:
            grant(current, RoleName.WORKSPACE_ADMIN, user_id=user.id, workspace_id=workspace.id)
        return workspace


def change_workspace(
    platform: Platform,
    workspace_id: int,
    *,
    name: str | None = None,
    checkpoint_storage: dict[str, Any] | None = None,
    agent_account: AgentAccount | None = None,
    clears_agent_account: bool = False,
    settings: WorkspaceSettings | None = None,
) -> Workspace:
    settings = settings or WorkspaceSettings()
    settings.check(platform)
    with flow(platform) as current:
        workspace = before = _changeable_workspace(current.tx, workspace_id)
        workspace.require_open()
        if name is not None and name != workspace.name:
            name = _checked_name("workspace", name)
            _refuse_taken_workspace(current.tx, name)
            workspace = replace(workspace, name=name)
        if checkpoint_storage is not None:
            stored: dict[str, Any] = {"checkpoint_storage": workspace.checkpoint_storage or {}}
            given = restored({"checkpoint_storage": checkpoint_storage}, earlier=stored)
            _check_storage(platform, given["checkpoint_storage"])
            workspace = replace(workspace, checkpoint_storage=given["checkpoint_storage"] or None)
        if agent_account is not None or clears_agent_account:
            workspace = replace(workspace, agent_account=agent_account)
        return current.change(before, settings.laid_over(workspace))


def archive_workspace(platform: Platform, workspace_id: int, *, archived: bool) -> None:
    with flow(platform) as current:
        workspace = _changeable_workspace(current.tx, workspace_id)
        current.change(workspace, replace(workspace, is_archived=archived))


def pin_workspace(platform: Platform, workspace_id: int, *, pinned: bool) -> None:
    with flow(platform) as current:
        workspace = current.tx.workspaces.get(workspace_id)
        current.change(workspace, replace(workspace, is_pinned=pinned))


def delete_workspace(platform: Platform, workspace_id: int) -> None:
    """Only an empty one: deleting must never cost work."""
    with flow(platform) as current:
        tx = current.tx
        workspace = _changeable_workspace(tx, workspace_id)
        held = _held(tx, workspace_id)
        if held:
            raise IllegalTransition(f"Workspace {workspace.name!r} holds {held}. Delete or move them first.")
        for project in tx.workspaces.projects(workspace_id):
            current.remove(project)
        current.remove(workspace)
        current.publish(RIGHTS_CHANGED)


def _held(tx: Transaction, workspace_id: int) -> str:
    """What is kept in a workspace, in words; empty: nothing."""
    counts = {
        "experiments": tx.workspaces.counts().get(workspace_id, (0, 0))[1],
        "models": tx.models.search(ModelQuery(workspace_ids=(workspace_id,), limit=1))[1],
        "dataset versions": len(tx.datasets.search(workspace_id=workspace_id)),
        "deployments": sum(each.workspace_id == workspace_id for each in tx.deployments.all()),
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


# -------------------------------------------------------------------------------------------------------- projects


def add_project(
    platform: Platform, *, user: User, workspace_id: int, name: str, description: str = "", key: str = ""
) -> Project:
    name = _checked_name("project", name)
    with flow(platform) as current:
        tx = current.tx
        tx.workspaces.get(workspace_id).require_open()
        _refuse_taken_project(tx, workspace_id, name)
        project = Project(
            id=0,
            workspace_id=workspace_id,
            name=name,
            key=_checked_key(tx, key) if key else _free_key(tx, name),
            user_id=user.id,
            description=description,
            created_at=current.now,
        )
        return current.add(project)


def change_project(
    platform: Platform,
    project_id: int,
    *,
    name: str | None = None,
    description: str | None = None,
    key: str | None = None,
) -> Project:
    with flow(platform) as current:
        tx = current.tx
        project = before = _changeable_project(tx, project_id)
        _require_open(tx, project)
        if name is not None and name != project.name:
            name = _checked_name("project", name)
            _refuse_taken_project(tx, project.workspace_id, name)
            project = replace(project, name=name)
        if description is not None:
            project = replace(project, description=description)
        if key is not None and key != project.key:
            project = replace(project, key=_checked_key(tx, key))
        return current.change(before, project)


def archive_project(platform: Platform, project_id: int, *, archived: bool) -> None:
    with flow(platform) as current:
        project = _changeable_project(current.tx, project_id)
        current.change(project, replace(project, is_archived=archived))


def move_project(platform: Platform, project_id: int, *, workspace_id: int) -> None:
    with flow(platform) as current:
        project = _changeable_project(current.tx, project_id)
        _require_open(current.tx, project)
        current.tx.workspaces.get(workspace_id).require_open()
        _refuse_taken_project(current.tx, workspace_id, project.name)
        current.change(project, replace(project, workspace_id=workspace_id))
        current.tx.jobs.follow_project(project_id, workspace_id)


def write_notes(platform: Platform, project_id: int, notes: tuple[dict[str, str], ...]) -> None:
    with flow(platform) as current:
        project = current.tx.workspaces.project(project_id)
        _require_open(current.tx, project)
        current.change(project, replace(project, notes=notes))


def add_note(platform: Platform, project_id: int, note: dict[str, str]) -> tuple[dict[str, str], ...]:
    with flow(platform) as current:
        project = current.tx.workspaces.project(project_id)
        _require_open(current.tx, project)
        return current.change(project, replace(project, notes=(*project.notes, note))).notes


def delete_project(platform: Platform, project_id: int) -> None:
    with flow(platform) as current:
        tx = current.tx
        project = _changeable_project(tx, project_id)
        count = tx.workspaces.project_counts().get(project_id, (0, 0, None))[0]
        if count:
            raise IllegalTransition(f"Project {project.name!r} holds {count} experiments. Delete or move them first.")
        current.remove(project)


# ---------------------------------------------------------------------------------------------------------- checks


def _changeable_workspace(tx: Transaction, workspace_id: int) -> Workspace:
    workspace = tx.workspaces.get(workspace_id)
    _refuse_immutable("Workspace", workspace.name, workspace.is_immutable)
    return workspace


def _changeable_project(tx: Transaction, project_id: int) -> Project:
    project = tx.workspaces.project(project_id)
    _refuse_immutable("Project", project.name, project.is_immutable)
    return project


def _require_open(tx: Transaction, project: Project) -> None:
    project.require_open(tx.workspaces.get(project.workspace_id))


def _refuse_immutable(kind: str, name: str, is_immutable: bool) -> None:
    if is_immutable:
        raise Forbidden(f"{kind} {name!r} is where work goes that names none; it cannot be changed.")


def _refuse_taken_workspace(tx: Transaction, name: str) -> None:
    if tx.workspaces.by_name(name) is not None:
        raise AlreadyExists(f"Workspace {name!r} exists already. Choose another name.")


def _refuse_taken_project(tx: Transaction, workspace_id: int, name: str) -> None:
    if any(project.name == name for project in tx.workspaces.projects(workspace_id)):
        raise AlreadyExists(f"Project {name!r} exists already in this workspace. Choose another name.")


def _checked_name(kind: str, name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= 80:
        raise InvalidInput(f"The {kind} name {name[:40]!r} has {len(name)} characters; give it 1 to 80.")
    return name


def _checked_key(tx: Transaction, key: str) -> str:
    key = key.strip().upper()
    if not _KEY.fullmatch(key):
        raise InvalidInput(f"Project key {key!r} is not usable: 1 to 5 letters and digits.")
    if any(project.key == key for project in tx.workspaces.projects()):
        raise AlreadyExists(f"Project key {key!r} is taken. Choose another.")
    return key


def _free_key(tx: Transaction, name: str) -> str:
    """The first letters of the name, with a number when they are taken."""
    stem = re.sub(r"[^A-Z0-9]", "", name.upper())[:3] or "PRJ"
    taken = {project.key for project in tx.workspaces.projects()}
    candidates = (stem if n == 0 else f"{stem[: 5 - len(str(n))]}{n}" for n in range(100_000))
    return next(key for key in candidates if key not in taken)
