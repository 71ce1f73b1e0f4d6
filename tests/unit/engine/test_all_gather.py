"""Peers of one allocation exchange a value each."""

import pytest

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.engine.jobs.allocations import AllGather, gathered


def test_everyone_gets_the_values_of_all() -> None:
    gather = AllGather()

    first = gather.join("a.1", "p0", 2, {"rank": 0})
    with pytest.raises(Unavailable, match="1 of 2 peers"):
        gathered(first)
    second = gather.join("a.1", "p1", 2, {"rank": 1})

    assert gathered(first) == gathered(second) == [{"rank": 0}, {"rank": 1}]


def test_a_second_round_does_not_see_the_first_ones_values() -> None:
    gather = AllGather()
    gather.join("a.1", "p0", 1, "old")

    again = gather.join("a.1", "p0", 1, "new")

    assert gathered(again) == ["new"]


def test_a_repeated_request_counts_once() -> None:
    gather = AllGather()
    gather.join("a.1", "p0", 2, 1)

    repeated = gather.join("a.1", "p0", 2, 1)

    assert not repeated.done.is_set()


def test_a_round_without_peers_is_refused() -> None:
    with pytest.raises(InvalidInput, match="numPeers: 0"):
        AllGather().join("a.1", "p0", 0, None)
