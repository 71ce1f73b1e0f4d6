"""When a free model waits for company, and for how long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.serving.batching import BatchPolicy


def policy(*, size: int = 8, delay_s: float = 0.01) -> BatchPolicy:
    return BatchPolicy(size, delay_s)


def test_a_lone_request_never_waits() -> None:
    lonely = policy()

    for _ in range(5):
        assert lonely.wait_s(1, free_for_s=0) == 0
        lonely.ended(1, waiting=0, seconds=0.1)


def test_after_company_a_free_model_waits_for_the_same_callers() -> None:
    busy = policy()
    busy.ended(3, waiting=1, seconds=0.1)

    assert busy.wait_s(1, free_for_s=0) == pytest.approx(0.01)
    assert busy.wait_s(4, free_for_s=0) == 0


def test_it_never_waits_longer_than_a_batch_takes() -> None:
    quick = policy(delay_s=1)
    quick.ended(4, waiting=0, seconds=0.02)

    assert quick.wait_s(1, free_for_s=0) == pytest.approx(0.02)


def test_a_model_that_has_been_free_for_long_does_not_wait_at_all() -> None:
    rested = policy()
    rested.ended(4, waiting=0, seconds=0.1)

    assert rested.wait_s(1, free_for_s=5) == 0


def test_a_model_faster_than_a_timer_does_not_wait() -> None:
    fast = policy()
    fast.ended(8, waiting=8, seconds=0.0004)

    assert fast.wait_s(1, free_for_s=0) == 0


def test_no_delay_means_no_waiting() -> None:
    hasty = policy(delay_s=0)
    hasty.ended(8, waiting=8, seconds=1)

    assert hasty.wait_s(1, free_for_s=0) == 0


def test_a_full_batch_goes_whatever_the_crowd() -> None:
    crowded = policy(size=4)
    crowded.ended(4, waiting=60, seconds=1)

    assert crowded.wait_s(4, free_for_s=0) == 0


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 200), st.floats(0, 10)), max_size=20), st.floats(0, 20))
def test_a_wait_is_bounded_by_the_delay_and_used_up_by_time(
    history: list[tuple[int, int, float]], free_for_s: float
) -> None:
    any_policy = policy(delay_s=0.05)
    for size, waiting, seconds in history:
        any_policy.ended(size, waiting=waiting, seconds=seconds)

    wait_s = any_policy.wait_s(1, free_for_s=free_for_s)

    assert 0 <= wait_s <= 0.05
    assert wait_s == 0 or wait_s + free_for_s <= 0.05 + 1e-9


def test_how_long_a_queue_takes_depends_on_batches_and_workers() -> None:
    known = policy(size=10)
    known.ended(10, waiting=0, seconds=2)

    assert known.drained_in_s(100, workers=2) == pytest.approx(10)
