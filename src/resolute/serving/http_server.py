"""The HTTP side of a model server: listens, logs, counts, and leaves without dropping anything."""

import asyncio
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from resolute.serving.dataplane import DataPlane
from resolute.serving.http_connection import HttpConnection, HttpServer
from resolute.serving.http_message import Request, Response
from resolute.serving.http_routes import Routes

_PROBES = frozenset({"/v2/health/ready", "/v2/health/live", "/ping", "/metrics", "/"})
_IDLE_S = 75.0
_SWEEP_S = 5.0
_FLUSH_S = 0.2


class RequestLog:
    """One JSON line per request: never its content. Lines are written a few times a second, not one by one."""

    def __init__(self, output: TextIO, clock: Callable[[], float] = time.time) -> None:
        self._output = output
        self._clock = clock
        self._lines: list[bytes] = []

    def add(self, request: Request, response: Response, seconds: float) -> None:
        if request.path in _PROBES:
            return
        line = {
            "time": datetime.fromtimestamp(self._clock(), UTC),
            "model": request.model,
            "method": request.method,
            "path": request.path,
            "code": response.status,
            "ms": round(seconds * 1000, 3),
            "batch": request.batch,
            "bytes": len(request.body),
            "sent": response.size,
        }
        self._lines.append(msgspec.json.encode(line))

    def flush(self) -> None:
        if self._lines:
            lines, self._lines = self._lines, []
            self._output.write(b"\n".join(lines).decode() + "\n")
            self._output.flush()


class ModelHttpServer:
    """Start it, ask for its port, drain it."""

    def __init__(self, plane: DataPlane, log: RequestLog | None = None, *, has_repository: bool = True) -> None:
        self._plane = plane
        self._log = log
        self._shared = HttpServer(
            Routes(plane, has_repository=has_repository), self.note, plane.limits.max_body_bytes, set()
        )
        self._listener: asyncio.Server | None = None
        self._chores: list[asyncio.Task[None]] = []

    async def start(self, host: str, port: int) -> int:
        """The port that it listens on. Raises OSError when the address cannot be had."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: HttpConnection(self._shared), host, port, backlog=1024)
        self._chores = [loop.create_task(self._sweep()), loop.create_task(self._write_log())]
        return int(self._listener.sockets[0].getsockname()[1])

    async def drain(self, seconds: float) -> bool:
        """Take no more connections, finish what is under way. False: some requests took longer than `seconds`."""
        self._plane.is_draining = self._shared.is_draining = True
        if self._listener is not None:
            self._listener.close()
        ends_at = asyncio.get_running_loop().time() + seconds
        while self._shared.connections and asyncio.get_running_loop().time() < ends_at:
            for connection in [each for each in self._shared.connections if each.is_idle]:
                connection.close()
            await asyncio.sleep(0.01)
        return not self._shared.connections

    async def stop(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for chore in self._chores:
            chore.cancel()
        for connection in list(self._shared.connections):
            connection.close()
        await asyncio.gather(*self._chores, return_exceptions=True)
        if self._log is not None:
            self._log.flush()

    def note(self, request: Request, response: Response, seconds: float) -> None:
        """Counts and logs an answer; gRPC's too."""
        self._plane.metrics.request_done(request.model, request.kind, response.status, seconds)
        if self._log is not None:
            self._log.add(request, response, seconds)

    async def _sweep(self) -> None:
        """Connections on which nothing has come for long, be they idle or half a request."""
        while True:
            await asyncio.sleep(_SWEEP_S)
            oldest = asyncio.get_running_loop().time() - _IDLE_S
            for connection in [each for each in self._shared.connections if each.is_stale(oldest)]:
                connection.close()

    async def _write_log(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_S)
            if self._log is not None:
                self._log.flush()


def standard_log() -> RequestLog:
    return RequestLog(sys.stdout)
