"""How many replicas: the mean of a window, sudden load at once, none when idle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.autoscaling import replicas_for
from resolute.domain.deployment import Scaling
from resolute.domain.traffic import Load

WIDE = Scaling(min_replicas=1, max_replicas=10, target=4.0, window_s=60)
TO_ZERO = Scaling(min_replicas=0, max_replicas=4, idle_s=30)


def wanted(scaling: Scaling, load: Load, *, current: int = 1, idle_s: float = 0.0, waiting: int = 0) -> int:
    return replicas_for(scaling, load, current=current, idle_s=idle_s, waiting=waiting)


@pytest.mark.parametrize(("concurrency", "replicas"), [(0, 1), (4, 1), (4.1, 2), (8, 2), (39, 10), (400, 10)])
def test_a_steady_load_gets_one_replica_per_target(concurrency: float, replicas: int) -> None:
    load = Load(concurrency=[concurrency] * 60, rate=[1.0] * 60)

    assert wanted(WIDE, load, current=replicas) == replicas


def test_rate_can_be_the_measure() -> None:
    scaling = Scaling(max_replicas=10, metric="rate", target=50)

    assert wanted(scaling, Load(rate=[140.0] * 60, concurrency=[1.0] * 60), current=3) == 3


def test_a_short_burst_within_the_target_changes_nothing() -> None:
    load = Load(concurrency=[0.0] * 58 + [6.0] * 2, rate=[1.0] * 60)

    assert wanted(WIDE, load) == 1


def test_a_load_that_doubles_is_not_waited_for() -> None:
    load = Load(concurrency=[0.0] * 54 + [20.0] * 6, rate=[1.0] * 60)

    assert wanted(WIDE, load) == 5


def test_a_dip_does_not_take_replicas_away_at_once() -> None:
    load = Load(concurrency=[20.0] * 54 + [0.0] * 6, rate=[1.0] * 60)

    assert wanted(WIDE, load, current=5) == 5


def test_idle_long_enough_means_none() -> None:
    assert wanted(TO_ZERO, Load(), idle_s=29.9) == 1
    assert wanted(TO_ZERO, Load(), idle_s=30.0) == 0


def test_who_waits_gets_a_replica_at_once() -> None:
    assert wanted(TO_ZERO, Load(), current=0, idle_s=0.0, waiting=1) == 1


def test_none_stay_none_while_nobody_asks() -> None:
    assert wanted(TO_ZERO, Load(rate=[0.0] * 60), current=0, idle_s=0.0) == 0


def test_a_deployment_that_keeps_one_never_goes_to_none() -> None:
    assert wanted(Scaling(min_replicas=1, max_replicas=3), Load(), idle_s=1e9) == 1


def test_without_any_sample_the_least_is_kept() -> None:
    assert wanted(Scaling(min_replicas=2, max_replicas=3), Load()) == 2


@given(
    least=st.integers(0, 5),
    more=st.integers(0, 5),
    values=st.lists(st.floats(0, 1e6), max_size=60),
    current=st.integers(0, 20),
    idle_s=st.floats(0, 1e4),
    waiting=st.integers(0, 5),
)
def test_the_limits_hold_whatever_the_load(
    least: int, more: int, values: list[float], current: int, idle_s: float, waiting: int
) -> None:
    scaling = Scaling(min_replicas=least, max_replicas=max(1, least + more))

    replicas = wanted(scaling, Load(concurrency=values, rate=values), current=current, idle_s=idle_s, waiting=waiting)

    assert least <= replicas <= scaling.max_replicas
    assert replicas >= 1 or not waiting
