"""Moves of trials inside one open transaction, shared by use-cases and passes. Nothing here calls a runner."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from resolute.domain.allocation import Allocation
from resolute.domain.errors import NotFound
from resolute.domain.experiment import END_OF, Experiment, ExperimentState
from resolute.domain.task import Task, TaskType
from resolute.domain.trial import END_OF as TRIAL_END_OF
from resolute.domain.trial import Trial, TrialState
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.jobs.allocation_moves import ask_to_leave, kill_allocation, live_allocation
from resolute.engine.jobs.task_moves import add_task, end_task, queue_task
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import Flow


def trial_of(tx: Transaction, task: Task) -> Trial:
    """The trial that a task of type TRIAL runs."""
    trial = tx.trials.by_task_id(task.id)
    if trial is None:
        raise NotFound(f"trial not found: there is none with task {task.id}")
    return trial


def add_trial(flow: Flow, experiment: Experiment, trial: Trial) -> Trial:
    """Store a new trial with its task and, when the experiment runs, put it in the queue."""
    is_queued = trial.state is TrialState.ACTIVE and not trial.unmanaged
    trial = flow.add(_of_next_run(trial) if is_queued else trial)
    task = Task(
        id=trial.task_id,
        type=TaskType.TRIAL,
        job_id=experiment.job_id,
        start_time=flow.now,
        user_id=experiment.user_id,
        context_id=experiment.context_id,
    )
    add_task(flow, task)
    if is_queued:
        _queue(flow, experiment, trial, task)
    return trial


def enqueue(flow: Flow, experiment: Experiment, trial: Trial) -> Trial:
    """Ask for slots. The run number rises, which fences off whatever ran before."""
    trial = _of_next_run(trial)
    flow.tx.trials.save(trial)
    _queue(flow, experiment, trial, flow.tx.tasks.get(trial.task_id))
    return trial


def _of_next_run(trial: Trial) -> Trial:
    return replace(trial, run_id=trial.run_id + 1, is_waiting=False, runner_state="", early_exit=None)


def _queue(flow: Flow, experiment: Experiment, trial: Trial, task: Task) -> None:
    job = flow.tx.jobs.get(experiment.job_id)
    resources = configuration_of(experiment).resources
    queue_task(
        flow,
        task,
        run_id=trial.run_id,
        slots=resources.slots_per_trial,
        resource_pool=job.resource_pool,
        single_node=bool(resources.is_single_node),
        excluded_nodes=trial.excluded_nodes,
        trial_id=trial.id,
    )
    flow.publish(f"trial/{trial.id}")


def stop_trial(flow: Flow, trial: Trial, state: TrialState, *, reason: str = "") -> Trial:
    """Move towards an end. With processes running, it waits for them; without, it ends at once."""
    if trial.is_finished or trial.state is state:
        return trial
    trial = flow.move(trial, trial.moved_to(state, now=flow.now, reason=reason), reason=reason)
    allocation = live_allocation(flow, trial.task_id)
    leave: Callable[[Flow, Allocation], bool] = kill_allocation if state is TrialState.STOPPING_KILLED else ask_to_leave
    if allocation is None or leave(flow, allocation):
        return end_trial(flow, trial, TRIAL_END_OF[state], reason=reason)
    return trial


def end_trial(flow: Flow, trial: Trial, state: TrialState, *, reason: str = "") -> Trial:
    """The trial is over, and its task with it. The caller tells the searcher."""
    trial = flow.move(trial, trial.moved_to(state, now=flow.now, reason=reason), reason=reason)
    end_task(flow, trial.task_id)
    flow.collect.add(trial.experiment_id)
    flow.publish("experiments")
    return trial


def _share_trained(trials: Sequence[Trial]) -> float:
    shares = [1.0 if trial.state is TrialState.COMPLETED else trial.progress for trial in trials]
    return sum(shares) / len(shares) if shares else 0.0


def finish_if_done(flow: Flow, experiment: Experiment) -> Experiment:
    """A stopping experiment ends when its last trial has."""
    if not experiment.is_stopping:
        return experiment
    if flow.tx.trials.of_experiment(experiment.id, unfinished_only=True):
        return experiment
    ended = experiment.moved_to(END_OF[experiment.state], now=flow.now)
    if ended.state is ExperimentState.COMPLETED:
        ended = replace(ended, progress=1.0)
    if ended.state is ExperimentState.ERROR:
        # A search counts a failed trial as one that needs no more training; people read the number as work done.
        ended = replace(ended, progress=min(ended.progress, _share_trained(flow.tx.trials.of_experiment(ended.id))))
    flow.collect.add(experiment.id)
    flow.publish("engine")
    return flow.move(experiment, ended)
