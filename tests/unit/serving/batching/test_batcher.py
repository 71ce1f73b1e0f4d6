"""The queue before a model: order, bounds, deadlines, and what happens when a worker dies."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.serving.batching import Answers, Batcher
from resolute.serving.limits import Overloaded, TimedOut
from resolute.serving.settings import Limits
from resolute.serving.worker_frames import Buffer, Call, Item, Outcome


class HandWorker:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.calls: list[tuple[Call, list[bytes]]] = []
        self.futures: list[asyncio.Future[Answers]] = []
        self.given_up = ""

    def run(self, call: Call, buffers: list[Buffer]) -> "asyncio.Future[Answers]":
        self.calls.append((call, [bytes(buffer) for buffer in buffers]))
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]

    def give_up(self, reason: str) -> None:
        self.given_up = reason
        self.futures[-1].set_exception(Unavailable(reason))

    def finish(self) -> None:
        """Echo the call that is running."""
        call, buffers = self.calls[-1]
        self.futures[-1].set_result([(Outcome(), [buffer]) for _, buffer in zip(call.items, buffers, strict=True)])


class Quiet:
    def __init__(self) -> None:
        self.batches: list[int] = []
        self.waiting = 0

    def batch_done(self, requests: int, instances: int, seconds: float) -> None:
        self.batches.append(instances)

    def queue_changed(self, waiting: int) -> None:
        self.waiting = waiting


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 5))  # type: ignore[arg-type]


def batcher(*workers: HandWorker, **limits: Any) -> Batcher:
    made = Batcher(Limits(**{"max_batch_delay_ms": 0, **limits}), Quiet())
    for worker in workers:
        made.add(worker)
    return made


def submit(queue: Batcher, value: bytes, *, verb: str = "predict", instances: int = 1) -> "asyncio.Task[Any]":
    return asyncio.get_running_loop().create_task(queue.submit(verb, Item(instances=instances), [value]))


async def settle() -> None:
    """Everything that can run now has run."""
    for _ in range(5):
        await asyncio.sleep(0)


def sizes(worker: HandWorker) -> list[int]:
    return [len(call.items) for call, _ in worker.calls]


def test_a_lone_request_goes_at_once_and_the_rest_gathers_while_it_runs() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker)

        tasks = [submit(queue, b"%d" % number) for number in range(4)]
        await settle()
        worker.finish()
        await settle()
        worker.finish()

        replies = await asyncio.gather(*tasks)
        assert sizes(worker) == [1, 3]
        assert [bytes(reply.buffers[0]) for reply in replies] == [b"0", b"1", b"2", b"3"]
        assert [reply.batch for reply in replies] == [1, 3, 3, 3]

    run(test)


def test_a_batch_holds_no_more_instances_than_the_limit_but_a_large_request_is_never_split() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker, max_batch_size=4)

        for count in (1, 2, 2, 9, 1):
            submit(queue, b"x", instances=count)
        for _ in range(4):
            await settle()
            worker.finish()

        assert [[item.instances for item in call.items] for call, _ in worker.calls] == [[1], [2, 2], [9], [1]]

    run(test)


def test_calls_of_different_kinds_do_not_share_a_batch() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker)

        tasks = [submit(queue, b"x", verb=verb) for verb in ("predict", "predict", "infer", "predict")]
        for _ in range(4):
            await settle()
            worker.finish()

        await asyncio.gather(*tasks)
        assert [call.verb for call, _ in worker.calls] == ["predict", "predict", "infer", "predict"]

    run(test)


def test_free_workers_share_the_queue() -> None:
    async def test() -> None:
        workers = [HandWorker(), HandWorker()]
        queue = batcher(*workers)

        tasks = [submit(queue, b"x") for _ in range(2)]
        await settle()

        assert [sizes(worker) for worker in workers] == [[1], [1]]
        for worker in workers:
            worker.finish()
        await asyncio.gather(*tasks)

    run(test)


def test_one_more_than_may_wait_is_told_when_to_come_back() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker, max_queue=2)
        tasks = [submit(queue, b"x") for _ in range(3)]
        await settle()

        with pytest.raises(Overloaded, match=r"2 requests are waiting already.*Try again in 1 s") as refusal:
            await queue.submit("predict", Item(instances=1), [b"x"])

        assert refusal.value.retry_after_s == 1
        worker.finish()
        await settle()
        worker.finish()
        await asyncio.gather(*tasks)

    run(test)


def test_a_request_that_takes_too_long_is_given_up_and_so_is_its_worker() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker, timeout_s=0.01)

        with pytest.raises(TimedOut, match=r"did not answer in 0.01 s"):
            await queue.submit("predict", Item(instances=1), [b"x"])
        await asyncio.sleep(0.01)

        assert worker.given_up == "it did not answer in 0.01 s"

    run(test)


def test_a_request_that_times_out_in_the_queue_never_reaches_the_model() -> None:
    async def test() -> None:
        queue = batcher(timeout_s=0.01)

        with pytest.raises(TimedOut):
            await queue.submit("predict", Item(instances=1), [b"x"])

        assert queue.waiting == 0

    run(test)


def test_a_caller_that_leaves_takes_its_request_out_of_the_queue() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker)
        running, waiting, other = (submit(queue, value) for value in (b"a", b"b", b"c"))
        await settle()

        waiting.cancel()
        await settle()
        worker.finish()
        await settle()
        worker.finish()

        await asyncio.gather(running, other)
        assert [buffers for _, buffers in worker.calls] == [[b"a"], [b"c"]]

    run(test)


def test_a_caller_that_leaves_while_the_model_works_disturbs_nobody() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker)
        leaving = submit(queue, b"a")
        await settle()

        leaving.cancel()
        await settle()
        worker.finish()
        staying = submit(queue, b"b")
        await settle()
        worker.finish()

        assert bytes((await staying).buffers[0]) == b"b"

    run(test)


def test_each_request_of_a_batch_gets_its_own_ending() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker)
        first, bad, good = (submit(queue, value) for value in (b"a", b"b", b"c"))
        await settle()
        worker.finish()
        await settle()

        refused = Outcome(code="invalid_input", message="Instance 0 is no picture.")
        worker.futures[-1].set_result([(refused, []), (Outcome(), [b"c"])])

        await first
        with pytest.raises(InvalidInput, match="Instance 0 is no picture"):
            await bad
        assert (await good).buffers == [b"c"]

    run(test)


def test_when_a_worker_dies_its_requests_fail_and_those_that_wait_go_to_the_next() -> None:
    async def test() -> None:
        worker, successor = HandWorker(), HandWorker()
        queue = batcher(worker)
        running, waiting = submit(queue, b"a"), submit(queue, b"b")
        await settle()

        queue.remove(worker)
        worker.futures[-1].set_exception(Unavailable("The model process ended (SIGKILL)."))
        await settle()
        queue.add(successor)
        await settle()
        successor.finish()

        with pytest.raises(Unavailable, match="SIGKILL"):
            await running
        assert bytes((await waiting).buffers[0]) == b"b"
        assert len(worker.calls) == 1

    run(test)


def test_when_nobody_will_come_all_that_wait_are_told_why() -> None:
    async def test() -> None:
        queue = batcher()
        waiting = [submit(queue, b"a"), submit(queue, b"b")]
        await settle()

        queue.fail_all("Model m was unloaded.")

        for task in waiting:
            with pytest.raises(Unavailable, match="was unloaded"):
                await task
        assert queue.waiting == 0

    run(test)


def test_after_company_a_model_waits_for_the_others_to_come_back() -> None:
    async def test() -> None:
        worker = HandWorker()
        queue = batcher(worker, max_batch_delay_ms=2000)
        # As after a batch of two that took a second.
        queue.policy.ended(2, waiting=0, seconds=1)
        queue.remove(worker)
        queue.add(worker)

        first = submit(queue, b"a")
        await settle()
        assert worker.calls == []
        second = submit(queue, b"b")
        await settle()

        assert sizes(worker) == [2]
        worker.finish()
        await asyncio.gather(first, second)

    run(test)
