"""What a running trial, or a script outside the platform, tells the master about itself."""

import uuid
from dataclasses import dataclass, replace
from datetime import timedelta

from resolute.domain.errors import InvalidInput
from resolute.domain.experiment import STOPPED_TO, ExperimentState, outcome_of
from resolute.domain.log import LogLevel
from resolute.domain.trial import Trial, TrialState
from resolute.domain.verdict import INVALID_HP, USER_REQUESTED_STOP
from resolute.engine.experiments.changes import kill_trial
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.experiments.searching import feed
from resolute.engine.platform import Platform
from resolute.engine.trials.moves import add_trial, end_trial, finish_if_done
from resolute.engine.unit_of_work import Flow, flow
from resolute.search.events import TrialProgressed

SILENT_FOR = timedelta(minutes=5)
"""How long an unmanaged trial may be silent; official clients say every minute that they are there."""

__all__ = [
    "create_unmanaged_trial",
    "give_up_silent_trials",
    "kill_trial",
    "next_operation",
    "patch_unmanaged_trial",
    "report_early_exit",
    "report_progress",
    "set_metadata",
    "set_runner_state",
    "start_unmanaged_trial",
]


def report_early_exit(platform: Platform, trial_id: int, reason: str) -> None:
    """The trial is about to exit with code 0 although its work is not done, and says why."""
    name = reason.removeprefix("EXITED_REASON_")
    if name not in (INVALID_HP, USER_REQUESTED_STOP):
        raise InvalidInput(f"reason: {reason!r} is not known; use {INVALID_HP} or {USER_REQUESTED_STOP}.")
    with platform.store.write() as tx:
        tx.trials.save(replace(tx.trials.get(trial_id), early_exit=name))


def report_progress(platform: Platform, trial_id: int, progress: float, *, raw: bool = True) -> None:
    """`raw`: a share from 0 to 1; otherwise units of the searcher's length."""
    with flow(platform) as current:
        trial = current.tx.trials.get(trial_id)
        experiment = current.tx.experiments.get(trial.experiment_id)
        share = progress if raw else progress / max(1.0, configuration_of(experiment).searcher.full_length)
        share = min(1.0, max(0.0, share))
        current.tx.trials.save(replace(trial, progress=share))
        if not trial.is_finished and not experiment.is_finished:
            feed(current, experiment, TrialProgressed(trial.request_id, share))
        current.publish(f"trial/{trial_id}", f"experiment/{trial.experiment_id}")


def set_runner_state(platform: Platform, trial_id: int, state: str) -> None:
    """What the trial is busy with: training, validating, checkpointing ..."""
    with flow(platform) as current:
        trial = current.tx.trials.get(trial_id)
        current.tx.trials.save(replace(trial, runner_state=state))
        current.publish(f"trial/{trial_id}")


def set_metadata(platform: Platform, trial_id: int, metadata: dict[str, object]) -> dict[str, object]:
    """Merged into what is there, key by key."""
    with flow(platform) as current:
        trial = current.tx.trials.get(trial_id)
        merged = {**(trial.metadata or {}), **metadata}
        current.tx.trials.save(replace(trial, metadata=merged))
    return merged


@dataclass(frozen=True, slots=True)
class Operation:
    """How far to train next. `is_completed`: nothing more is wanted for now; exit cleanly."""

    length: int
    is_completed: bool = False


def next_operation(platform: Platform, trial_id: int) -> Operation:
    """The searcher operation of 0.21 clients: train to this length, then validate."""
    with platform.store.read() as tx:
        trial = tx.trials.get(trial_id)
        searcher = configuration_of(tx.experiments.get(trial.experiment_id)).searcher
    length = trial.target_length if trial.target_length is not None else searcher.full_length
    is_done = trial.is_finished or trial.is_stopping or trial.is_waiting
    return Operation(length=length, is_completed=is_done)


# ------------------------------------------------------------------------------- trials that run somewhere else


@dataclass(frozen=True, slots=True)
class StartedTrial:
    run_id: int
    latest_checkpoint: str | None
    steps_completed: int


def create_unmanaged_trial(
    platform: Platform, experiment_id: int, hparams: dict[str, object], *, external_id: str | None = None
) -> Trial:
    """A trial whose processes are not ours. With `external_id`, repeating the call returns the same trial."""
    with flow(platform) as current:
        experiment = current.tx.experiments.get(experiment_id)
        if not experiment.unmanaged:
            raise InvalidInput(
                f"Experiment {experiment_id} is run by this platform, and its searcher makes its trials. "
                "Create an unmanaged experiment for trials that run elsewhere."
            )
        if external_id:
            known = current.tx.trials.by_external_id(experiment_id, external_id)
            if known is not None:
                return known
        request_id = str(uuid.uuid4())
        trial = add_trial(
            current,
            experiment,
            Trial(
                id=0,
                experiment_id=experiment_id,
                request_id=request_id,
                task_id=f"{experiment_id}.{request_id}",
                state=TrialState.ACTIVE,
                changed_at=current.now,
                start_time=current.now,
                hparams=hparams,
                seed=configuration_of(experiment).reproducibility.experiment_seed,
                unmanaged=True,
                external_id=external_id,
                log_retention_days=configuration_of(experiment).log_retention_days,
            ),
        )
        _follow_trials(current, experiment_id)
        return trial


