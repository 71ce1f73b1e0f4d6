"""The split is exact for any percentage and any stretch of requests; sticky values stay where they are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.traffic import (
    Outcome,
    bucket_of,
    pick,
    position_of_number,
    position_of_value,
    quantile,
    upper_end,
)


@pytest.mark.parametrize("percent", [0, 1, 5, 10, 30, 33, 50, 77, 99, 100])
@pytest.mark.parametrize("first", [1, 12_345, 4_000_000_000])
def test_ten_thousand_requests_are_split_within_a_tenth_of_a_percent(percent: int, first: int) -> None:
    split = ((2, float(percent)), (1, float(100 - percent)))

    picked = [pick(split, position_of_number(n)) for n in range(first, first + 10_000)]

    assert abs(picked.count(2) / 100 - percent) <= 0.1


@given(percent=st.integers(0, 100), first=st.integers(0, 2**40), count=st.integers(100, 1000))
def test_any_stretch_of_requests_has_its_share(percent: int, first: int, count: int) -> None:
    split = ((2, float(percent)), (1, float(100 - percent)))

    picked = sum(pick(split, position_of_number(n)) == 2 for n in range(first, first + count))

    assert abs(picked - count * percent / 100) <= 4


def test_clients_that_ask_in_turns_all_see_the_canary() -> None:
    split = ((2, 10.0), (1, 90.0))

    for client in range(10):
        picked = [pick(split, position_of_number(n)) for n in range(client, 10_000, 10)]
        assert abs(picked.count(2) / len(picked) - 0.1) < 0.02


def test_without_a_canary_everything_goes_to_the_stable_revision() -> None:
    assert {pick(((7, 100.0),), position_of_number(n)) for n in range(1000)} == {7}


def test_sticky_values_are_spread_as_asked() -> None:
    split = ((2, 30.0), (1, 70.0))

    picked = [pick(split, position_of_value(f"user-{n}")) for n in range(20_000)]

    assert abs(picked.count(2) / 20_000 - 0.3) < 0.01


@given(value=st.text(max_size=40), smaller=st.integers(0, 100), larger=st.integers(0, 100))
def test_who_is_in_the_canary_stays_there_when_it_grows(value: str, smaller: int, larger: int) -> None:
    smaller, larger = sorted((smaller, larger))
    before = pick(((2, float(smaller)), (1, float(100 - smaller))), position_of_value(value))

    after = pick(((2, float(larger)), (1, float(100 - larger))), position_of_value(value))

    assert before == 1 or after == 2


@given(st.floats(0.0001, 1000))
def test_a_time_is_counted_within_fifteen_percent(seconds: float) -> None:
    end = upper_end(bucket_of(seconds))

    assert seconds <= end * 1.000001
    assert end <= max(seconds * 1.16, 0.0001)


@pytest.mark.parametrize("seconds", [0.0, 1e-9, math.inf, 1e9])
def test_times_out_of_range_are_counted_at_the_ends(seconds: float) -> None:
    if math.isinf(seconds):
        seconds = 1e300

    assert 0 <= bucket_of(seconds) < 120


def test_quantiles_of_nothing_are_unknown() -> None:
    assert quantile({}, 0.5) is None


def test_quantiles_follow_the_counts() -> None:
    buckets = {bucket_of(0.001): 90, bucket_of(0.1): 10}

    assert quantile(buckets, 0.5) == pytest.approx(0.001, rel=0.16)
    assert quantile(buckets, 0.95) == pytest.approx(0.1, rel=0.16)


def test_a_revision_without_requests_has_no_errors() -> None:
    assert Outcome().error_rate == 0.0
    assert Outcome(requests=4, errors=1).error_rate == 0.25
