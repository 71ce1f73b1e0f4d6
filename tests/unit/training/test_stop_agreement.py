"""All ranks must say the same thing at the same call, and say it cheaply."""

from typing import Any

from resolute.training.environment import Place
from resolute.training.stopping import StopAgreement, StopWatcher


class Silent:
    """A master nobody hears from."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args: None


class Room:
    """Joins ranks that a test steps one after the other: everyone says its pair, then everyone learns the largest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.exchanges = 0
        self._pairs: list[tuple[int, int]] = []
        self.answer = (0, 0)

    def collect(self, first: int, second: int) -> tuple[int, int]:
        self._pairs.append((first, second))
        self.answer = (max(a for a, _ in self._pairs), max(b for _, b in self._pairs))
        if len(self._pairs) == self.size:
            self._pairs = []
            self.exchanges += 1
        return self.answer


class Chair:
    def __init__(self, room: Room) -> None:
        self._room = room

    def highest(self, first: int, second: int) -> tuple[int, int]:
        return self._room.collect(first, second)


def test_alone_the_flag_is_the_answer() -> None:
    watcher = StopWatcher(Silent())  # type: ignore[arg-type]
    agreement = StopAgreement(watcher, Place())

    before = agreement.should_stop()
    watcher.request("test")

    assert (before, agreement.should_stop()) == (False, True)


def test_a_request_that_the_last_rank_hears_reaches_all_at_one_exchange() -> None:
    room = Room(2)
    watchers = [StopWatcher(Silent()) for _ in range(2)]  # type: ignore[arg-type]
    # The rank that heard speaks first here; the all-reduce of the real exchange has no order.
    ranks = [StopAgreement(watchers[rank], Place(rank=rank, size=2), every_s=0.0) for rank in (1, 0)]
    for rank in ranks:
        rank.join(Chair(room))

    first = [rank.should_stop() for rank in ranks]
    watchers[1].request("SIGTERM")
    second = [rank.should_stop() for rank in ranks]

    assert first == [False, False]
    assert second == [True, True]


def test_fast_steps_are_not_slowed_by_an_exchange_each() -> None:
    room = Room(1)
    agreement = StopAgreement(StopWatcher(Silent()), Place(size=2), every_s=3600.0)  # type: ignore[arg-type]
    agreement.join(Chair(room))

    for _ in range(10_000):
        agreement.should_stop()

    assert room.exchanges < 20


def test_the_first_reason_is_the_one_that_is_kept() -> None:
    watcher = StopWatcher(Silent())  # type: ignore[arg-type]

    watcher.request("SIGTERM")
    watcher.request("the master asked it to")

    assert watcher.reason == "SIGTERM"
