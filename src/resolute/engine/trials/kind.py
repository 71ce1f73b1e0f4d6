"""Trials as a kind of task: what is started for one, what its end means, and what it is called."""

from collections.abc import Mapping

from resolute.domain.rights import Permission
from resolute.domain.task import Task, TaskType
from resolute.domain.trial import Trial
from resolute.engine.experiments.configuration import readable
from resolute.engine.jobs.gang import Launch
from resolute.engine.jobs.task_kind import TaskKind
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.runner import Gang
from resolute.engine.trials.exits import read_log_to_its_end, trial_ended
from resolute.engine.trials.gang import trial_gang
from resolute.engine.trials.moves import trial_of
from resolute.engine.trials.restore import choose_checkpoint


def _gang(platform: Platform, launch: Launch) -> Gang:
    """Reads checkpoints' files to choose a whole one to start from."""
    with platform.store.read() as tx:
        trial = trial_of(tx, launch.task)
        experiment = tx.experiments.get(trial.experiment_id)
        context = tx.contexts.get(experiment.context_id) if experiment.context_id else None
    checkpoint, steps = choose_checkpoint(platform, trial) if _may_have_checkpoint(trial) else (None, 0)
    return trial_gang(launch, experiment, trial, context=context, checkpoint=checkpoint, steps_completed=steps)


def _may_have_checkpoint(trial: Trial) -> bool:
    return trial.run_id > 1 or trial.warm_start_checkpoint is not None


def _patience_s(tx: Transaction, task: Task) -> float | None:
    config = readable(tx.experiments.get(trial_of(tx, task).experiment_id))
    return None if config is None or config.preemption_timeout is None else float(config.preemption_timeout)


def _title(tx: Transaction, task: Task) -> str:
    trial = trial_of(tx, task)
    return f"Trial {trial.id} (Experiment {trial.experiment_id})"


def _names(tx: Transaction, task: Task) -> Mapping[str, object]:
    trial = trial_of(tx, task)
    return {"trial_id": trial.id, "run_id": trial.id, "experiment_id": trial.experiment_id}


TRIAL = TaskKind(
    type=TaskType.TRIAL,
    gang=_gang,
    examine=read_log_to_its_end,
    ended=trial_ended,
    asks_to_leave=True,
    patience_s=_patience_s,
    title=_title,
    names=_names,
    view=Permission.VIEW_EXPERIMENT_METADATA,
)
