"""What trials tell the master: metrics and checkpoints. Answered only when durable, repeated safely, fenced by run."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeGuard

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import InvalidInput
from resolute.domain.experiment import Experiment
from resolute.domain.metric import VALIDATION, MetricReport
from resolute.domain.trial import Trial, TrialState
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.experiments.searching import feed
from resolute.engine.jobs.allocation_moves import ask_to_leave, live_allocation
from resolute.engine.jobs.fencing import check_run
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import Flow, flow
from resolute.search.events import Validated
from resolute.spec.length import Length, Unit

PROFILING_GROUPS = frozenset({"cpu", "gpu", "memory", "disk", "network", "throughput"})


def report_metrics(platform: Platform, reports: Sequence[MetricReport]) -> int:
    """Store the reports; returns how many were new. Validations also drive the searcher, once each."""
    if not reports:
        return 0
    for report in reports:
        _check_group(report.group)
    with flow(platform) as current:
        trials = {report.trial_id: current.tx.trials.get(report.trial_id) for report in _one_of_each_trial(reports)}
        for report in reports:
            check_run(trials[report.trial_id], report.run_id)
        if any(report.is_stepless for report in reports):
            reports = _numbered(current, reports)
        fresh = [r for r in reports if r.group == VALIDATION and _is_new(current, r)]
        added = current.tx.metrics.append(reports)
        for trial in trials.values():
            _take_in(
                current,
                trial,
                [report for report in reports if report.trial_id == trial.id],
                [report for report in fresh if report.trial_id == trial.id],
            )
        current.publish(*(f"trial/{trial_id}" for trial_id in trials))
        current.publish(*{f"experiment/{trial.experiment_id}" for trial in trials.values()})
    return added


def _one_of_each_trial(reports: Sequence[MetricReport]) -> Iterable[MetricReport]:
    return {report.trial_id: report for report in reports}.values()


def _numbered(current: Flow, reports: Sequence[MetricReport]) -> list[MetricReport]:
    """Reports without a step follow the last one of their group, whichever run that was; one sent twice is dropped."""
    last: dict[tuple[int, str], MetricReport | None] = {}
    found: list[MetricReport] = []
    for report in reports:
        if report.is_stepless:
            key = (report.trial_id, report.group)
            before = last[key] if key in last else current.tx.metrics.latest(*key)
            if before is not None and before.is_repeated_by(report):
                continue
            report = last[key] = replace(report, steps_completed=0 if before is None else before.steps_completed + 1)
        found.append(report)
    return found


def _check_group(group: str) -> None:
    if not group or "." in group:
        raise InvalidInput(f"Metric group {group!r} is not allowed: name it without dots, e.g. 'training'.")


def _is_new(current: Flow, report: MetricReport) -> bool:
    known = current.tx.metrics.at_steps(report.trial_id, VALIDATION, report.steps_completed)
    if known is None or known.run_id != report.run_id:
        return True
    return not set(report.metrics) <= set(known.metrics)


def _take_in(
    current: Flow, stored: Trial, reports: Sequence[MetricReport], validations: Sequence[MetricReport]
) -> None:
    """What a trial's reports say of itself is written once, and before its searcher hears of a validation."""
    trial = _with_steps(stored, reports)
    for report in validations:
        experiment = current.tx.experiments.get(trial.experiment_id)
        objectives = _objectives(experiment, report)
        if not objectives:
            continue
        trial = _with_best(experiment, trial, next(iter(objectives.values())))
        if trial.is_finished or trial.is_stopping:
            continue
        time = searcher_time(experiment, report)
        if trial.target_length is not None and time >= trial.target_length:
            trial = replace(trial, is_waiting=True)
        _save(current, stored, trial)
        feed(current, experiment, Validated(trial.request_id, time, objectives))
        # The searcher may have stopped it, or raised its target.
        stored = trial = current.tx.trials.get(trial.id)
        _leave_if_waiting(current, trial)
    _save(current, stored, trial)


