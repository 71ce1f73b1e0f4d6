"""Moves of trials and their allocations inside one open transaction, shared by use-cases and loops.

Nothing here calls a runner: it writes down what is wanted (`preempt_requested_at`, `kill_requested_at`, a queued
allocation), and the loops act on it.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.experiment import END_OF, Experiment, ExperimentState
from resolute.domain.log import LogLevel
from resolute.domain.task import Task, TaskType
from resolute.domain.trial import END_OF as TRIAL_END_OF
from resolute.domain.trial import Trial, TrialState
from resolute.engine.bus import Bus
from resolute.engine.ports import Transaction
from resolute.search.events import Event


@dataclass(slots=True)
class Flow:
    """One transaction's worth of changes: the clock's reading, events for the searcher, lines for task logs."""

    tx: Transaction
    bus: Bus
    now: datetime
    events: deque[tuple[int, Event]] = field(default_factory=deque)
    notices: list[tuple[str, str, LogLevel]] = field(default_factory=list)
    collect: set[int] = field(default_factory=set)
    """Experiments whose checkpoints should be looked at by the retention policy."""

    def publish(self, *topics: str) -> None:
        self.tx.after_commit(lambda: self.bus.publish(*topics))

    def tell(self, task_id: str, text: str, level: LogLevel = LogLevel.INFO) -> None:
        self.notices.append((task_id, text, level))


def live_allocation(flow: Flow, trial: Trial) -> Allocation | None:
    allocations = flow.tx.allocations.of_task(trial.task_id)
    if allocations and allocations[-1].state is not AllocationState.TERMINATED:
        return allocations[-1]
    return None


def add_trial(flow: Flow, experiment: Experiment, trial: Trial) -> Trial:
    """Store a new trial with its task and, when the experiment runs, put it in the queue."""
    trial = flow.tx.trials.add(trial)
    flow.tx.tasks.add(
        Task(
            id=trial.task_id,
            type=TaskType.TRIAL,
            job_id=experiment.job_id,
            start_time=flow.now,
            user_id=experiment.user_id,
            context_id=experiment.context_id,
        )
    )
    flow.publish(f"experiment/{experiment.id}")
    if trial.state is TrialState.ACTIVE and not trial.unmanaged:
        return enqueue(flow, experiment, trial)
    return trial


def enqueue(flow: Flow, experiment: Experiment, trial: Trial) -> Trial:
    """Ask for slots. The run number rises here, which fences off whatever ran before."""
    trial = replace(trial, run_id=trial.run_id + 1, is_waiting=False, runner_state="", early_exit=None)
    flow.tx.trials.save(trial)
    resources = experiment.config.get("resources", {})
    flow.tx.allocations.add(
        Allocation(
            id=f"{trial.task_id}.{trial.run_id}",
            task_id=trial.task_id,
            job_id=experiment.job_id,
            state=AllocationState.QUEUED,
            changed_at=flow.now,
            created_at=flow.now,
            slots_needed=int(resources.get("slots_per_trial", 1)),
            resource_pool=experiment.resource_pool,
            trial_id=trial.id,
            run_id=trial.run_id,
            single_node=bool(resources.get("is_single_node") or False),
        )
    )
    flow.publish("engine", "queue", f"trial/{trial.id}")
    return trial


def ask_to_leave(flow: Flow, allocation: Allocation) -> bool:
    """Ask the trial to checkpoint and go. True when nothing was running, so that it is gone already."""
    if allocation.state is AllocationState.QUEUED:
        _withdraw(flow, allocation)
        return True
    if allocation.preempt_requested_at is None:
        flow.tx.allocations.save(replace(allocation, preempt_requested_at=flow.now))
        flow.publish(f"allocation/{allocation.id}", "engine")
    return False


def kill_allocation(flow: Flow, allocation: Allocation) -> bool:
    """Have the processes killed. True when nothing was running, so that it is gone already."""
    if allocation.state is AllocationState.QUEUED:
        _withdraw(flow, allocation)
        return True
    if allocation.kill_requested_at is None:
        flow.tx.allocations.save(replace(allocation, kill_requested_at=flow.now))
        flow.publish("engine")
    return False


def _withdraw(flow: Flow, allocation: Allocation) -> None:
    ended = replace(
        allocation.moved_to(AllocationState.TERMINATED, now=flow.now), exit_reason="withdrawn from the queue"
    )
    flow.tx.allocations.save(ended, expected=AllocationState.QUEUED)
    flow.publish("queue")


def stop_trial(flow: Flow, trial: Trial, state: TrialState, *, reason: str = "") -> Trial:
    """Move towards an end. With processes running, it waits for them; without, it ends at once."""
    if trial.is_finished or trial.state is state:
        return trial
    trial = trial.moved_to(state, now=flow.now, reason=reason)
    flow.tx.trials.save(trial)
    allocation = live_allocation(flow, trial)
    leave: Callable[[Flow, Allocation], bool] = kill_allocation if state is TrialState.STOPPING_KILLED else ask_to_leave
    if allocation is None or leave(flow, allocation):
        return end_trial(flow, trial, TRIAL_END_OF[state], reason=reason)
    flow.publish(f"trial/{trial.id}", f"experiment/{trial.experiment_id}")
    return trial


def end_trial(flow: Flow, trial: Trial, state: TrialState, *, reason: str = "") -> Trial:
    """The trial is over: close its task and let the searcher know through `flow.events`."""
    trial = trial.moved_to(state, now=flow.now, reason=reason)
    flow.tx.trials.save(trial)
    task = flow.tx.tasks.get(trial.task_id)
    flow.tx.tasks.save(replace(task, end_time=flow.now))
    flow.collect.add(trial.experiment_id)
    flow.publish(f"trial/{trial.id}", f"experiment/{trial.experiment_id}", "experiments")
    return trial


def finish_if_done(flow: Flow, experiment: Experiment) -> Experiment:
    """A stopping experiment ends when its last trial has."""
    if not experiment.is_stopping:
        return experiment
    if flow.tx.trials.of_experiment(experiment.id, unfinished_only=True):
        return experiment
    ended = experiment.moved_to(END_OF[experiment.state], now=flow.now)
    if ended.state is ExperimentState.COMPLETED:
        ended = replace(ended, progress=1.0)
    flow.tx.experiments.save(ended, expected=experiment.state)
    flow.collect.add(experiment.id)
    flow.publish(f"experiment/{experiment.id}", "experiments", "engine")
    return ended
