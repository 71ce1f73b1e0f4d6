"""One websocket, passed on to a task message by message, or unwrapped into bytes for one that speaks SSH.

Each side is read no faster than the other takes it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.server.errors import answer
from resolute.server.http_protocol import MAX_MESSAGE_BYTES
from resolute.server.proxy.headers import Visit, to_browser, to_task
from resolute.server.proxy.requests import CONNECT_S
from resolute.server.proxy.target import Target

log = logging.getLogger(__name__)

_BLOCK_BYTES = 64 * 1024
_NOT_SENT = frozenset({1005, 1006, 1015})
"""Close codes that say that none was sent."""
WRONG_KIND, GONE = 1003, 1001

Pump = Coroutine[Any, Any, None]
Until = Callable[[], Coroutine[Any, Any, tuple[int, str]]]
"""Waits until a websocket must end, and says with which code and why."""


class _Connect(connect):
    """One that goes where it was told to, and nowhere else."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def pass_on(
    socket: WebSocket,
    target: Target,
    visit: Visit,
    path: bytes,
    *,
    active: Callable[[], None],
    until: Until,
) -> None:
    """Until one side ends, or `until` says why it must. `active` is called for each message to the task."""
    try:
        task = await _open(socket, target, visit, path)
    except InvalidStatus as refused:
        await socket.send_denial_response(_denial(refused, visit, target))
        return
    except (OSError, InvalidHandshake, TimeoutError, EOFError) as problem:
        why = Unavailable(
            f"Task {target.task_id} takes no websocket at {target.address} ({problem}). Its log says more."
        )
        await socket.send_denial_response(answer(why))
        return
    except (InvalidURI, ValueError) as problem:
        await socket.send_denial_response(answer(InvalidInput(f"This websocket cannot be opened: {problem}.")))
        return
    assert task.response is not None
    try:
        passed = to_browser(
            [(k.encode(), v.encode("latin-1")) for k, v in task.response.headers.raw_items()], visit, ""
        )
        await socket.accept(subprotocol=task.subprotocol, headers=passed)
        await _until_one_ends(socket, _to_task(socket, task, active), _from_task(socket, task), until)
    finally:
        await task.close(GONE)


async def tunnel(socket: WebSocket, target: Target, *, active: Callable[[], None], until: Until) -> None:
    """Bytes, for a task that speaks no HTTP."""
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_connection(target.host, target.port), CONNECT_S)
    except (OSError, TimeoutError) as problem:
        why = Unavailable(f"Task {target.task_id} does not take connections at {target.address} ({problem}).")
        await socket.send_denial_response(answer(why))
        return
    try:
        await socket.accept()
        await _until_one_ends(socket, _to_bytes(socket, writer, active), _from_bytes(socket, reader), until)
    finally:
        writer.close()


async def _open(socket: WebSocket, target: Target, visit: Visit, path: bytes) -> ClientConnection:
    offered = [Subprotocol(name) for name in socket.scope.get("subprotocols") or []]
    headers = to_task(socket.scope["headers"], visit, is_socket=True)
    return await _Connect(
        # The name is the one the task is to read in Host; where it goes is said beside it.
        f"ws://{visit.host}{path.decode()}",
        host=target.host,
        port=target.port,
        subprotocols=offered or None,
        additional_headers=[(name.decode(), value.decode("latin-1")) for name, value in headers],
        user_agent_header=None,
        compression=None,
        proxy=None,
        open_timeout=30.0,
        max_size=MAX_MESSAGE_BYTES,
        ping_interval=30.0,
        ping_timeout=60.0,
    )


def _denial(refused: InvalidStatus, visit: Visit, target: Target) -> Response:
    given = refused.response
    response = Response(bytes(given.body or b""), status_code=given.status_code)
    headers = to_browser(
        [(k.encode(), v.encode("latin-1")) for k, v in given.headers.raw_items()], visit, target.address
    )
    response.raw_headers = [(k, v) for k, v in headers if k != b"content-length"] + [
        (b"content-length", str(len(response.body)).encode())
    ]
    return response


async def _until_one_ends(socket: WebSocket, to_task: Pump, from_task: Pump, until: Until) -> None:
    pumps = [asyncio.ensure_future(to_task), asyncio.ensure_future(from_task)]
    ending = asyncio.ensure_future(until())
    try:
        await asyncio.wait({*pumps, ending}, return_when=asyncio.FIRST_COMPLETED)
        if ending.done() and socket.application_state is WebSocketState.CONNECTED:
            await _close(socket, *ending.result())
    finally:
        for each in (*pumps, ending):
            each.cancel()
        results = await asyncio.gather(*pumps, ending, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(
                result, (ConnectionClosed, WebSocketDisconnect, OSError)
            ):
                log.warning("a websocket was ended: %r", result)


# ------------------------------------------------------------------------------------------------------- messages


async def _to_task(socket: WebSocket, task: ClientConnection, active: Callable[[], None]) -> None:
    async for message in _received(socket, task):
        active()
        await task.send(message)


async def _received(socket: WebSocket, task: ClientConnection) -> AsyncIterator[str | bytes]:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            code = message.get("code") or GONE
            await task.close(GONE if code in _NOT_SENT else code, (message.get("reason") or "")[:120])
            return
        data = message.get("bytes")
        yield message["text"] if data is None else data


async def _from_task(socket: WebSocket, task: ClientConnection) -> None:
    try:
        async for message in task:
            if isinstance(message, str):
                await socket.send_text(message)
            else:
                await socket.send_bytes(message)
    except ConnectionClosed:
        pass
    code = task.close_code or GONE
    await _close(socket, GONE if code in _NOT_SENT else code, task.close_reason or "")


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    # A frame that closes has room for 123 bytes of a reason.
    await socket.close(code, reason.encode()[:120].decode(errors="ignore"))


# ----------------------------------------------------------------------------------------------------------- bytes


async def _to_bytes(socket: WebSocket, writer: asyncio.StreamWriter, active: Callable[[], None]) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        data = message.get("bytes")
        if data is None:
            await _close(socket, WRONG_KIND, "A tunnel takes binary messages.")
            return
        active()
        writer.write(data)
        await writer.drain()


async def _from_bytes(socket: WebSocket, reader: asyncio.StreamReader) -> None:
    while block := await reader.read(_BLOCK_BYTES):
        await socket.send_bytes(block)
    await _close(socket, 1000, "")
