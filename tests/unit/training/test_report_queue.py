"""The queue between training and the master, against a master that a test scripts."""

import logging
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from resolute.domain.errors import Fenced, InvalidInput, Unavailable
from resolute.training.master import Report
from resolute.training.reports import BATCH, ReportQueue


class Scripted:
    """Fails with each of `failures` in turn, then accepts."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.batches: list[list[Report]] = []
        self.progress: list[float] = []
        self.called = threading.Event()

    def send_reports(self, reports: Sequence[Report]) -> None:
        self.called.set()
        if self.failures:
            raise self.failures.pop(0)
        self.batches.append(list(reports))

    def send_progress(self, progress: float) -> None:
        self.progress.append(progress)

    def steps(self) -> list[int]:
        return [report.steps for batch in self.batches for report in batch]


queues: list[ReportQueue] = []


@pytest.fixture(autouse=True)
def close_queues() -> Iterator[None]:
    yield
    while queues:
        queues.pop().close(1.0)


def queue_to(master: Any, **options: Any) -> ReportQueue:
    queue = ReportQueue(master, interval_s=0.01, **options)
    queues.append(queue)
    return queue


def put(queue: ReportQueue, *steps: int) -> None:
    for step in steps:
        queue.put(("training", step, 0.0, {"loss": 1.0}))


def test_a_failed_batch_is_sent_again_before_anything_newer() -> None:
    master = Scripted(Unavailable("away"), Unavailable("still away"))
    queue = queue_to(master)

    put(queue, 1, 2)
    assert master.called.wait(5)
    put(queue, 3)

    assert queue.flush(5)
    assert master.steps() == [1, 2, 3]


def test_a_batch_has_a_largest_size() -> None:
    master = Scripted(Unavailable("away"))
    queue = queue_to(master)

    put(queue, *range(2 * BATCH + 1))

    assert queue.flush(10)
    assert max(len(batch) for batch in master.batches) <= BATCH
    assert master.steps() == list(range(2 * BATCH + 1))


def test_only_the_newest_progress_is_sent() -> None:
    master = Scripted(Unavailable("away"))
    queue = queue_to(master)
    put(queue, 1)
    assert master.called.wait(5)

    queue.put_progress(0.1)
    queue.put_progress(0.2)

    assert queue.flush(5)
    assert master.progress[-1] == 0.2


def test_what_the_master_refuses_is_dropped_with_its_sentence(caplog: pytest.LogCaptureFixture) -> None:
    master = Scripted(InvalidInput("group has a dot"))
    queue = queue_to(master)

    with caplog.at_level(logging.ERROR, logger="resolute"):
        put(queue, 1)
        assert queue.flush(5)
    put(queue, 2)

    assert queue.flush(5)
    assert master.steps() == [2]
    assert "group has a dot" in caplog.text


def test_a_replaced_run_sends_nothing_more_and_says_so() -> None:
    told: list[Exception] = []
    master = Scripted(Fenced("run 2 has begun"))
    queue = queue_to(master, on_replaced=told.append)

    put(queue, 1)
    queue.flush(5)
    put(queue, 2)

    assert [str(error) for error in told] == ["run 2 has begun"]
    assert master.steps() == []


def test_flush_gives_up_in_time_and_close_tells_what_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    master = Scripted(*[Unavailable("away")] * 1000)
    queue = ReportQueue(master, interval_s=0.01)  # type: ignore[arg-type]
    put(queue, 1, 2, 3)

    with caplog.at_level(logging.WARNING, logger="resolute"):
        assert not queue.flush(0.05)
        assert not queue.close(0.05)

    assert "3 metric reports could not be sent" in caplog.text


def test_a_full_queue_forgets_the_oldest_and_keeps_training_going() -> None:
    master = Scripted(*[Unavailable("away")] * 3)
    queue = queue_to(master, capacity=10)
    put(queue, 0)
    assert master.called.wait(5)

    put(queue, *range(1, 100))

    assert queue.flush(5)
    assert master.steps()[-10:] == list(range(90, 100))
