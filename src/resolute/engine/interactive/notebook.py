"""Notebooks as a kind of task: JupyterLab, signed in as its owner, in a folder of its own that stays."""

import json
from pathlib import Path

from resolute.domain.task import Task, TaskType
from resolute.engine.interactive.configuration import config_of
from resolute.engine.interactive.gang import configured_gang
from resolute.engine.interactive.owner_session import end_with_session, session_variables, visitors_token
from resolute.engine.jobs.fencing import secret_of
from resolute.engine.jobs.gang import Launch
from resolute.engine.jobs.task_kind import TaskKind
from resolute.engine.platform import Platform
from resolute.engine.ports.runner import Gang

COMMAND = ("python3", "-m", "resolute.interactive.notebook")
REQUEST = "RESOLUTE_NOTEBOOK"


def folder_of(platform: Platform, task: Task) -> Path:
    return platform.config.home / "notebooks" / task.id


def _gang(platform: Platform, launch: Launch) -> Gang:
    config, storage = config_of(launch.task), platform.config.checkpoint_storage
    with platform.store.read() as tx:
        token = visitors_token(secret_of(tx), launch.task)
    request = {
        "token": token,
        "folder": str(folder_of(platform, launch.task).absolute()),
        "checkpoints": storage.get("host_path") or storage.get("container_path"),
        "idle_timeout_s": config.idle_timeout_s,
        "idle_type": config.notebook_idle_type,
    }
    own = {REQUEST: json.dumps(request), **session_variables(platform, launch)}
    return configured_gang(platform, launch, COMMAND, own=own, in_platform_python=True)


NOTEBOOK = TaskKind(type=TaskType.NOTEBOOK, gang=_gang, ended=end_with_session, listens=True)
