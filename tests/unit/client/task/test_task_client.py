"""The master as a task sees it: what is raised, what is repeated, what is kept open, and how a wait ends."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from resolute.client.task.client import TaskClient
from resolute.client.task.fake import TOKEN, FakeTaskMaster
from resolute.client.task.retry import RetryRule
from resolute.domain.errors import (
    AlreadyExists,
    Fenced,
    Forbidden,
    InvalidInput,
    NotFound,
    NotSupported,
    ResoluteError,
    Unauthenticated,
    Unavailable,
    Untrusted,
)

RULE = RetryRule(first_pause_s=1.0, longest_pause_s=3.0, give_up_after_s=10.0)


@pytest.fixture
def master() -> Iterator[FakeTaskMaster]:
    with FakeTaskMaster() as running:
        yield running


@pytest.fixture
def client(master: FakeTaskMaster) -> Iterator[TaskClient]:
    client = TaskClient(master.url, TOKEN)
    yield client
    client.close()


def answering(answer: httpx.Response | Exception) -> TaskClient:
    def handle(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return TaskClient("http://fake:8080", "t", transport=httpx.MockTransport(handle))


def body(**given: Any) -> dict[str, Any]:
    return {"error": {"code": 0, "reason": "x", "error": "s", **given}}


@pytest.mark.parametrize(
    ("status", "sent", "kind"),
    [
        (400, body(), InvalidInput),
        (401, body(), Unauthenticated),
        (403, body(), Forbidden),
        (404, body(), NotFound),
        (409, body(type="fenced"), Fenced),
        (409, body(code=10), Fenced),
        (409, body(), AlreadyExists),
        (418, body(), InvalidInput),
        (501, body(), NotSupported),
        (302, {}, InvalidInput),
        *((status, body(), Unavailable) for status in (408, 425, 429, 500, 502, 503, 504, 507)),
        (429, body(type="too_many_requests"), Unavailable),
    ],
)
def test_an_error_answer_says_whether_the_same_call_may_work_later(
    status: int, sent: Any, kind: type[ResoluteError]
) -> None:
    with pytest.raises(kind, match=rf"^The master refused POST /x with {status}: ") as caught:
        answering(httpx.Response(status, json=sent)).post("/x")

    assert type(caught.value) is kind


def test_an_answer_of_something_in_between_is_quoted() -> None:
    with pytest.raises(Unavailable, match="with 502: <h1>Bad Gateway</h1>"):
        answering(httpx.Response(502, text="<h1>Bad Gateway</h1>")).get("/x")


def test_a_master_that_is_away_is_named() -> None:
    with pytest.raises(Unavailable, match=r"Master http://fake:8080 does not answer \(ConnectError\)"):
        answering(httpx.ConnectError("refused")).get("/x")


def test_one_connection_serves_many_calls(client: TaskClient, master: FakeTaskMaster) -> None:
    for _ in range(5):
        client.post("/x", {"a": 1})

    assert master.connections == 1


def test_outside_an_allocation_there_is_no_client() -> None:
    assert TaskClient.of({"DET_MASTER": "http://m:8080"}) is None
    assert TaskClient.of({"DET_SESSION_TOKEN": "t"}) is None


def test_a_wait_ends_when_it_is_broken_off(client: TaskClient, master: FakeTaskMaster) -> None:
    ended: list[float] = []

    def wait() -> None:
        with pytest.raises(Unavailable):
            client.wait("/signals/preemption?timeout_seconds=30", timeout_s=40.0)
        ended.append(time.monotonic())

    thread = threading.Thread(target=wait)
    thread.start()
    master.wait_for_a_poll()
    started = time.monotonic()
    client.break_off_waits()
    thread.join(10.0)

    assert ended
    assert ended[0] - started < 5.0


def test_after_it_was_broken_off_nothing_is_waited_for(client: TaskClient, master: FakeTaskMaster) -> None:
    client.break_off_waits()

    with pytest.raises(Unavailable, match="was closed"):
        client.wait("/signals/preemption?timeout_seconds=30", timeout_s=40.0)
    assert client.post("/still/there") == {}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, pause_s: float) -> None:
        self.pauses.append(pause_s)
        self.now += pause_s


def failing(*errors: Exception) -> Any:
    left = list(errors)

    def call() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return call


def test_an_outage_is_waited_out_with_growing_pauses() -> None:
    clock = Clock()
    call = failing(*[Unavailable("away")] * 4)

    assert RULE.run(call, sleep=clock.sleep, clock=clock) == "done"
    assert clock.pauses == [1.0, 2.0, 3.0, 3.0]


def test_an_outage_that_lasts_is_reported_in_the_end() -> None:
    clock = Clock()

    with pytest.raises(Unavailable, match="away"):
        RULE.run(failing(*[Unavailable("away")] * 99), sleep=clock.sleep, clock=clock)
    assert clock.now <= 10.0


@pytest.mark.parametrize("error", [NotFound("x"), Forbidden("x"), Untrusted("x")])
def test_what_waiting_cannot_mend_is_raised_at_once(error: ResoluteError) -> None:
    clock = Clock()

    with pytest.raises(type(error)):
        RULE.run(failing(error), sleep=clock.sleep, clock=clock)
    assert clock.pauses == []
