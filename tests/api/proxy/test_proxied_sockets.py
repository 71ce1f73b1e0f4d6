"""Websockets to a task through the master, and tunnels to one that speaks SSH."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from resolute.domain.task import TaskType


def open_socket(world: Any, task: str, path: str = "ws", **options: Any) -> ClientConnection:
    headers = options.pop("headers", {"Authorization": f"Bearer {world.token}"})
    url = f"ws://{world.served.address}/proxy/{task}/{path}"
    return connect(url, additional_headers=headers, proxy=None, max_size=None, compression=None, **options)


def test_messages_go_both_ways_as_they_are(world: Any, behind: Any, task: str) -> None:
    with open_socket(world, task, "api/kernels/k%20?session_id=1", subprotocols=["v1.kernel", "v0"]) as client:  # type: ignore[list-item]
        client.send("text")
        text = client.recv()
        client.send(b"\x00bytes" * 100_000)
        blob = client.recv()
        chosen = client.subprotocol

    (seen,) = behind.seen
    assert (text, blob, chosen) == ("text", b"\x00bytes" * 100_000, "v1.kernel")
    assert (seen.path, seen.query) == (f"/proxy/{task}/api/kernels/k%20".encode(), b"session_id=1")
    assert seen.values("host") == [world.served.address]
    assert world.token not in str(seen.headers)


def test_the_task_closes_with_its_own_code_and_reason(world: Any, behind: Any, task: str) -> None:
    with open_socket(world, task) as client:
        client.send("bye")
        with pytest.raises(ConnectionClosed) as closed:
            client.recv()

    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4001, "as you wish")


def refusal(world: Any, task: str, **headers: str) -> int:
    with pytest.raises(InvalidStatus) as refused:
        open_socket(world, task, headers=headers)
    return refused.value.response.status_code


def test_who_may_not_use_the_task_gets_no_websocket(world: Any, behind: Any, task: str) -> None:
    cookie = f"auth={world.token}"

    assert refusal(world, task) == 401
    assert refusal(world, "nothing", Authorization=f"Bearer {world.token}") == 404
    assert refusal(world, task, Cookie=cookie) == 403, "a browser says which page opens it"
    assert refusal(world, task, Cookie=cookie, Origin="http://evil.example") == 403
    assert behind.seen == []
    with open_socket(world, task, headers={"Cookie": cookie, "Origin": world.url}) as client:
        client.send("in")
        assert client.recv() == "in"


def test_a_redirect_of_a_websocket_is_not_followed(world: Any, behind: Any, task: str) -> None:
    async def respond(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"location", b"ws://127.0.0.1:1/elsewhere")]
        await send({"type": "websocket.http.response.start", "status": 302, "headers": headers})
        await send({"type": "websocket.http.response.body", "body": b""})

    behind.respond = respond

    assert refusal(world, task, Authorization=f"Bearer {world.token}") == 302
    assert len(behind.seen) == 1


def test_a_websocket_ends_with_the_session_that_opened_it(world: Any, behind: Any, task: str) -> None:
    with open_socket(world, task) as client:
        client.send("in")
        assert client.recv() == "in"
        httpx.post(f"{world.url}/api/v1/auth/logout", headers=dict(world.http.headers))
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=20)

    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, "Log in again" in closed.value.rcvd.reason) == (1008, True)


def test_open_websockets_are_counted_and_their_messages_are_use(world: Any, behind: Any, task: str) -> None:
    with open_socket(world, task) as client:
        world.clock.forward(60)
        client.send("in")
        client.recv()
        during = world.platform.visits.open_connections(task)
        last = world.platform.visits.last_activity(task)

    assert (during, last) == (1, world.clock.now)


def test_a_task_that_reads_no_messages_slows_the_sender_down(world: Any, behind: Any, task: str) -> None:
    go_on, sent = threading.Event(), []

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await asyncio.to_thread(go_on.wait, 30)
        while (await receive())["type"] != "websocket.disconnect":
            pass

    behind.respond = respond
    with open_socket(world, task) as client:

        def write() -> None:
            for number in range(256):
                client.send(b"x" * 1024**2)
                sent.append(number)

        writer = threading.Thread(target=write)
        writer.start()
        writer.join(2)  # systems hold some tens of MB on the way
        while_stuck = len(sent)
        go_on.set()
        writer.join(30)

    assert while_stuck < 200
    assert len(sent) == 256


# --------------------------------------------------------------------------------------------------------- tunnels


@pytest.fixture
def echo() -> Iterator[int]:
    """A server of bytes, which greets as SSH does and says everything twice."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"SSH-2.0-test\r\n")
            while block := connection.recv(1 << 16):
                connection.sendall(block)

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@pytest.fixture
def shell(world: Any, echo: int) -> str:
    return str(world.start(f"127.0.0.1:{echo}", TaskType.SHELL))


def test_a_tunnel_carries_bytes_and_needs_no_token(world: Any, shell: str) -> None:
    with open_socket(world, shell, "", headers={}) as client:
        greeting = client.recv()
        client.send(b"\x00" * 200_000)
        back = b""
        while len(back) < 200_000:
            part = client.recv()
            assert isinstance(part, bytes)
            back += part

    assert (greeting, back) == (b"SSH-2.0-test\r\n", b"\x00" * 200_000)


def test_a_tunnel_takes_no_text(world: Any, shell: str) -> None:
    with open_socket(world, shell, "", headers={}) as client:
        client.recv()
        client.send("text")
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=20)

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1003


def test_a_wrong_token_opens_no_tunnel(world: Any, shell: str) -> None:
    assert refusal(world, shell, Authorization="Bearer wrong") == 401


def test_a_page_elsewhere_opens_no_tunnel(world: Any, shell: str) -> None:
    assert refusal(world, shell, Origin="http://evil.example") == 403
