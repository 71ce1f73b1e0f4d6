"""Tasks come to be: a configuration and files are checked, and only then stored."""

from dataclasses import dataclass, replace

from resolute.domain.errors import InvalidConfig, NotFound
from resolute.domain.job import DEFAULT_PRIORITY
from resolute.domain.pool import most_slots
from resolute.domain.rights import Permission, Rights
from resolute.domain.task import Task, TaskType
from resolute.domain.user import User
from resolute.domain.workspace import Workspace
from resolute.engine.access.rights import require
from resolute.engine.interactive.configuration import SPEC
from resolute.engine.jobs.environment import required_packages
from resolute.engine.jobs.pools import find_pool
from resolute.engine.jobs.tasks import TaskRequest, submit_task
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.spec.secrets import restored
from resolute.spec.task import ParsedTask, TaskConfig, TaskDefaults, parse_task, parse_task_values

_LONGEST_WORD = 40
_NEEDS_ENTRYPOINT = frozenset({TaskType.COMMAND, TaskType.GENERIC})
_SLOTS = {TaskType.TENSORBOARD: 0}
"""Where a configuration does not say how many; others have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    task: Task
    config: dict[str, object]
    """Resolved: as it is stored."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What somebody asks for."""

    type: TaskType
    config: dict[str, object] | str
    """Values, or YAML text."""
    template: str = ""
    workspace_id: int = 0
    """0: the one that the configuration names, or the first."""
    context: bytes | None = None
    own: dict[str, object] | None = None
    """What its kind needs to know beside the configuration."""
    parent_id: str | None = None
    forked_from: str | None = None
    is_pausable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An order that can be carried out."""

    order: Order
    config: TaskConfig
    resolved: dict[str, object]
    workspace: Workspace
    warnings: tuple[str, ...]


def check_order(platform: Platform, order: Order, *, rights: Rights | None = None) -> Checked:
    """Everything that can be known to be wrong is refused here. `rights`: of whoever asks; None: nobody is asked."""
    with platform.store.read() as tx:
        template = tx.templates.get(order.template).config if order.template else None
    parsed = _parse(platform, order, template)
    config, resolved = parsed.config, restored(parsed.resolved, earlier=template)
    if order.type in _NEEDS_ENTRYPOINT and not config.entrypoint:
        raise InvalidConfig(["config: entrypoint: is missing; say what to run, for example: python3 train.py"])
    _check_slots(platform, config)
    required_packages(config.environment, order.context)
    with platform.store.read() as tx:
        workspace = _workspace(tx, config, order.workspace_id, rights)
        if rights is not None:
            require(tx, rights, Permission.CREATE_NSC, "workspace_id", workspace.id)
    workspace.require_open()
    return Checked(order=order, config=config, resolved=resolved, workspace=workspace, warnings=parsed.warnings)


def launch(platform: Platform, checked: Checked, *, user: User) -> Launched:
    order, config = checked.order, checked.config
    request = TaskRequest(
        type=order.type,
        name=config.description,
        workspace_id=checked.workspace.id,
        config={**(order.own or {}), SPEC: checked.resolved},
        context=order.context,
        slots=config.resources.slots,
        resource_pool=config.resources.resource_pool,
        priority=config.resources.priority or DEFAULT_PRIORITY,
        single_node=True,
        parent_id=order.parent_id,
        forked_from=order.forked_from,
        is_pausable=order.is_pausable,
    )
    task = submit_task(platform, request, user=user)
    return Launched(task=task, config=checked.resolved, warnings=checked.warnings)


def _parse(platform: Platform, order: Order, template: dict[str, object] | None) -> ParsedTask:
    defaults = TaskDefaults(
        slots=_SLOTS.get(order.type, 1), resource_pool=platform.runner.pools()[0].name, runner="local"
    )
    if isinstance(order.config, str):
        parsed = parse_task(order.config, template=template, defaults=defaults)
    else:
        parsed = parse_task_values(order.config, template=template, defaults=defaults)
    if parsed.config.description:
        return parsed
    description = _description(order.type, parsed.config)
    config = parsed.config.model_copy(update={"description": description})
    return replace(parsed, config=config, resolved={**parsed.resolved, "description": description})


def _description(type: TaskType, config: TaskConfig) -> str:
    names = {TaskType.NOTEBOOK: "JupyterLab", TaskType.TENSORBOARD: "TensorBoard", TaskType.GENERIC: "Task"}
    name = names.get(type, type.capitalize())
    words = config.entrypoint if isinstance(config.entrypoint, str) else " ".join(config.entrypoint or ())
    text = " ".join((words or "").split())
    shown = text if len(text) <= _LONGEST_WORD else f"{text[:_LONGEST_WORD].rstrip()}..."
    return f"{name} ({shown})" if shown else name


def _check_slots(platform: Platform, config: TaskConfig) -> None:
    """One of these runs on one node: more than the largest has would wait for ever."""
    wanted = config.resources.slots
    pool = find_pool(platform, config.resources.resource_pool, key="config: resources.resource_pool")
    nodes = [node for node in platform.runner.nodes() if node.resource_pool == pool.name]
    if most_slots(pool, nodes) is None:
        return
    largest = max((len(node.slots) for node in nodes), default=0)
    if wanted > largest:
        raise InvalidConfig(
            [
                f"config: resources.slots: {wanted} is more than any node of pool {pool.name!r} has ({largest}); "
                f"ask for {largest} at most, or submit an experiment, which may span several nodes"
            ]
        )


def _workspace(tx: Transaction, config: TaskConfig, workspace_id: int, rights: Rights | None) -> Workspace:
    """By id, by the name in the configuration, or the first."""
    if workspace_id or not config.workspace:
        return tx.workspaces.get(workspace_id or 1)
    workspace = tx.workspaces.by_name(config.workspace)
    visible = rights.workspaces(Permission.VIEW_WORKSPACE) if rights else None
    if workspace is None or not (visible is None or workspace.id in visible):
        known = ", ".join(sorted(each.name for each in tx.workspaces.all(visible_in=visible)))
        raise NotFound(
            f"config: workspace: there is no workspace {config.workspace!r}; create it with "
            f"`resolute workspace create {config.workspace!r}` or use one of: {known}."
        )
    return workspace
