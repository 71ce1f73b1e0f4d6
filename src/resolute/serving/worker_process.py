"""A model process, seen from the server: started, called, and ended. Never imports what a model needs.

Who restarts it is `worker_pool`.
"""

import asyncio
import contextlib
import logging
import signal
import subprocess
from typing import Any, cast

from resolute.domain.errors import Unavailable
from resolute.serving.batching import Answers
from resolute.serving.model import ModelMetadata
from resolute.serving.settings import ModelSettings
from resolute.serving.worker_child import Child, MakeChild, fresh_child
from resolute.serving.worker_frames import Buffer, Call, Done, FrameReader, Message, Ready, Refused, Start, pack

_log = logging.getLogger("resolute.serving")
_LEAVE_S = 5.0
_SMALL = 1 << 16


class LoadRefused(Exception):
    """The model said why it cannot be served. `is_final`: trying again would end the same."""

    def __init__(self, message: str, *, is_final: bool) -> None:
        super().__init__(message)
        self.is_final = is_final


class WorkerProcess(asyncio.Protocol):
    """One child with one loaded model."""

    def __init__(self, settings: ModelSettings, make_child: MakeChild = fresh_child) -> None:
        loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[str] = loop.create_future()
        self._settings = settings
        self._make_child = make_child
        self._loaded: asyncio.Future[ModelMetadata] = loop.create_future()
        self._call: asyncio.Future[Answers] | None = None
        self._frames = FrameReader()
        self._transport: asyncio.Transport | None = None
        self._process: Child | None = None
        self._verdict = ""
        self._reaping: asyncio.Task[None] | None = None

    @property
    def ended(self) -> "asyncio.Future[str]":
        return self._ended

    async def start(self) -> ModelMetadata:
        """Until the model is loaded. Raises LoadRefused with its sentence, or Unavailable when the process died."""
        self._process, ours = self._make_child(self._settings)
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: self, sock=ours)
        settings = self._settings
        options = {**settings.options, "allow_pickle": True} if settings.allow_pickle else settings.options
        self._write(pack(Start(str(settings.source), settings.load, options)))
        return await self._loaded

    def run(self, call: Call, buffers: list[Buffer]) -> "asyncio.Future[Answers]":
        self._call = asyncio.get_running_loop().create_future()
        if self._transport is None or self._transport.is_closing():
            self._call.set_exception(Unavailable("The model process has ended; it is being restarted."))
            return self._call
        self._write(pack(call, buffers))
        return self._call

    def give_up(self, reason: str) -> None:
        self._verdict = reason
        if self._process is not None:
            self._process.kill()

    async def stop(self) -> None:
        """The process leaves when its socket closes; one that does not is killed."""
        if self._transport is not None:
            self._transport.close()
            await asyncio.shield(self._ended)
        elif self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods but not the base class.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        for message, buffers in self._frames.feed(data):
            self._received(message, buffers)

    def connection_lost(self, error: Exception | None) -> None:
        self._reaping = asyncio.get_running_loop().create_task(self._reap())

    def _write(self, parts: list[Buffer]) -> None:
        assert self._transport is not None
        if sum(len(part) for part in parts) < _SMALL:
            self._transport.write(b"".join(parts))
        else:
            self._transport.writelines(parts)

    def _received(self, message: Message, buffers: list[memoryview]) -> None:
        if isinstance(message, Done) and self._call is not None and not self._call.done():
            self._call.set_result(_per_item(message, buffers))
        elif isinstance(message, Ready):
            self._loaded.set_result(message.metadata)
        elif isinstance(message, Refused):
            self._loaded.set_exception(LoadRefused(message.message, is_final=message.is_final))

    async def _reap(self) -> None:
        """Its exit status is the better half of the reason."""
        assert self._process is not None
        try:
            code = await asyncio.to_thread(self._process.wait, _LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = await asyncio.to_thread(self._process.wait)
        reason = self._verdict or _ending(code)
        for waiting in (self._loaded, self._call):
            _fail(waiting, f"The model process ended ({reason}) before it answered; it is being restarted. Try again.")
        with contextlib.suppress(asyncio.InvalidStateError):
            self._ended.set_result(reason)


def _per_item(done: Done, buffers: list[memoryview]) -> Answers:
    """V1 outcomes have one buffer, V2 outcomes one per tensor, failed ones none."""
    answers: Answers = []
    start = 0
    for outcome in done.outcomes:
        end = start + (0 if outcome.code else len(outcome.tensors) or 1)
        answers.append((outcome, list(buffers[start:end])))
        start = end
    return answers


def _fail(future: "asyncio.Future[Any] | None", message: str) -> None:
    if future is not None and not future.done():
        future.set_exception(Unavailable(message))


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    hint = "; out of memory?" if -code == signal.SIGKILL else ""
    return f"{signal.Signals(-code).name}{hint}"
