"""A connection: whole requests in order, bounded before they are read, and answers that arrive."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolute.serving.http.connection import Connection
from resolute.serving.http.connections import Connections
from resolute.serving.http_message import Request, Response
from resolute.serving.http_site import ModelSite


class Talk:
    """A connection under test, its transport, and an application that answers with the path and the body."""

    def __init__(self, serving: Any, *, max_body_bytes: int = 100, application: Any = None) -> None:
        self.requests: list[Request] = []
        self.notes: list[int] = []
        self.site = ModelSite(
            application or self.echo, lambda _, response, __: self.notes.append(response.status), max_body_bytes
        )
        self.connections = Connections(self.site)
        self.connection = Connection(self.connections)
        self.transport = serving.Transport()
        self.connection.connection_made(self.transport)
        self._serving = serving

    def echo(self, request: Request) -> Response:
        self.requests.append(request)
        return Response([request.path.encode(), b" ", request.body], content_type="text/plain")

    def send(self, data: bytes, *, piece: int = 0) -> "Talk":
        for start in range(0, len(data), piece or len(data)):
            self.connection.data_received(data[start : start + (piece or len(data))])
        return self

    @property
    def answers(self) -> list[Any]:
        return list(self._serving.answers(self.transport.written))


POST = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"


@pytest.mark.parametrize("piece", [1, 2, 7, 1000])
def test_a_request_is_the_same_however_it_is_cut(serving: Any, piece: int) -> None:
    async def test() -> None:
        talk = Talk(serving).send(POST, piece=piece)

        (answer,) = talk.answers
        assert (answer.status, answer.body) == (200, b"/a hello")
        assert answer.headers["content-length"] == "8"
        assert "date" in answer.headers
        assert not talk.transport.is_closed

    serving.run(test)


def test_chunked_bodies_are_put_together(serving: Any) -> None:
    async def test() -> None:
        talk = Talk(serving).send(
            b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        )

        assert talk.requests[0].body == b"abcde"

    serving.run(test)


@pytest.mark.parametrize("url", [b"/p?a=b", b"/p", b"http://host:80/p?a=b"])
def test_the_path_has_no_query_and_no_address(serving: Any, url: bytes) -> None:
    async def test() -> None:
        assert Talk(serving).send(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % url).requests[0].path == "/p"

    serving.run(test)


def test_answers_to_pipelined_requests_come_in_order(serving: Any) -> None:
    async def test() -> None:
        gates: dict[str, asyncio.Event] = {path: asyncio.Event() for path in ("/1", "/2", "/3")}

        async def answer(request: Request) -> Response:
            await gates[request.path].wait()
            return Response([request.path.encode()])

        talk = Talk(serving, application=answer)
        talk.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in (1, 2, 3)))
        gates["/3"].set()
        gates["/2"].set()
        await serving.settle()
        assert talk.answers == []
        gates["/1"].set()
        await serving.settle()

        assert [answer.body for answer in talk.answers] == [b"/1", b"/2", b"/3"]

    serving.run(test)


def test_who_pipelines_too_much_is_not_read_until_there_is_room(serving: Any) -> None:
    async def test() -> None:
        gate = asyncio.Event()

        async def answer(request: Request) -> Response:
            await gate.wait()
            return Response([b""])

        talk = Talk(serving, application=answer).send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 30)
        assert talk.transport.is_paused
        gate.set()
        for _ in range(10):
            await serving.settle()

        assert not talk.transport.is_paused
        assert len(talk.answers) == 30

    serving.run(test)


def test_a_head_request_gets_the_head_alone(serving: Any) -> None:
    async def test() -> None:
        talk = Talk(serving).send(b"HEAD /p HTTP/1.1\r\nHost: x\r\n\r\n")

        assert talk.transport.written.endswith(b"content-length: 3\r\n\r\n")

    serving.run(test)


@pytest.mark.parametrize(
    ("request_bytes", "is_closed"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", True),
        (b"GET / HTTP/1.0\r\nHost: x\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", False),
    ],
)
def test_a_connection_stays_open_unless_asked_otherwise(serving: Any, request_bytes: bytes, is_closed: bool) -> None:
    async def test() -> None:
        talk = Talk(serving).send(request_bytes)

        assert talk.transport.is_closed is is_closed
        assert (talk.answers[0].headers.get("connection") == "close") is is_closed

    serving.run(test)


def test_who_asks_before_sending_is_told_to_go_on(serving: Any) -> None:
    async def test() -> None:
        talk = Talk(serving).send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert talk.transport.written == b"HTTP/1.1 100 Continue\r\n\r\n"

        talk.send(b"hi")

        assert talk.requests[0].body == b"hi"

    serving.run(test)


def test_a_body_announced_too_large_is_refused_before_it_is_sent(serving: Any) -> None:
    async def test() -> None:
        talk = Talk(serving).send(
            b"POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\nExpect: 100-continue\r\n\r\n"
        )

        (answer,) = talk.answers
        assert answer.status == 413
        assert "is 1,073,741,824 bytes or more; this server takes at most 100 bytes" in answer.json["error"]
        assert answer.headers["connection"] == "close"
        assert talk.transport.has_eof
        assert (talk.requests, talk.notes) == ([], [413])

    serving.run(test)


def test_a_chunked_body_is_refused_when_it_passes_the_limit_and_the_rest_is_dropped(serving: Any) -> None:
    async def test() -> None:
        talk = Talk(serving).send(b"POST /big HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")

        for _ in range(5):
            talk.send(b"32\r\n" + b"x" * 50 + b"\r\n")

        assert [answer.status for answer in talk.answers] == [413]
        assert talk.requests == []

    serving.run(test)


def test_a_refusal_waits_for_the_answers_before_it(serving: Any) -> None:
    async def test() -> None:
        gate = asyncio.Event()

        async def answer(request: Request) -> Response:
            await gate.wait()
            return Response([b"first"])

        talk = Talk(serving, application=answer)
        talk.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n")
        assert talk.answers == []
        gate.set()
        await serving.settle()

        assert [answer.status for answer in talk.answers] == [200, 413]

    serving.run(test)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ],
)
def test_what_is_not_http_gets_one_sentence_and_the_door(serving: Any, data: bytes, status: int) -> None:
    async def test() -> None:
        answers = Talk(serving).send(data).answers

        assert answers[-1].status == status
        assert "error" in answers[-1].json
        assert answers[-1].headers["connection"] == "close"

    serving.run(test)


PIECES = [
    b"GET / HTTP/1.1\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 99\r\n",
    b"Expect: 100-continue\r\n",
    b"\r\n",
    b"5\r\nhello\r\n",
    b"\x00",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=20), max_size=8))
def test_no_bytes_whatsoever_break_it_and_every_answer_is_whole(serving: Any, pieces: list[bytes]) -> None:
    async def test() -> None:
        talk = Talk(serving)

        for piece in pieces:
            if piece:
                talk.send(piece)

        final = [answer for answer in talk.answers if answer.is_whole and answer.status != 100]
        assert {answer.status for answer in final} <= {200, 400, 413, 414, 431}
        assert len(final) == len(talk.notes)

    serving.run(test)


def test_a_caller_that_leaves_cancels_its_request(serving: Any) -> None:
    async def test() -> None:
        started = asyncio.Event()
        ended: list[str] = []

        async def answer(request: Request) -> Response:
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise
            raise AssertionError

        talk = Talk(serving, application=answer).send(POST)
        await started.wait()
        talk.connection.connection_lost(None)
        await serving.settle()

        assert (ended, talk.notes) == (["cancelled"], [499])
        assert talk.connections.open == set()

    serving.run(test)


def test_while_the_server_drains_answers_say_that_they_are_the_last(serving: Any) -> None:
    async def test() -> None:
        talk = Talk(serving)
        talk.site.is_draining = True

        talk.send(POST)

        assert talk.answers[0].headers["connection"] == "close"
        assert talk.transport.is_closed

    serving.run(test)


def test_a_connection_is_idle_between_requests_only(serving: Any) -> None:
    async def test() -> None:
        talk = Talk(serving)
        assert talk.connection.is_idle

        talk.send(POST[:-2])
        assert not talk.connection.is_idle
        talk.send(POST[-2:])

        assert talk.connection.is_idle

    serving.run(test)


def test_large_answers_are_written_without_being_joined(serving: Any) -> None:
    async def test() -> None:
        big: Callable[[Request], Response] = lambda request: Response([b"a" * 70_000, memoryview(b"b")])  # noqa: E731

        (answer,) = Talk(serving, application=big).send(POST).answers

        assert len(answer.body) == 70_001

    serving.run(test)
