"""A router that keeps to an old table, or says nothing, is told again and then restarted."""

from datetime import UTC, datetime, timedelta

import pytest

from resolute.domain.router_watch import HAND_OVER_AFTER, RESTART_AFTER, Remedy, RouterWatch
from resolute.domain.routing import RouterCounts

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def counts(version: int) -> RouterCounts:
    return RouterCounts(started="a", version=version)


def test_who_follows_needs_nothing() -> None:
    watch = RouterWatch()

    assert watch.remedy(3, counts(3), NOON, NOON) is Remedy.NONE
    assert watch.remedy(3, counts(4), NOON, NOON + timedelta(seconds=1)) is Remedy.NONE


@pytest.mark.parametrize("is_silent", [False, True])
def test_who_is_behind_is_told_again_once_and_then_restarted(is_silent: bool) -> None:
    watch = RouterWatch()
    seconds = range(2 * int(RESTART_AFTER.total_seconds()) + 1)

    seen = {}
    for second in seconds:
        now = NOON + timedelta(seconds=second)
        told = None if is_silent else counts(2)
        remedy = watch.remedy(3, told, None if is_silent else now, now)
        if remedy is not Remedy.NONE:
            seen[second] = remedy

    again, restart = int(HAND_OVER_AFTER.total_seconds()), int(RESTART_AFTER.total_seconds())
    assert seen == {
        again: Remedy.HAND_OVER,
        restart: Remedy.RESTART,
        restart + again: Remedy.HAND_OVER,
        2 * restart: Remedy.RESTART,
    }


def test_who_catches_up_starts_with_a_clean_slate() -> None:
    watch = RouterWatch()
    watch.remedy(3, counts(2), NOON, NOON)

    later = NOON + RESTART_AFTER
    assert watch.remedy(3, counts(3), later, later) is Remedy.NONE
    assert watch.remedy(4, counts(3), later, later) is Remedy.NONE


def test_a_machine_that_slept_is_no_reason() -> None:
    watch = RouterWatch()
    watch.remedy(3, counts(3), NOON, NOON)

    awake = NOON + timedelta(hours=8)
    assert watch.remedy(3, counts(3), NOON, awake) is Remedy.NONE
    assert watch.remedy(3, counts(3), awake, awake + timedelta(seconds=1)) is Remedy.NONE
