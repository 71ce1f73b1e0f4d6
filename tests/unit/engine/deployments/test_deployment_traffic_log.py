"""What the router counted, kept for an hour and read in steps."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from resolute.domain.routing import DeploymentCounts, RevisionCounts, RouterCounts
from resolute.domain.traffic import bucket_of
from resolute.engine.deployments.traffic import TrafficLog

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def counts(
    requests: int, *, errors: int = 0, in_flight: int = 0, started: str = "a", waiting: int = 0, revision: int = 1
) -> RouterCounts:
    revisions = {
        revision: RevisionCounts(
            requests=requests, errors=errors, in_flight=in_flight, buckets={bucket_of(0.01): requests}
        )
    }
    deployment = DeploymentCounts(asked=requests, waiting=waiting, revisions=revisions)
    return RouterCounts(started=started, version=1, deployments={7: deployment})


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_totals_become_what_happened_in_between() -> None:
    log = TrafficLog()

    log.record(counts(100), at(0))
    log.record(counts(130, errors=3, in_flight=2), at(1))
    points = log.points(7, now=at(1), seconds=60, step_s=1)

    assert [(p.revision, p.requests, p.errors, p.in_flight) for p in points] == [(1, 30, 3, 2)]
    assert points[0].p50_s == pytest.approx(0.01, rel=0.16)


def test_what_was_counted_before_this_master_says_nothing_about_now() -> None:
    log = TrafficLog()

    log.record(counts(1_000_000), at(0))

    assert log.points(7, now=at(0), seconds=60, step_s=1) == []
    assert log.outcome(7, 1, since=NOON).requests == 0


def test_another_router_counts_anew() -> None:
    log = TrafficLog()
    log.record(counts(500), at(0))
    log.record(counts(600), at(1))

    log.record(counts(20, started="b"), at(2))

    assert [p.requests for p in log.points(7, now=at(2), seconds=60, step_s=1)] == [100, 20]


def test_steps_join_samples() -> None:
    log = TrafficLog()
    for second in range(21):
        log.record(counts(10 * second), at(second))

    points = log.points(7, now=at(20), seconds=60, step_s=10)

    assert [p.requests for p in points] == [90, 100, 10]
    assert [p.time for p in points] == [at(0), at(10), at(20)]


def test_load_is_per_second_and_only_as_long_as_it_was_watched() -> None:
    log = TrafficLog()
    for second in range(5):
        log.record(counts(10 * second, in_flight=second), at(second))

    load = log.load(7, 1, now=at(4), window_s=60)

    assert list(load.rate) == [10.0] * 4
    assert list(load.concurrency) == [1.0, 2.0, 3.0, 4.0]


def test_outcomes_cover_the_time_asked_for() -> None:
    log = TrafficLog()
    log.record(counts(0), at(0))
    log.record(counts(100, errors=50), at(1))
    log.record(counts(150, errors=50), at(10))

    assert log.outcome(7, 1, since=at(0)).error_rate == pytest.approx(1 / 3)
    assert log.outcome(7, 1, since=at(5)).errors == 0


def test_idle_counts_from_the_last_request_or_from_when_watching_began() -> None:
    log = TrafficLog()
    log.record(counts(5), at(0))
    log.record(counts(5), at(10))
    watched = log.idle_s(7, now=at(20), since=at(-100))
    log.record(counts(6), at(30))

    assert watched == 20
    assert log.idle_s(7, now=at(40), since=at(-100)) == 10
    assert log.idle_s(7, now=at(40), since=at(38)) == 2


def test_a_request_that_waits_is_no_idling() -> None:
    log = TrafficLog()
    log.record(counts(5), at(0))
    log.record(counts(5, waiting=1), at(50))

    assert log.idle_s(7, now=at(51), since=at(-100)) == 1
    assert log.of(7).waiting == 1


def test_the_first_request_of_a_new_deployment_is_seen() -> None:
    log = TrafficLog()
    log.record(replace(counts(0), deployments={}), at(0))
    log.record(counts(3), at(60))

    assert log.idle_s(7, now=at(61), since=at(-100)) == 1
    assert log.outcome(7, 1, since=at(0)).requests == 3


def test_an_hour_is_kept() -> None:
    log = TrafficLog()
    for minute in range(90):
        log.record(counts(minute), at(60 * minute))

    assert len(log._series[(7, 1)].samples) == 61


def test_a_deleted_deployment_is_forgotten() -> None:
    log = TrafficLog()
    log.record(counts(0), at(0))
    log.record(counts(9), at(1))

    log.forget(7)

    assert log.points(7, now=at(2), seconds=60, step_s=1) == []
    assert log.of(99) == DeploymentCounts()


def test_percentiles_of_a_while_are_those_of_its_requests_not_means_of_each_second() -> None:
    log = TrafficLog()
    slow = {bucket_of(0.01): 99, bucket_of(1.0): 1}
    log.record(counts(0), at(0))
    seen = RevisionCounts(requests=99, buckets={bucket_of(0.01): 99})
    log.record(replace(counts(0), deployments={7: DeploymentCounts(asked=99, revisions={1: seen})}), at(1))
    seen = RevisionCounts(requests=100, buckets=slow)
    log.record(replace(counts(0), deployments={7: DeploymentCounts(asked=100, revisions={1: seen})}), at(2))

    (recent,) = log.recent(7, now=at(2), seconds=30)

    assert (recent.revision, recent.requests) == (1, 100)
    assert recent.p50_s == pytest.approx(0.01, rel=0.16)
    assert recent.p95_s == pytest.approx(0.01, rel=0.16)
