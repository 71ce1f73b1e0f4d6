"""A model server without sockets and processes: a connection in memory, and a model in this process."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httptools
import msgspec
import pytest

from resolute.domain.errors import ResoluteError
from resolute.serving.batching import Answers
from resolute.serving.dataplane import DataPlane
from resolute.serving.model import ModelMetadata
from resolute.serving.settings import Limits, ModelSettings
from resolute.serving.worker_calls import answer
from resolute.serving.worker_frames import Buffer, Call
from resolute.serving.worker_main import find_load
from resolute.serving.worker_process import LoadRefused


class InProcessWorker:
    """Does what a model process does, at once and in this one."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @property
    def ended(self) -> "asyncio.Future[str]":
        return self._ended

    async def start(self) -> ModelMetadata:
        try:
            self._model = find_load(self._settings.load)(self._settings.source, self._settings.options)
        except ResoluteError as problem:
            raise LoadRefused(str(problem), is_final=True) from problem
        return self._model.metadata

    def run(self, call: Call, buffers: list[Buffer]) -> "asyncio.Future[Answers]":
        future: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
        future.set_result(answer(self._model, call, buffers))
        return future

    def give_up(self, reason: str) -> None:
        if not self._ended.done():
            self._ended.set_result(reason)

    async def stop(self) -> None:
        self.give_up("stopped")


class MemoryTransport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_closed = False
        self.is_paused = False
        self.has_eof = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def writelines(self, parts: Any) -> None:
        self.written += b"".join(parts)

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = True

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.is_closed

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.has_eof = True

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


class Answer:
    """One HTTP answer, as httptools reads it."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.is_whole = False

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class _Reader:
    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.parser = httptools.HttpResponseParser(self)

    def on_message_begin(self) -> None:
        self.answers.append(Answer())

    def on_header(self, name: bytes, value: bytes) -> None:
        self.answers[-1].headers[name.decode().lower()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self.answers[-1].body += body

    def on_message_complete(self) -> None:
        self.answers[-1].status = self.parser.get_status_code()
        self.answers[-1].is_whole = True


def read_answers(written: bytes) -> list[Answer]:
    reader = _Reader()
    reader.parser.feed_data(written)
    return reader.answers


def make_plane(*models: ModelSettings, **limits: Any) -> DataPlane:
    return DataPlane(models, Limits(**limits), spawn=InProcessWorker)


def echo(name: str = "echo", **options: Any) -> ModelSettings:
    return ModelSettings(name=name, source=Path("here"), load="resolute.serving.echo:load_echo", options=options)


async def settle() -> None:
    """Everything that can run now has run."""
    for _ in range(20):
        await asyncio.sleep(0)


def run_async(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 10))  # type: ignore[arg-type]


@pytest.fixture
def serving() -> Any:
    """The names above: conftest files cannot be imported."""
    return type("serving", (), {key: staticmethod(value) for key, value in _SHARED.items()})


_SHARED: dict[str, Any] = {
    "Transport": MemoryTransport,
    "answers": read_answers,
    "plane": make_plane,
    "echo": echo,
    "settle": settle,
    "run": run_async,
}
