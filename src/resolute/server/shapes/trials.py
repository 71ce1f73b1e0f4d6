"""Trials as messages."""

from datetime import datetime

from resolute.domain.metric import MetricReport
from resolute.engine.trials.views import TrialView
from resolute.server.shapes.checkpoints import checkpoint_workload
from resolute.server.shapes.metrics import metrics_message, summary_metrics
from resolute.server.shapes.states import trial_state
from resolute.spec.wire import trials as wire


def trial_message(view: TrialView, *, now: datetime, waiting: str = "") -> wire.Trial:
    trial = view.trial
    return wire.Trial(
        id=trial.id,
        experiment_id=trial.experiment_id,
        start_time=trial.start_time,
        end_time=trial.end_time,
        state=trial_state(trial.state, view.allocation),
        restarts=trial.restarts,
        hparams=trial.hparams,
        total_batches_processed=trial.total_batches,
        best_validation=workload(view.best) if view.best else None,
        latest_validation=workload(view.latest) if view.latest else None,
        best_checkpoint=checkpoint_workload(view.best_checkpoint) if view.best_checkpoint else None,
        runner_state=trial.runner_state,
        wall_clock_time=((trial.end_time or now) - trial.start_time).total_seconds(),
        warm_start_checkpoint_uuid=trial.warm_start_checkpoint or "",
        task_id=trial.task_id,
        task_ids=[trial.task_id],
        total_checkpoint_size=view.checkpoint_size,
        checkpoint_count=view.checkpoint_count,
        summary_metrics=summary_metrics(view.summaries),
        searcher_metric_value=trial.searcher_metric_value,
        log_retention_days=trial.log_retention_days,
        metadata=trial.metadata,
        log_policy_matched=trial.log_policy_matched or None,
        seed=trial.seed,
        run_id=trial.run_id,
        progress=trial.progress,
        exit_reason=trial.exit_reason,
        waiting_reason=waiting,
        request_id=trial.request_id,
    )


def workload(report: MetricReport, *, with_batches: bool = False) -> wire.MetricsWorkload:
    return wire.MetricsWorkload(
        end_time=report.report_time,
        metrics=metrics_message(report, with_batches=with_batches),
        total_batches=report.steps_completed,
    )
