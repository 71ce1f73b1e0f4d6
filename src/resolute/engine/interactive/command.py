"""Commands: a line of shell, or a program with its arguments, that runs once."""

from resolute.domain.task import TaskType
from resolute.engine.interactive.configuration import config_of
from resolute.engine.interactive.gang import configured_gang
from resolute.engine.jobs.gang import Launch
from resolute.engine.jobs.task_kind import TaskKind
from resolute.engine.platform import Platform
from resolute.engine.ports.runner import Gang
from resolute.spec.task import TaskConfig


def command_gang(platform: Platform, launch: Launch) -> Gang:
    return configured_gang(platform, launch, _entrypoint(config_of(launch.task)))


def _entrypoint(config: TaskConfig) -> str | tuple[str, ...]:
    """One word alone is a line of shell, as `det cmd run "a | b"` sends it."""
    given = config.entrypoint or ""
    if isinstance(given, str):
        return given
    return given[0] if len(given) == 1 else tuple(given)


COMMAND = TaskKind(type=TaskType.COMMAND, gang=command_gang)
