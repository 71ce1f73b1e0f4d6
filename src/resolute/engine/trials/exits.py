"""The end of a trial's processes: judge it, move the trial, tell the searcher, queue what comes next."""

from dataclasses import replace

from resolute.domain.allocation import Allocation
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.log import LogLevel
from resolute.domain.log_policy import cancels_retries
from resolute.domain.metric import VALIDATION
from resolute.domain.trial import END_OF as TRIAL_END_OF
from resolute.domain.trial import Trial, TrialState
from resolute.domain.verdict import Exit, Next, Verdict, judge
from resolute.engine.experiments.configuration import configuration_of, readable
from resolute.engine.experiments.searching import closing_event, feed
from resolute.engine.jobs.task_kind import Ending
from resolute.engine.platform import Platform
from resolute.engine.trials.log_policies import LogReader, policies_in, policies_of
from resolute.engine.trials.moves import end_trial, enqueue, finish_if_done, trial_of
from resolute.engine.unit_of_work import Flow

_MAY_RUN = frozenset({ExperimentState.ACTIVE, ExperimentState.STOPPING_COMPLETED})
"""A search that is over still lets its last trials finish, also after a failure."""


def trial_ended(current: Flow, ending: Ending) -> None:
    """Judge the end of a trial's processes, move the trial, tell the searcher, queue what comes next."""
    trial = trial_of(current.tx, ending.task)
    experiment = current.tx.experiments.get(trial.experiment_id)
    config = readable(experiment)
    if config is None:
        _give_up(current, experiment, trial)
        return
    max_restarts = 0 if ending.is_final else config.max_restarts
    cancelled = cancels_retries(policies_in(config), ending.allocation.log_matches)
    verdict = judge(trial, ending.allocation, ending.exit, max_restarts=max_restarts, retries_cancelled=cancelled)
    _tell_of_missing_metric(current, experiment, trial, verdict)
    _carry_out(current, experiment, trial, verdict)


def read_log_to_its_end(platform: Platform, allocation: Allocation, exit: Exit) -> None:
    """What the last lines set off happens before the end is judged."""
    with platform.store.read() as tx:
        policies = policies_of(tx, trial_of(tx, tx.tasks.get(allocation.task_id)))
    if policies:
        LogReader(platform, allocation, policies).read_on()


def _give_up(current: Flow, experiment: Experiment, trial: Trial) -> None:
    """Another version wrote the configuration: neither the trial nor the search can go on, and others must."""
    reason = "This version cannot read the experiment's configuration; the master's log says what it stumbled over."
    if not trial.is_finished:
        state = TRIAL_END_OF[trial.state] if trial.is_stopping else TrialState.ERROR
        trial = end_trial(current, trial, state, reason=reason)
        current.tell(trial.task_id, reason, LogLevel.ERROR)
    if not experiment.is_stopping and not experiment.is_finished:
        failed = experiment.moved_to(ExperimentState.STOPPING_ERROR, now=current.now)
        experiment = current.move(experiment, failed, reason=reason)
    finish_if_done(current, experiment)


def _tell_of_missing_metric(current: Flow, experiment: Experiment, trial: Trial, verdict: Verdict) -> None:
    """A trial that validated but never reported what the searcher looks at: a misspelt name is the usual reason."""
    if verdict.next is not Next.END or verdict.state is not TrialState.COMPLETED:
        return
    if trial.searcher_metric_value is not None or trial.early_exit:
        return
    names = sorted(s.name for s in current.tx.metrics.summaries(trial.id) if s.group == VALIDATION)
    wanted = experiment.searcher_metrics
    if not names or set(wanted) <= set(names):
        return
    current.tell(
        trial.task_id,
        f"The searcher's metric {', '.join(wanted)} was never reported; validation metrics reported: "
        f"{', '.join(names)}. Set searcher.metric to one of these, or report it.",
        LogLevel.WARNING,
    )


def _carry_out(current: Flow, experiment: Experiment, trial: Trial, verdict: Verdict) -> None:
    if verdict.next is Next.END:
        _end(current, experiment, trial, verdict)
        return
    if verdict.next is Next.RESTART:
        trial = replace(trial, restarts=trial.restarts + 1)
        current.tx.trials.save(trial)
        limit = configuration_of(experiment).max_restarts
        current.tell(
            trial.task_id,
            f"Run {trial.run_id} failed ({verdict.reason}); restart {trial.restarts} of at most {limit}.",
            LogLevel.WARNING,
        )
    if verdict.next is not Next.WAIT and experiment.state in _MAY_RUN:
        enqueue(current, experiment, trial)
    finish_if_done(current, experiment)


def _end(current: Flow, experiment: Experiment, trial: Trial, verdict: Verdict) -> None:
    assert verdict.state is not None
    trial = end_trial(current, trial, verdict.state, reason=verdict.reason)
    level = LogLevel.ERROR if trial.state is TrialState.ERROR else LogLevel.INFO
    current.tell(trial.task_id, f"Trial {trial.id} {trial.state.lower()}. {verdict.reason}".strip(), level)
    if experiment.state in (ExperimentState.ACTIVE, ExperimentState.PAUSED, ExperimentState.STOPPING_COMPLETED):
        feed(current, experiment, closing_event(trial))
    else:
        finish_if_done(current, experiment)
