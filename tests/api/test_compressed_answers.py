"""Large JSON answers travel as gzip to callers that take it; streams, small answers and other people's never do."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from resolute.server.encodings import CompressedAnswers

LARGE = json.dumps([f"line {n}" for n in range(2000)]).encode()
JSON = (b"content-type", b"application/json")


def start(*headers: tuple[bytes, bytes], status: int = 200) -> Message:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def part(body: bytes, *, more_body: bool = False) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more_body}


def sized(body: bytes = LARGE) -> tuple[bytes, bytes]:
    return (b"content-length", str(len(body)).encode())


def passed_on(*messages: Message, path: str = "/api/v1/x", method: str = "GET", accept: str = "gzip") -> list[Any]:
    """What a caller gets after each message of an answer: a list of lists."""
    arrived: list[list[Message]] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        for message in messages:
            arrived.append([])
            await send(message)

    async def send(message: Message) -> None:
        arrived[-1].append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    headers = [(b"accept-encoding", accept.encode())]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    asyncio.run(CompressedAnswers(answer)(scope, receive, send))
    return arrived


def test_a_large_answer_is_compressed() -> None:
    [_, [head, body]] = passed_on(start(JSON, sized()), part(LARGE))

    assert gzip.decompress(body["body"]) == LARGE
    assert dict(head["headers"]) == {
        b"content-type": b"application/json",
        b"content-length": str(len(body["body"])).encode(),
        b"content-encoding": b"gzip",
        b"vary": b"Accept-Encoding",
    }
    assert len(body["body"]) < len(LARGE) / 3


def test_caches_are_told_that_the_form_depends_on_the_caller() -> None:
    [[head], [body]] = passed_on(start(JSON, sized()), part(LARGE), accept="br, gzip;q=0")

    assert (b"vary", b"Accept-Encoding") in head["headers"]
    assert body["body"] == LARGE


@pytest.mark.parametrize("more_body", [True, False])
def test_streams_pass_at_once(more_body: bool) -> None:
    messages = start(JSON), part(LARGE, more_body=True), part(LARGE, more_body=more_body)

    assert passed_on(*messages) == [[each] for each in messages]


def test_a_large_answer_in_parts_is_sent_as_it_is() -> None:
    first, last = part(LARGE[:9000], more_body=True), part(LARGE[9000:])

    [none, [head, *now], then] = passed_on(start(JSON, sized()), first, last)

    assert (none, now, then) == ([], [first], [last])
    assert sized() in head["headers"]


@pytest.mark.parametrize(
    "head",
    [
        start(JSON, sized(b"small")),
        start((b"content-type", b"text/event-stream"), sized()),
        start((b"content-type", b"application/octet-stream"), sized()),
        start(JSON, sized(), (b"content-encoding", b"br")),
        start(JSON, sized(), (b"etag", b'"1"')),
        start(JSON, sized(), status=500),
    ],
)
def test_everything_else_stays_as_it_is(head: Message) -> None:
    assert passed_on(head, part(LARGE)) == [[head], [part(LARGE)]]


@pytest.mark.parametrize(
    "request_line",
    [
        {"path": "/proxy/task/data.json"},
        {"path": "/serving/detector/v1/models/detector"},
        {"method": "POST"},
        {"method": "HEAD"},
    ],
)
def test_answers_of_tasks_and_to_other_methods_stay_as_they_are(request_line: dict[str, str]) -> None:
    messages = start(JSON, sized()), part(LARGE)

    assert passed_on(*messages, **request_line) == [[each] for each in messages]


def test_tables_of_the_api_are_compressed(admin: Any) -> None:
    for n in range(30):
        admin.post("/api/v1/workspaces", {"name": f"workspace {n}"})

    answer = admin.client.get("/api/v1/workspaces", headers={**admin.headers, "Accept-Encoding": "gzip"})

    assert answer.headers["content-encoding"] == "gzip"
    assert len(answer.json()["workspaces"]) >= 30
