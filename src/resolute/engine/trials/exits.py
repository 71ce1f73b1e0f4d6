"""The end of a trial's processes: judge it, move the trial, tell the searcher, queue what comes next."""

from dataclasses import replace

from resolute.domain.allocation import Allocation
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.log import LogLevel
from resolute.domain.log_policy import Verdict as PolicyVerdict
from resolute.domain.log_policy import judge as judge_log
from resolute.domain.log_policy import parse_log_policies
from resolute.domain.metric import VALIDATION
from resolute.domain.trial import Trial, TrialState
from resolute.domain.verdict import Exit, Next, Verdict, judge
from resolute.engine.experiments.searching import closing_event, feed
from resolute.engine.jobs.task_kind import Ending
from resolute.engine.notices import microseconds
from resolute.engine.platform import Platform
from resolute.engine.ports.logs import LogQuery
from resolute.engine.trials.moves import end_trial, enqueue, finish_if_done, trial_of
from resolute.engine.unit_of_work import Flow

_MAY_RUN = frozenset({ExperimentState.ACTIVE, ExperimentState.STOPPING_COMPLETED})
"""A search that is over still lets its last trials finish, also after a failure."""


def trial_ended(current: Flow, ending: Ending) -> None:
    """Judge the end of a trial's processes, move the trial, tell the searcher, queue what comes next."""
    policies: PolicyVerdict = ending.findings
    trial = _apply_policies(current, trial_of(current.tx, ending.task), policies)
    experiment = current.tx.experiments.get(trial.experiment_id)
    max_restarts = 0 if ending.is_final else int(experiment.config.get("max_restarts", 5))
    cancelled = policies.matched[0] if policies.cancel_retries else ""
    verdict = judge(trial, ending.allocation, ending.exit, max_restarts=max_restarts, retries_cancelled=cancelled)
    verdict = _check_searcher_metric(current, experiment, trial, verdict)
    _carry_out(current, experiment, trial, verdict)


def read_log_policies(platform: Platform, allocation: Allocation, exit: Exit) -> PolicyVerdict:
    """What this run's log sets off. Read once, after the end, so that no line is missed or counted twice."""
    if exit.code == 0:
        return PolicyVerdict()
    with platform.store.read() as tx:
        trial = trial_of(tx, tx.tasks.get(allocation.task_id))
        policies = parse_log_policies(tx.experiments.get(trial.experiment_id).config.get("log_policies") or [])
    if not policies:
        return PolicyVerdict()
    node_id = allocation.shares[0].node_id if allocation.shares else ""
    query = LogQuery(since_us=microseconds(allocation.start_time or allocation.created_at))
    return judge_log(policies, ((line.text, node_id) for line in platform.logs.read(trial.task_id, query)))


def _apply_policies(current: Flow, trial: Trial, policies: PolicyVerdict) -> Trial:
    if not policies.matched:
        return trial
    nodes = tuple(sorted({*trial.excluded_nodes, *policies.excluded_nodes}))
    trial = replace(trial, excluded_nodes=nodes, log_policy_matched=policies.matched[0])
    current.tx.trials.save(trial)
    for reason in policies.reasons:
        current.tell(trial.task_id, reason, LogLevel.WARNING)
    return trial


def _check_searcher_metric(current: Flow, experiment: Experiment, trial: Trial, verdict: Verdict) -> Verdict:
    """A trial that validated but never reported what the searcher looks at has not done its job."""
    if verdict.next is not Next.END or verdict.state is not TrialState.COMPLETED:
        return verdict
    if trial.searcher_metric_value is not None or trial.early_exit:
        return verdict
    names = sorted(s.name for s in current.tx.metrics.summaries(trial.id) if s.group == VALIDATION)
    wanted = experiment.searcher_metrics
    if not names or set(wanted) <= set(names):
        return verdict
    return Verdict(
        Next.END,
        TrialState.ERROR,
        f"The searcher's metric {', '.join(wanted)} was never reported; validation metrics reported: "
        f"{', '.join(names)}. Set searcher.metric to one of these, or report it.",
    )


def _carry_out(current: Flow, experiment: Experiment, trial: Trial, verdict: Verdict) -> None:
    if verdict.next is Next.END:
        _end(current, experiment, trial, verdict)
        return
    if verdict.next is Next.RESTART:
        trial = replace(trial, restarts=trial.restarts + 1)
        current.tx.trials.save(trial)
        limit = experiment.config.get("max_restarts", 5)
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
