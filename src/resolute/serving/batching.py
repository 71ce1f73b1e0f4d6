"""Requests wait here until a model is free, and go to it together.

`BatchPolicy` decides, and is pure. `Batcher` holds the queue, on one event loop. A free model takes a lone request at
once; while it works, others gather; when it is done and there has been company, it waits a moment for the same
callers to come back, never longer than a batch takes.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from resolute.domain.errors import ResoluteError, Unavailable
from resolute.serving.limits import Overloaded, TimedOut, error_of
from resolute.serving.settings import Limits
from resolute.serving.worker_frames import Buffer, Call, Item, Outcome

_SHORTEST_WAIT_S = 0.001
"""What timers can keep. A model that answers faster gains nothing from waiting."""
_MEMORY = 0.2


class Worker(Protocol):
    """Something that runs one call at a time."""

    def run(self, call: Call, buffers: list[Buffer]) -> "asyncio.Future[Answers]": ...

    def give_up(self, reason: str) -> None:
        """It does not answer any more: end it. The future of its call then fails."""


Answers = list[tuple[Outcome, list[Buffer]]]


class Watch(Protocol):
    """Who wants to know how it goes; `metrics` is the real one."""

    def batch_done(self, requests: int, instances: int, seconds: float) -> None: ...

    def queue_changed(self, waiting: int) -> None: ...


@dataclass(slots=True)
class BatchPolicy:
    """How long a free model waits before it takes what is there. Pure: times come in."""

    max_batch_size: int
    max_delay_s: float
    _crowd: int = 1
    """Instances that were about when the last batch ended: in it, or waiting."""
    _batch_s: float = 0.0
    """What a batch takes, smoothed."""

    def wait_s(self, waiting: int, *, free_for_s: float) -> float:
        """0: go now."""
        limit = min(self.max_delay_s, self._batch_s)
        if limit < _SHORTEST_WAIT_S or waiting >= min(self._crowd, self.max_batch_size):
            return 0.0
        return max(0.0, limit - free_for_s)

    def ended(self, size: int, *, waiting: int, seconds: float) -> None:
        self._crowd = size + waiting
        self._batch_s = seconds if not self._batch_s else self._batch_s + _MEMORY * (seconds - self._batch_s)

    def drained_in_s(self, waiting: int, workers: int) -> float:
        """Roughly, for Retry-After."""
        return waiting / self.max_batch_size / max(1, workers) * self._batch_s


@dataclass(frozen=True, slots=True)
class Reply:
    outcome: Outcome
    buffers: list[Buffer]
    batch: int
    """How many requests went to the model together."""


@dataclass(slots=True, eq=False)
class _Job:
    verb: str
    item: Item
    buffers: list[Buffer]
    weight: int
    future: "asyncio.Future[Reply]"


@dataclass(slots=True, eq=False)
class _Free:
    worker: Worker
    since: float


@dataclass(slots=True, eq=False)
class Batcher:
    """One model's queue. Requests of one kind that follow one another make a batch."""

    limits: Limits
    watch: Watch
    policy: BatchPolicy = field(init=False)
    _queue: deque[_Job] = field(default_factory=deque)
    _weight: int = 0
    _free: list[_Free] = field(default_factory=list)
    _workers: set[Worker] = field(default_factory=set)
    _timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self.policy = BatchPolicy(self.limits.max_batch_size, self.limits.max_batch_delay_ms / 1000)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def add(self, worker: Worker) -> None:
        self._workers.add(worker)
        self._release(worker)

    def remove(self, worker: Worker) -> None:
        """It takes no more calls; what it was working on fails by itself."""
        self._workers.discard(worker)
        self._free = [free for free in self._free if free.worker is not worker]

    def fail_all(self, reason: str) -> None:
        """Nobody will come for what waits."""
        while self._queue:
            _settle(self._forget(self._queue[0]), Unavailable(reason))

    async def submit(self, verb: str, item: Item, buffers: list[Buffer]) -> Reply:
        """Raises what the model raised for this request, Overloaded, TimedOut, or Unavailable when its process died.

        Cancelling it takes the request out of the queue.
        """
        if len(self._queue) >= self.limits.max_queue:
            self._refuse()
        loop = asyncio.get_running_loop()
        job = _Job(verb, item, buffers, item.instances or 1, loop.create_future())
        self._queue.append(job)
        self._weight += job.weight
        self.watch.queue_changed(len(self._queue))
        self._pump()
        timer = loop.call_later(self.limits.timeout_s, self._expire, job)
        try:
            return await job.future
        finally:
            timer.cancel()
            if job.future.cancelled():
                self._forget(job)

    def _refuse(self) -> None:
        after = max(1, math.ceil(self.policy.drained_in_s(len(self._queue), len(self._workers))))
        raise Overloaded(
            f"{len(self._queue)} requests are waiting already, the most this server lets wait. Try again in {after} s.",
            retry_after_s=after,
        )

    def _expire(self, job: _Job) -> None:
        self._forget(job)
        _settle(job, TimedOut(f"The model did not answer in {self.limits.timeout_s:g} s."))

    def _forget(self, job: _Job) -> _Job:
        try:
            self._queue.remove(job)
        except ValueError:
            return job
        self._weight -= job.weight
        self.watch.queue_changed(len(self._queue))
        return job

    def _pump(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while self._free and self._queue:
            free = self._free[-1]
            wait_s = self.policy.wait_s(self._weight, free_for_s=time.perf_counter() - free.since)
            if wait_s > 0:
                self._timer = loop.call_later(wait_s, self._pump)
                return
            self._free.pop()
            self._dispatch(free.worker, self._take())

    def _take(self) -> list[_Job]:
        batch = [self._queue.popleft()]
        weight = batch[0].weight
        while self._queue and self._queue[0].verb == batch[0].verb:
            if weight + self._queue[0].weight > self.limits.max_batch_size:
                break
            batch.append(self._queue.popleft())
            weight += batch[-1].weight
        self._weight -= weight
        self.watch.queue_changed(len(self._queue))
        return batch

    def _dispatch(self, worker: Worker, batch: list[_Job]) -> None:
        loop = asyncio.get_running_loop()
        started = time.perf_counter()
        call = Call(batch[0].verb, [job.item for job in batch])
        # By then every request of the batch has had its 504: nobody is left to wait for.
        timer = loop.call_later(
            self.limits.timeout_s, worker.give_up, f"it did not answer in {self.limits.timeout_s:g} s"
        )

        def ended(future: "asyncio.Future[Answers]") -> None:
            timer.cancel()
            self._ended(worker, batch, future, time.perf_counter() - started)

        worker.run(call, [buffer for job in batch for buffer in job.buffers]).add_done_callback(ended)

    def _ended(self, worker: Worker, batch: list[_Job], future: "asyncio.Future[Answers]", seconds: float) -> None:
        problem = Unavailable("The model is being taken down.") if future.cancelled() else future.exception()
        if problem is None:
            _hand_out(batch, future.result())
            size = sum(job.weight for job in batch)
            self.policy.ended(size, waiting=self._weight, seconds=seconds)
            self.watch.batch_done(len(batch), size, seconds)
        else:
            for job in batch:
                _settle(job, problem)
        self._release(worker)

    def _release(self, worker: Worker) -> None:
        if worker in self._workers:
            self._free.append(_Free(worker, time.perf_counter()))
        self._pump()


def _hand_out(batch: Sequence[_Job], answers: Answers) -> None:
    for job, (outcome, buffers) in zip(batch, answers, strict=True):
        if outcome.code:
            _settle(job, error_of(outcome.code, outcome.message))
        elif not job.future.done():
            job.future.set_result(Reply(outcome, buffers, len(batch)))


def _settle(job: _Job, problem: BaseException) -> None:
    if job.future.done():
        return
    job.future.set_exception(problem if isinstance(problem, ResoluteError) else Unavailable(str(problem)))
