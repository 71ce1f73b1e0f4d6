"""A replica that does not answer, or does worse than the others, gets no requests until it recovers."""

import pytest

from resolute.domain.replica_health import (
    FIRST_EJECTION_S,
    FORGIVEN_AFTER_S,
    HUNG_AFTER_S,
    HUNG_MISSED,
    LONGEST_EJECTION_S,
    MOST_MISSED,
    WINDOW_S,
    Ejection,
    Health,
    Probes,
    Recent,
    Record,
    outliers,
)

# --------------------------------------------------------------------------------------------------------- probes


def miss(probes: Probes, times: int, start: float = 0.0, step: float = 1.0) -> float:
    for number in range(times):
        probes.missed(start + number * step, "no answer")
    return start + (times - 1) * step


def test_a_replica_is_healthy_until_it_says_otherwise() -> None:
    assert Probes(0.0).health(1000.0) is Health.HEALTHY


@pytest.mark.parametrize(
    ("status", "health"), [(200, Health.HEALTHY), (404, Health.HEALTHY), (500, Health.UNREADY), (503, Health.UNREADY)]
)
def test_what_a_probe_is_answered_counts_at_once(status: int, health: Health) -> None:
    probes = Probes(0.0)

    probes.answered(1.0, status)

    assert probes.health(1.0) is health
    assert (str(status) in probes.reason) is (health is Health.UNREADY)


def test_one_lost_answer_is_no_reason_and_two_are() -> None:
    probes = Probes(0.0)

    miss(probes, MOST_MISSED - 1)
    assert (probes.health(1.0), probes.is_doubtful) == (Health.HEALTHY, True)
    probes.missed(2.0, "no answer within 1 s")

    assert (probes.health(2.0), probes.is_doubtful) == (Health.UNREADY, False)
    assert probes.reason == "2 probes in a row failed: no answer within 1 s"


def test_who_says_nothing_for_long_is_hung_and_one_answer_brings_it_back() -> None:
    probes = Probes(0.0)

    last = miss(probes, int(HUNG_AFTER_S))
    assert probes.health(last) is Health.UNREADY
    assert probes.health(HUNG_AFTER_S) is Health.HUNG
    probes.answered(HUNG_AFTER_S + 1, 200)

    assert probes.health(HUNG_AFTER_S + 1) is Health.HEALTHY
    assert probes.reason == ""


def test_a_prober_that_slept_takes_nobody_for_hung() -> None:
    probes = Probes(0.0)

    miss(probes, HUNG_MISSED - 1, start=3600.0, step=0.0)

    assert probes.health(3600.0) is Health.UNREADY


def test_a_server_that_answers_requests_is_not_hung_though_it_misses_probes() -> None:
    probes = Probes(0.0)
    last = miss(probes, 20)

    probes.worked(last)

    assert probes.health(last + HUNG_AFTER_S - 1) is Health.UNREADY
    assert probes.health(last + HUNG_AFTER_S) is Health.HUNG


def test_who_may_be_silent_while_it_works_may_until_it_was_seen_to_do_both() -> None:
    probes = Probes(0.0, hung_after_s=10.0, busy_s=60.0)
    miss(probes, 40)

    assert (probes.health(69.0), probes.health(70.0)) == (Health.UNREADY, Health.HUNG)
    probes.answers_while_busy = True
    assert probes.health(10.0) is Health.HUNG


def test_how_long_may_be_set() -> None:
    probes = Probes(0.0, hung_after_s=60.0)

    last = miss(probes, 30)

    assert probes.health(last) is Health.UNREADY
    assert probes.health(60.0) is Health.HUNG


# ------------------------------------------------------------------------------------------------------- outliers

GOOD = Recent(requests=100, errors=1, p50_s=0.02)
FAILING = Recent(requests=100, errors=80, p50_s=0.02)
SLOW = Recent(requests=100, errors=0, p50_s=0.5)


def test_one_that_fails_beside_others_that_do_not_is_ejected() -> None:
    assert outliers({"a": GOOD, "b": FAILING}) == {"b": "80 of its last 100 requests failed, against 1% of the others'"}


def test_one_that_is_much_slower_is_ejected() -> None:
    assert outliers({"a": GOOD, "b": SLOW}) == {"b": "its median is 500 ms, against 20 ms of the others"}


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ({"a": FAILING}, "there is nobody else"),
        ({"a": FAILING, "b": FAILING}, "the model fails, not a replica"),
        ({"a": SLOW, "b": SLOW}, "the model is slow"),
        ({"a": GOOD, "b": Recent(requests=9, errors=9)}, "too few requests"),
        ({"a": Recent(requests=3), "b": FAILING}, "too few to compare with"),
        ({"a": GOOD, "b": Recent(requests=100, p50_s=0.09)}, "slower, but only by what is noise"),
        ({"a": Recent(requests=100, p50_s=1.0), "b": Recent(requests=100, p50_s=2.0)}, "not three times as slow"),
        ({"a": GOOD, "b": Recent(requests=100, errors=100)}, None),
    ],
)
def test_nobody_is_ejected_for_nothing(records: dict[str, Recent], why: str | None) -> None:
    assert (outliers(records) == {}) is (why is not None), why


@pytest.mark.parametrize("count", range(2, 9))
def test_never_more_than_half_are_ejected(count: int) -> None:
    records = {str(n): FAILING if n < count // 2 else GOOD for n in range(count)}
    records["0"] = SLOW

    found = outliers(records)
    more = outliers({**records, str(count - 1): FAILING}, out=list(found))

    assert len(found) == count // 2
    assert more == {}


def test_those_that_are_out_count_against_the_half() -> None:
    records = {"a": GOOD, "b": GOOD, "c": FAILING, "d": FAILING}

    assert list(outliers(records, out=["a"])) == ["c"]
    assert outliers(records, out=["a", "b"]) == {}


def test_a_record_forgets_what_is_long_ago() -> None:
    record = Record(0.0)
    for _ in range(20):
        record.ended(1.0, 0.01, is_error=True)

    record.ended(WINDOW_S + 1, 0.01, is_error=False)
    both = record.recent(WINDOW_S + 2)
    later = record.recent(4 * WINDOW_S)

    assert (both.requests, both.errors) == (21, 20)
    assert (later.requests, later.errors, later.p50_s) == (0, 0, None)


def test_errors_do_not_make_a_replica_look_fast() -> None:
    record = Record(0.0)
    for _ in range(20):
        record.ended(0.0, 0.0001, is_error=True)
    record.ended(0.0, 0.5, is_error=False)

    assert (record.recent(0.0).p50_s or 0) > 0.4


def test_who_returns_and_fails_again_rests_longer_up_to_a_bound() -> None:
    ejection = Ejection()
    rests, now = [], 0.0
    for _ in range(8):
        ejection.eject(now, "it fails")
        rests.append(ejection.until - now)
        now = ejection.until

    assert rests[:3] == [FIRST_EJECTION_S, 2 * FIRST_EJECTION_S, 4 * FIRST_EJECTION_S]
    assert max(rests) == LONGEST_EJECTION_S


def test_who_did_well_for_a_while_is_forgiven() -> None:
    ejection = Ejection()
    for _ in range(4):
        ejection.eject(ejection.until, "it fails")

    later = ejection.until + FORGIVEN_AFTER_S + 1
    ejection.eject(later, "it fails")

    assert ejection.until - later == FIRST_EJECTION_S
    assert ejection.is_out(later)
    assert not ejection.is_out(ejection.until)
