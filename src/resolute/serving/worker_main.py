"""A model process: loads one model and answers calls over the socket it was given, one at a time, until it closes.

Started by `worker_start`, or forked by `worker_child`. The only process of a server in which a model's code runs.
"""

import logging
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path

from resolute.domain.errors import InvalidInput, NotFound, NotSupported, ResoluteError
from resolute.serving.model import Load, Model
from resolute.serving.worker_calls import answer
from resolute.serving.worker_frames import (
    PREFIX_BYTES,
    Buffer,
    Call,
    Done,
    Message,
    Ready,
    Refused,
    Start,
    lengths,
    pack,
    unpack,
)

_FINAL = (InvalidInput, NotFound, NotSupported)
_log = logging.getLogger("resolute.serving")


def main(descriptor: int, confined: str = "") -> None:
    """`confined` says how, for the log."""
    # The server decides when a model process goes: a signal to the whole group must not cut requests off.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    if confined:
        _log.info("%s", confined)
    with socket.socket(fileno=descriptor) as server:
        serve(server)


def serve(server: socket.socket) -> None:
    """Until the other side closes."""
    frame = _receive(server)
    if frame is None or not isinstance(frame[0], Start):
        return
    model = _load(server, frame[0])
    while model is not None and (frame := _receive(server)) is not None:
        message, buffers = frame
        if isinstance(message, Call):
            _reply(server, model, message, buffers)


def find_load(name: str) -> Load:
    """`module:function`. Raises InvalidInput when there is no such thing."""
    module, _, function = name.partition(":")
    try:
        load: Load = getattr(import_module(module), function)
    except (ImportError, AttributeError) as problem:
        raise InvalidInput(f"The loader {name!r} cannot be used: {problem}.") from problem
    return load


def _load(server: socket.socket, start: Start) -> Model | None:
    try:
        model = find_load(start.load)(Path(start.source), start.options)
        parts = pack(Ready(model.metadata))
    except Exception as problem:  # noqa: BLE001, RUF100 - whatever a model's own code raises
        _send(server, pack(Refused(_sentence(start, problem), isinstance(problem, _FINAL))))
        return None
    _send(server, parts)
    return model


def _sentence(start: Start, problem: Exception) -> str:
    if isinstance(problem, ResoluteError):
        return str(problem)
    _log.error("Loading %s failed.", start.source, exc_info=problem)
    return f"Loading {start.source} failed: {type(problem).__name__}: {problem}"


def _reply(server: socket.socket, model: Model, call: Call, buffers: list[memoryview]) -> None:
    answered = answer(model, call, buffers)
    parts = [part for _, given in answered for part in given]
    _send(server, pack(Done([outcome for outcome, _ in answered]), parts))


def _send(server: socket.socket, parts: list[Buffer]) -> None:
    small = sum(len(part) for part in parts) < 1 << 16
    for part in [b"".join(parts)] if small else parts:
        server.sendall(part)


def _receive(server: socket.socket) -> tuple[Message, list[memoryview]] | None:
    prefix = _exactly(server, PREFIX_BYTES)
    if prefix is None:
        return None
    header, body = lengths(prefix)
    # Writable memory: torch warns about tensors over memory that is not.
    whole = _exactly(server, header + body)
    if whole is None:
        return None
    view = memoryview(whole)
    return unpack(view[:header], view[header:])


def _exactly(server: socket.socket, count: int) -> bytearray | None:
    data = bytearray(count)
    view = memoryview(data)
    while view:
        try:
            read = server.recv_into(view)
        except ConnectionError:
            return None
        if not read:
            return None
        view = view[read:]
    return data