def _save(current: Flow, stored: Trial, trial: Trial) -> None:
    if trial != stored:
        current.tx.trials.save(trial)


def _with_steps(trial: Trial, reports: Sequence[MetricReport]) -> Trial:
    of_training = (r for r in reports if r.group not in PROFILING_GROUPS)
    steps = max((r.steps_completed for r in of_training if not r.is_stepless), default=0)
    return replace(trial, total_batches=max(trial.total_batches, steps))


def _objectives(experiment: Experiment, report: MetricReport) -> dict[str, float]:
    names = experiment.searcher_metrics
    values = {name: value for name in names if _is_number(value := report.metrics.get(name))}
    return values if len(values) == len(names) else {}


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _with_best(experiment: Experiment, trial: Trial, value: float) -> Trial:
    best = trial.searcher_metric_value
    is_better = best is None or (value < best if experiment.smaller_is_better else value > best)
    return replace(trial, searcher_metric_value=float(value)) if is_better and value == value else trial


def searcher_time(experiment: Experiment, report: MetricReport) -> float:
    """How far the trial had trained at this report, in the searcher's unit."""
    config = configuration_of(experiment)
    steps = float(report.steps_completed)
    if config.searcher.time_metric:
        return _number(report.metrics.get(config.searcher.time_metric), steps)
    length = config.searcher.max_length
    if not isinstance(length, Length) or length.unit is Unit.BATCHES:
        return steps
    records = steps * config.global_batch_size
    if length.unit is Unit.RECORDS:
        return records
    if config.records_per_epoch:
        return records / config.records_per_epoch
    return _number(report.metrics.get("epochs"), steps)


def _number(value: object, otherwise: float) -> float:
    return float(value) if _is_number(value) else otherwise


def _leave_if_waiting(current: Flow, trial: Trial) -> None:
    """The searcher did not raise the target at once: give the slots to somebody else meanwhile."""
    if not trial.is_waiting or trial.state is not TrialState.ACTIVE:
        return
    allocation = live_allocation(current, trial.task_id)
    if allocation is not None:
        ask_to_leave(current, allocation)


def report_checkpoint(platform: Platform, checkpoint: Checkpoint) -> None:
    """Record a whole checkpoint. Idempotent on its uuid. Raises InvalidInput for names that could lead elsewhere."""
    checkpoint.require_storable()
    with flow(platform) as current:
        trial = _trial_of(current, checkpoint)
        if trial is not None:
            check_run(trial, checkpoint.run_id)
            experiment = current.tx.experiments.get(trial.experiment_id)
            checkpoint = replace(
                checkpoint,
                trial_id=trial.id,
                experiment_id=trial.experiment_id,
                storage=checkpoint.storage or configuration_of(experiment).checkpoint_storage.resolved(),
            )
        if current.tx.checkpoints.add(checkpoint):
            current.added(checkpoint)
        if trial is not None and checkpoint.state is CheckpointState.COMPLETED:
            _advance(current, trial, checkpoint)


def describe_checkpoint(platform: Platform, uuid: str, metadata: dict[str, object]) -> None:
    """Replace the metadata that people keep with a checkpoint."""
    with flow(platform) as current:
        checkpoint = current.tx.checkpoints.get(uuid)
        current.change(checkpoint, replace(checkpoint, metadata=metadata))


def _trial_of(current: Flow, checkpoint: Checkpoint) -> Trial | None:
    if checkpoint.trial_id is not None:
        return current.tx.trials.get(checkpoint.trial_id)
    if checkpoint.task_id is not None:
        return current.tx.trials.by_task_id(checkpoint.task_id)
    return None


def _advance(current: Flow, trial: Trial, checkpoint: Checkpoint) -> None:
    total = max(trial.total_batches, checkpoint.steps_completed)
    current.tx.trials.save(replace(trial, latest_checkpoint=checkpoint.uuid, total_batches=total))
    current.publish(f"trial/{trial.id}", f"experiment/{trial.experiment_id}")
