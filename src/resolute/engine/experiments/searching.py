"""Searchers wired to trials: an event goes in, actions are applied, and the new state is stored, in one transaction.

A crash between two events therefore leaves a search that continues exactly where it was.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from resolute.domain.errors import InvalidInput
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.trial import Trial, TrialState
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.experiments.search_memory import recall, restored_searcher, write_down
from resolute.engine.jobs.allocation_moves import live_allocation
from resolute.engine.ports.database import Transaction
from resolute.engine.trials.moves import add_trial, enqueue, finish_if_done, stop_trial
from resolute.engine.unit_of_work import Flow
from resolute.search.custom import CustomSearcher
from resolute.search.events import (
    Action,
    CreateTrial,
    Event,
    ExitReason,
    Outcome,
    SearchStarted,
    Shutdown,
    StopTrial,
    TrainTo,
    TrialClosed,
    TrialExitedEarly,
)
from resolute.search.searcher import Searcher


def feed(flow: Flow, experiment: Experiment, *events: Event) -> Experiment:
    """Give events to the searcher of `experiment`, which is as stored, with all that follow from its own actions."""
    head = flow.tx.experiments.searcher_head(experiment.id)
    if head is None or not events:
        return finish_if_done(flow, experiment)
    search = recall(flow.tx, experiment, head)
    queue, changed = deque(events), experiment
    while queue:
        event = queue.popleft()
        outcome = search.searcher.handle(event)
        changed = _told_about(flow, changed, event, outcome)
        changed, follow_up = _act(flow, changed, outcome)
        queue.extend(follow_up)
    write_down(flow.tx, experiment.id, head, search)
    changed = _progressed(changed, search.searcher)
    if changed is not experiment:
        flow.tx.experiments.save(changed)
    return finish_if_done(flow, changed)


def asked(tx: Transaction, experiment: Experiment) -> list[dict[str, object]]:
    """Events that the program behind a `custom` searcher has not answered yet, oldest first."""
    return _custom(tx, experiment).ask()


def told(
    flow: Flow, experiment: Experiment, actions: Sequence[dict[str, object]], *, up_to: int, progress: float | None
) -> Experiment:
    """Carry out the actions of the program behind a `custom` searcher. An answer given before changes nothing."""
    searcher = _custom(flow.tx, experiment)
    changed, follow_up = _act(flow, experiment, searcher.tell(actions, up_to=up_to, progress=progress))
    flow.tx.experiments.save_searcher_snapshot(experiment.id, searcher.snapshot())
    changed = _progressed(changed, searcher)
    flow.tx.experiments.save(changed)
    return feed(flow, finish_if_done(flow, changed), *follow_up)


def _custom(tx: Transaction, experiment: Experiment) -> CustomSearcher:
    snapshot = tx.experiments.searcher_snapshot(experiment.id)
    if snapshot is None or experiment.searcher_name != "custom":
        raise InvalidInput(
            f"Experiment {experiment.id} decides by itself (searcher {experiment.searcher_name}); only a "
            "search with searcher.name: custom can be driven from outside."
        )
    searcher = restored_searcher(experiment, snapshot)
    assert isinstance(searcher, CustomSearcher)
    return searcher


def _act(flow: Flow, experiment: Experiment, outcome: Outcome) -> tuple[Experiment, list[Event]]:
    """Everything one decision asks for; returns what the searcher must hear of it."""
    follow_up: list[Event] = []
    for action in outcome.actions:
        experiment, events = _apply(flow, experiment, action)
        follow_up.extend(events)
    return experiment, follow_up


def _told_about(flow: Flow, experiment: Experiment, event: Event, outcome: Outcome) -> Experiment:
    """What people should know, once each. They know trials by number; a searcher knows them by request id."""
    for notice in outcome.notices:
        request_id = "" if isinstance(event, SearchStarted) else event.request_id
        if request_id and request_id in notice:
            trial = flow.tx.trials.by_request_id(experiment.id, request_id)
            notice = notice.replace(request_id, str(trial.id)) if trial else notice
        if notice not in experiment.warnings:
            experiment = replace(experiment, warnings=(*experiment.warnings, notice))
    return experiment


def _progressed(experiment: Experiment, searcher: Searcher) -> Experiment:
    if experiment.state is ExperimentState.STOPPING_ERROR:
        # It is over, but what it did before it failed is all that was done.
        return experiment
    progress = min(1.0, searcher.progress())
    return replace(experiment, progress=progress) if progress > experiment.progress else experiment


def closing_event(trial: Trial) -> Event:
    """What the searcher must hear about a trial that has ended."""
    if trial.state is TrialState.COMPLETED:
        return TrialClosed(trial.request_id)
    if trial.state is TrialState.CANCELED:
        return TrialExitedEarly(trial.request_id, ExitReason.USER_CANCELED)
    reason = ExitReason.INVALID_HP if trial.early_exit == "INVALID_HP" else ExitReason.ERRORED
    return TrialExitedEarly(trial.request_id, reason)


def _apply(flow: Flow, experiment: Experiment, action: Action) -> tuple[Experiment, list[Event]]:
    if isinstance(action, CreateTrial):
        _create(flow, experiment, action)
        return experiment, []
    if isinstance(action, TrainTo):
        _train_to(flow, experiment, action)
        return experiment, []
    if isinstance(action, StopTrial):
        return experiment, _stop(flow, experiment, action)
    return _shut_down(flow, experiment, action)


def _create(flow: Flow, experiment: Experiment, action: CreateTrial) -> None:
    is_active = experiment.state is ExperimentState.ACTIVE
    trial = Trial(
        id=0,
        experiment_id=experiment.id,
        request_id=action.request_id,
        task_id=f"{experiment.id}.{action.request_id}",
        state=TrialState.ACTIVE if is_active else TrialState.PAUSED,
        changed_at=flow.now,
        start_time=flow.now,
        hparams=action.hparams,
        seed=action.seed,
        target_length=action.train_to,
        warm_start_checkpoint=_warm_start(flow, experiment, action),
        log_retention_days=configuration_of(experiment).log_retention_days,
    )
    add_trial(flow, experiment, trial)


def _warm_start(flow: Flow, experiment: Experiment, action: CreateTrial) -> str | None:
    if action.copy_of is not None:
        source = flow.tx.trials.by_request_id(experiment.id, action.copy_of)
        return source.latest_checkpoint if source else None
    searcher = configuration_of(experiment).searcher
    if searcher.source_trial_id is not None:
        return flow.tx.trials.get(searcher.source_trial_id).latest_checkpoint
    return searcher.source_checkpoint_uuid


def _train_to(flow: Flow, experiment: Experiment, action: TrainTo) -> None:
    trial = flow.tx.trials.by_request_id(experiment.id, action.request_id)
    if trial is None or trial.is_finished or trial.is_stopping:
        return
    was_waiting = trial.is_waiting
    trial = replace(trial, target_length=action.length, is_waiting=False)
    flow.tx.trials.save(trial)
    # A trial still on its way out is queued again by the loop once its processes have ended.
    if was_waiting and trial.state is TrialState.ACTIVE and live_allocation(flow, trial.task_id) is None:
        enqueue(flow, experiment, trial)


def _stop(flow: Flow, experiment: Experiment, action: StopTrial) -> list[Event]:
    trial = flow.tx.trials.by_request_id(experiment.id, action.request_id)
    if trial is None or trial.is_finished or trial.is_stopping:
        return []
    stopped = stop_trial(flow, trial, TrialState.STOPPING_COMPLETED, reason="The searcher stopped it.")
    return [closing_event(stopped)] if stopped.is_finished else []


def _shut_down(flow: Flow, experiment: Experiment, action: Shutdown) -> tuple[Experiment, list[Event]]:
    if experiment.is_stopping or experiment.is_finished:
        return experiment, []
    state = ExperimentState.STOPPING_COMPLETED
    if action.failed:
        state = ExperimentState.STOPPING_ERROR
    elif action.cancelled:
        state = ExperimentState.STOPPING_CANCELED
    experiment = flow.move(experiment, experiment.moved_to(state, now=flow.now), reason="The search is over.")
    # Trials that only wait for a promotion that will not come are over.
    for trial in flow.tx.trials.of_experiment(experiment.id, unfinished_only=True):
        if action.failed or action.cancelled or trial.is_waiting or trial.state is TrialState.PAUSED:
            stop_trial(flow, trial, TrialState.STOPPING_COMPLETED, reason="The search is over.")
    return experiment, []
