"""How long the logs of trials are kept."""

from resolute.domain import needs
from resolute.domain.errors import InvalidInput
from resolute.engine.platform import Platform
from resolute.engine.trials import log_retention as engine
from resolute.server.auth import Caller, PlatformOf
from resolute.server.resource import Resource
from resolute.server.routes.projects import for_each
from resolute.spec.wire import experiments as wire_experiments
from resolute.spec.wire import tasks as wire_tasks
from resolute.spec.wire import trials as wire
from resolute.spec.wire.base import Empty

router = Resource(tags=["logs"])


@router.put("/api/v1/experiments/{experiment_id}/retain_logs", needs=needs.EDIT_EXPERIMENT)
def put_experiment_retain_logs(experiment_id: int, body: wire.RetainLogsRequest, platform: PlatformOf) -> Empty:
    """Of all its trials. -1 days: until the experiment is deleted."""
    engine.keep_logs_of_experiment(platform, experiment_id, _days(body))
    return Empty()


@router.put("/api/v1/trials/{trial_id}/retain_logs", needs=needs.EDIT_EXPERIMENT)
def put_trial_retain_logs(trial_id: int, body: wire.RetainLogsRequest, platform: PlatformOf) -> Empty:
    engine.keep_logs(platform, [trial_id], _days(body))
    return Empty()


@router.put("/api/v1/projects/{project_id}/experiments/retain_logs", needs=needs.EDIT_EXPERIMENT.in_body)
def put_experiments_retain_logs(
    project_id: int, body: wire_experiments.BulkRetainLogsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    days = _days(body)

    def keep(platform: Platform, experiment_id: int) -> None:
        engine.keep_logs_of_experiment(platform, experiment_id, days)

    return for_each(platform, caller, project_id, body, keep)


def _days(body: wire.RetainLogsRequest | wire_experiments.BulkRetainLogsRequest) -> int:
    if body.num_days is None:
        raise InvalidInput("numDays: say for how many days logs are kept; -1 keeps them.")
    return body.num_days


@router.get("/api/v1/trials/{trial_id}/remaining_log_retention_days", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_trial_remaining_log_retention_days(trial_id: int, platform: PlatformOf) -> wire.RemainingLogRetentionDays:
    """Null: logs are kept until the experiment is deleted, or the trial has not ended."""
    with platform.store.read() as tx:
        trial = tx.trials.get(trial_id)
    return wire.RemainingLogRetentionDays(remaining_days=engine.remaining_days(platform, trial))


@router.post("/api/v1/cleanup_logs", needs=needs.EDIT_MASTER_CONFIG)
def cleanup_logs(platform: PlatformOf) -> wire_tasks.CleanupLogsResponse:
    """Removes now what the master removes by itself within the hour."""
    return wire_tasks.CleanupLogsResponse(removed_count=engine.remove_expired_logs(platform))
