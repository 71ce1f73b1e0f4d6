"""Every framing vector against the proxy, with a real server behind it: what a client hides in a request never becomes
a request of its own."""

import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.job import Job, JobKind
from resolute.domain.task import Task, TaskType
from resolute.engine.jobs.task_moves import add_task, queue_task
from resolute.engine.unit_of_work import flow

CORPUS = json.loads((Path(__file__).parents[2] / "corpus" / "http_framing.json").read_text())
_SERVED, _PROXIED, _ID = "/serving/smug/", "/proxy/smug-1/", "smug-1"
"""Of one length, so that every length in a vector stays right."""
_SILENT_S = 1.0
CLEAR = ("absolute form, another host", "no host", "a host with a path")


@pytest.fixture
def signed_in(world: Any) -> Iterator[None]:
    """Every request is taken for the user's: a vector has no room for a token."""
    app = world.served.app
    token = f"Bearer {world.token}".encode()

    async def with_token(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"authorization", token)]
        await app.inner(scope, receive, send)

    app.current = with_token
    yield
    app.current = app.inner


@pytest.fixture
def smug(world: Any, behind: Any) -> str:
    with world.platform.store.read() as tx:
        user = tx.users.by_name("determined")
    with flow(world.platform) as current:
        facts: dict[str, Any] = {"user_id": user.id, "workspace_id": 1}
        job = Job(
            id="j",
            kind=JobKind.NOTEBOOK,
            name="n",
            entity_id=_ID,
            submitted_at=current.now,
            queue_position=1.0,
            **facts,
        )
        current.add(job)
        task = Task(id=_ID, type=TaskType.NOTEBOOK, job_id=job.id, start_time=current.now, config={}, **facts)
        add_task(current, task)
        queue_task(current, task, slots=0, resource_pool=job.resource_pool, is_preemptible=False)
    world.listens(_ID, behind.served.address)
    return _ID


def talk(port: int, raw: bytes) -> tuple[bytes, bool]:
    """What comes back, and whether the connection was closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(raw)
        client.settimeout(_SILENT_S)
        received = b""
        try:
            while block := client.recv(1 << 16):
                received += block
        except TimeoutError:
            return received, False
        except ConnectionResetError:
            return received, True
        return received, True


def fault(each: dict[str, Any], received: bytes, is_closed: bool) -> str:
    """Empty when it is right."""
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received) if status != b"100"]
    seen = [[path, int(size)] for path, size in re.findall(r"<(\w*):(\d+)>", received.decode("latin-1"))]
    if any("smuggled" in path for path, _ in seen):
        return f"the hidden request was answered: {received[:300]!r}"
    if each["name"] == "absolute form":
        return "" if seen == [["a", 5]] else f"{statuses}, {seen}"
    if each["wanted"] == "refused":
        is_ended = is_closed or each["name"] in CLEAR
        is_refused = statuses[-1:] and 400 <= statuses[-1] < 500 and is_ended and not seen
        return "" if is_refused or not statuses else f"{statuses}, {'closed' if is_closed else 'open'}, {seen}"
    wanted = [[path, len(body)] for path, body in each["wanted"]]
    return "" if seen == wanted else f"{seen} behind, where {wanted} was sent; {received[:300]!r}"


def test_no_vector_is_read_in_two_ways(world: Any, behind: Any, smug: str, signed_in: None) -> None:
    async def respond(scope: Any, receive: Any, send: Any) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        body = b"<%b:%d>" % (scope["raw_path"].rpartition(b"/")[2], size)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    behind.respond = respond
    vectors = [each["request"].replace(_SERVED, _PROXIED).encode("latin-1") for each in CORPUS]
    with ThreadPoolExecutor(32) as pool:
        answers = pool.map(lambda raw: talk(world.served.port, raw), vectors)
        found = {each["name"]: fault(each, *answer) for each, answer in zip(CORPUS, answers, strict=True)}

    assert {name: why for name, why in found.items() if why} == {}
    assert not [seen for seen in behind.seen if b"smuggled" in seen.path]
