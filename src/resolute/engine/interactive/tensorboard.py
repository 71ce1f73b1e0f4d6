"""TensorBoards as a kind of task: which trials one shows, and where their scripts' own event files are."""

import json

from resolute.domain.errors import InvalidInput
from resolute.domain.task import Task, TaskType
from resolute.engine.interactive.configuration import config_of
from resolute.engine.interactive.gang import configured_gang
from resolute.engine.interactive.owner_session import end_with_session, session_variables
from resolute.engine.jobs.gang import Launch
from resolute.engine.jobs.task_kind import TaskKind
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.runner import Gang

COMMAND = ("python3", "-m", "resolute.interactive.tensorboard")
REQUEST = "RESOLUTE_TENSORBOARD"


def sources(experiment_ids: list[int], trial_ids: list[int]) -> dict[str, object]:
    """What is stored beside its configuration."""
    if not experiment_ids and not trial_ids:
        raise InvalidInput("experimentIds: name at least one experiment or trial to show.")
    return {"experiment_ids": list(dict.fromkeys(experiment_ids)), "trial_ids": list(dict.fromkeys(trial_ids))}


def shown_by(task: Task) -> tuple[list[int], list[int]]:
    """Experiments, and trials."""
    stored = task.config or {}
    return list(stored.get("experiment_ids") or ()), list(stored.get("trial_ids") or ())


def _gang(platform: Platform, launch: Launch) -> Gang:
    config = config_of(launch.task)
    experiment_ids, trial_ids = shown_by(launch.task)
    with platform.store.read() as tx:
        storages = _storages(tx, experiment_ids, trial_ids)
    request = {
        "cluster_id": platform.config.cluster_id,
        "experiment_ids": experiment_ids,
        "trial_ids": trial_ids,
        "storages": storages,
        "idle_timeout_s": config.idle_timeout_s,
        "arguments": config.tensorboard_args,
    }
    own = {REQUEST: json.dumps(request), **session_variables(platform, launch)}
    return configured_gang(platform, launch, COMMAND, own=own, in_platform_python=True)


def _storages(tx: Transaction, experiment_ids: list[int], trial_ids: list[int]) -> dict[str, object]:
    """By experiment id, with the keys that its trials had."""
    wanted = {*experiment_ids, *(tx.trials.get(trial_id).experiment_id for trial_id in trial_ids)}
    return {str(each): tx.experiments.get(each).config.get("checkpoint_storage") for each in sorted(wanted)}


TENSORBOARD = TaskKind(type=TaskType.TENSORBOARD, gang=_gang, ended=end_with_session, listens=True)
