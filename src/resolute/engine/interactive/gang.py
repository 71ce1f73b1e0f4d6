"""From a configuration of a command, notebook, TensorBoard or shell to a gang."""

from collections.abc import Mapping

from resolute.engine.interactive.configuration import config_of
from resolute.engine.jobs.environment import environment_spec, mounts_of, native_options, user_variables
from resolute.engine.jobs.gang import Launch
from resolute.engine.platform import Platform
from resolute.engine.ports.runner import EnvironmentSpec, Gang


def configured_gang(
    platform: Platform,
    launch: Launch,
    entrypoint: str | tuple[str, ...],
    *,
    own: Mapping[str, str] | None = None,
    in_platform_python: bool = False,
) -> Gang:
    """`own`: variables that only its kind has. `in_platform_python`: what it runs is a part of the platform, and the
    configured environment is none of its business."""
    config, task = config_of(launch.task), launch.task
    context = None
    if task.context_id is not None and isinstance(config.environment.requirements, str):
        with platform.store.read() as tx:
            context = tx.contexts.get(task.context_id)
    spec = EnvironmentSpec() if in_platform_python else environment_spec(config.environment, context, launch.device)
    return launch.gang(
        entrypoint=_in_folder(config.work_dir, entrypoint),
        given=user_variables(config.environment, launch.device),
        own=own,
        context_id=task.context_id,
        environment=spec,
        native=native_options(config),
        bind_mounts=mounts_of(config),
    )


def _in_folder(folder: str | None, entrypoint: str | tuple[str, ...]) -> str | tuple[str, ...]:
    """A shell goes there first; relative folders are those of the files that came with the task."""
    if not folder:
        return entrypoint
    if isinstance(entrypoint, str):
        return ("sh", "-c", 'cd "$0" && eval "$1"', folder, entrypoint)
    return ("sh", "-c", 'cd "$0" && exec "$@"', folder, *entrypoint)