def start_unmanaged_trial(platform: Platform, trial_id: int, *, resume: bool = False) -> StartedTrial:
    with flow(platform) as current:
        trial = _unmanaged(current, trial_id)
        if trial.run_id > 0 and not resume:
            raise InvalidInput(f"Trial {trial_id} has been started before; pass resume to go on from its checkpoint.")
        if trial.is_finished:
            trial = current.move(trial, trial.moved_to(TrialState.ACTIVE, now=current.now))
            _follow_trials(current, trial.experiment_id)
        trial = replace(trial, run_id=trial.run_id + 1)
        current.tx.trials.save(trial)
        steps = 0
        if trial.latest_checkpoint:
            steps = current.tx.checkpoints.get(trial.latest_checkpoint).steps_completed
        return StartedTrial(trial.run_id, trial.latest_checkpoint, steps)


def patch_unmanaged_trial(platform: Platform, trial_id: int, state: TrialState | None) -> Trial:
    """A heartbeat, or the end: an unmanaged trial's own word is all there is. Its experiment ends with the last."""
    with flow(platform) as current:
        trial = _unmanaged(current, trial_id)
        if trial.is_finished and not _was_given_up(trial):
            return trial
        if trial.is_finished:
            trial = current.move(trial, trial.moved_to(TrialState.ACTIVE, now=current.now), reason="It is back.")
            _follow_trials(current, trial.experiment_id)
        trial = replace(trial, heartbeat_at=current.now)
        if state not in (TrialState.COMPLETED, TrialState.CANCELED, TrialState.ERROR):
            current.tx.trials.save(trial)
            return trial
        trial = end_trial(current, trial, state)
        _follow_trials(current, trial.experiment_id)
        return trial


def give_up_silent_trials(platform: Platform) -> list[Trial]:
    """Unmanaged trials that have said nothing for `SILENT_FOR`: their processes are gone, and they end in error."""
    before = platform.clock() - SILENT_FOR
    with platform.store.read() as tx:
        if not tx.trials.silent_since(before):
            return []
    with flow(platform) as current:
        return [_give_up(current, trial) for trial in current.tx.trials.silent_since(before)]


def _was_given_up(trial: Trial) -> bool:
    """Only its silence ended it: one that was cut off and speaks again goes on."""
    if trial.state is not TrialState.ERROR or trial.heartbeat_at is None or trial.end_time is None:
        return False
    return trial.end_time - trial.heartbeat_at >= SILENT_FOR


def _give_up(current: Flow, trial: Trial) -> Trial:
    reason = f"No heartbeat for {SILENT_FOR.total_seconds():.0f} s: its process is gone or cannot reach the master."
    trial = end_trial(current, trial, TrialState.ERROR, reason=reason)
    current.tell(trial.task_id, reason, LogLevel.ERROR)
    _follow_trials(current, trial.experiment_id)
    return trial


def _follow_trials(current: Flow, experiment_id: int) -> None:
    """An unmanaged experiment fares as its trials do: active with one that is, else as badly as the worst of them."""
    experiment = current.tx.experiments.get(experiment_id)
    states = {trial.state for trial in current.tx.trials.of_experiment(experiment_id)}
    state = outcome_of(states)
    if not experiment.unmanaged or experiment.is_stopping or state is experiment.state:
        return
    if state is ExperimentState.ACTIVE:
        current.move(experiment, experiment.moved_to(state, now=current.now))
        return
    if experiment.is_finished:
        experiment = current.move(experiment, experiment.moved_to(ExperimentState.ACTIVE, now=current.now))
    stopping = experiment.moved_to(STOPPED_TO[state], now=current.now)
    finish_if_done(current, current.move(experiment, stopping, reason="Its trials have ended."))


def _unmanaged(current: Flow, trial_id: int) -> Trial:
    """A trial that says itself how it fares; of one of ours the processes tell."""
    trial = current.tx.trials.get(trial_id)
    if not trial.unmanaged:
        raise InvalidInput(
            f"Trial {trial_id} is run by this platform, which starts it and sees how it ends. "
            f"Use `resolute trial kill {trial_id}` to stop it."
        )
    return trial
