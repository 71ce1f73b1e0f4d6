"""How long logs of ended trials are kept: by the configuration, as somebody changed it, or until they are deleted."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from resolute.domain.errors import InvalidInput
from resolute.domain.trial import Trial
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow

log = logging.getLogger(__name__)
FOREVER = -1
MOST_DAYS = 32767


def keep_logs(platform: Platform, trial_ids: Sequence[int], days: int) -> None:
    """For `days` after the end of each trial; -1: until its experiment is deleted."""
    if not FOREVER <= days <= MOST_DAYS:
        raise InvalidInput(f"numDays: {days} is not a number of days from 0 to {MOST_DAYS}, nor -1 to keep them.")
    with flow(platform) as current:
        for trial in current.tx.trials.of_ids(trial_ids):
            current.change(trial, replace(trial, log_retention_days=days))


def keep_logs_of_experiment(platform: Platform, experiment_id: int, days: int) -> None:
    """Of the trials that it has by now."""
    with platform.store.read() as tx:
        trials = tx.trials.of_experiment(tx.experiments.get(experiment_id).id)
    keep_logs(platform, [trial.id for trial in trials], days)


def remaining_days(platform: Platform, trial: Trial) -> int | None:
    """None: no end is set, or its training has not ended."""
    days = trial.log_retention_days
    if days is None or days == FOREVER or trial.end_time is None:
        return None
    left = trial.end_time + timedelta(days=days) - platform.clock()
    return max(0, -(-left // timedelta(days=1)))


def remove_expired_logs(platform: Platform) -> int:
    """How many logs there were whose time is over, and are gone now."""
    with platform.store.read() as tx:
        trials = tx.trials.with_log_retention()
    now = platform.clock()
    removed = 0
    for trial in trials:
        assert trial.end_time is not None
        assert trial.log_retention_days is not None
        is_over = trial.end_time + timedelta(days=trial.log_retention_days) <= now
        if is_over and platform.logs.size(trial.task_id):
            platform.logs.remove(trial.task_id)
            removed += 1
    if removed:
        log.info("removed the logs of %s trials whose retention is over", removed)
    return removed
