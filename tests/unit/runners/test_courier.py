"""Output on its way to the master: in order, each batch once however often it is sent, bounded while it cannot go."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from resolute.domain.errors import Unavailable
from resolute.domain.gang import Phase
from resolute.domain.log import LogLine as Line
from resolute.domain.log import decode_line, encode_line
from resolute.runners.shepherd.courier import Courier
from resolute.runners.shepherd.master_link import Refused, Replaced
from resolute.runners.shepherd.task_log import TaskLog

PATH = "/api/v1/allocations/a/resources/a.0"


class Master:
    """Takes batches as the real one does; each of its answers may get lost, or be a refusal."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        """Lines and phases, in the order in which they came."""
        self.requests = 0
        self.loses: Callable[[int], bool] = lambda request: False
        self.refusal: Exception | None = None
        self.is_here = threading.Event()
        self.is_here.set()
        self._sequence = 0

    def post(self, path: str, body: bytes) -> bytes:
        self._answer()
        sequence = int(path.removeprefix(f"{PATH}/logs?sequence="))
        assert sequence in (self._sequence, self._sequence + 1)
        if sequence > self._sequence:
            self._sequence = sequence
            self.taken += [decode_line(line, offset=0).text for line in body.splitlines()]
        return self._deliver()

    def post_json(self, path: str, body: Mapping[str, Any]) -> Any:
        self._answer()
        assert path == f"{PATH}/phase"
        if f"<{body['phase']}>" not in self.taken:
            self.taken.append(f"<{body['phase']}>")
        return self._deliver()

    def _answer(self) -> None:
        self.requests += 1
        if self.refusal is not None:
            raise self.refusal
        if not self.is_here.wait(10):
            raise Unavailable("nobody is here")

    def _deliver(self) -> bytes:
        if self.loses(self.requests):
            raise Unavailable("the answer was lost")
        return b""


@pytest.fixture
def master() -> Master:
    return Master()


@pytest.fixture
def courier_of(master: Master) -> Iterator[Callable[..., Courier]]:
    made: list[Courier] = []

    def make(on_replaced: Callable[[], None] = lambda: None, **options: int) -> Courier:
        made.append(Courier(master, PATH, on_replaced=on_replaced, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    master.is_here.set()
    for each in made:
        each.close()


def line(text: str) -> bytes:
    return encode_line(Line(10**15, text))


def arrive(courier: Courier) -> None:
    """Woken by the courier itself: it tells whoever waits when something has arrived."""
    with courier._changed:
        assert courier._changed.wait_for(lambda: courier._is_refused or not courier._waiting, 20)


def test_lines_and_phases_arrive_once_and_in_the_order_in_which_they_were_said(
    master: Master, courier_of: Callable[..., Courier]
) -> None:
    courier = courier_of()
    courier.report(Phase.STARTING)
    courier.write(line("one") + line("two"))
    courier.report(Phase.RUNNING)
    courier.write(line("three"))

    arrive(courier)

    assert master.taken == ["<STARTING>", "one", "two", "<RUNNING>", "three"]


@pytest.mark.parametrize("lost", [2, 3])
def test_answers_that_get_lost_double_nothing(master: Master, courier_of: Callable[..., Courier], lost: int) -> None:
    master.loses = lambda request: request % lost == 0
    courier = courier_of()

    for number in range(4):
        courier.write(line(f"line {number}"))
        courier.report(list(Phase)[number + 1])
    arrive(courier)

    assert [each for each in master.taken if each.startswith("line")] == [f"line {number}" for number in range(4)]
    assert master.requests > 8


def test_what_waits_is_bounded_and_what_is_lost_is_counted_where_it_would_have_been(
    master: Master, courier_of: Callable[..., Courier]
) -> None:
    master.is_here.clear()
    texts = [f"line {number} {'x' * 200}" for number in range(9)]
    courier = courier_of(backlog_bytes=3 * len(line(texts[0])))
    log = TaskLog(os.devnull, write=lambda _, records: courier.write(records))

    for text in texts[:8]:
        log.append(line(text))
    master.is_here.set()
    arrive(courier)
    log.append(line(texts[8]))
    arrive(courier)

    missing = "5 lines of output are missing here: there was no room to write them."
    assert master.taken == [*texts[:3], missing, texts[8]]


def test_once_it_is_refused_nothing_waits_any_more(master: Master, courier_of: Callable[..., Courier]) -> None:
    master.refusal = Refused("This is no request of the master's.")
    courier = courier_of()
    courier.write(line("one"))

    arrive(courier)

    assert courier.is_idle
    assert courier.write(line("two")) == len(line("two"))
    assert (master.taken, master.requests) == ([], 1)


def test_whoever_runs_the_node_is_told_that_the_allocation_is_over(
    master: Master, courier_of: Callable[..., Courier]
) -> None:
    master.refusal = Replaced("The allocation has ended.")
    told = threading.Event()
    courier = courier_of(on_replaced=told.set)

    courier.write(line("one"))

    assert told.wait(20)
    assert courier.is_idle
