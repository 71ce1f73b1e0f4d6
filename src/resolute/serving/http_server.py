"""The HTTP side of a model server: listens, logs, counts, and leaves without dropping anything."""

import asyncio
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from resolute.serving.dataplane import DataPlane
from resolute.serving.http.connection import Connection
from resolute.serving.http.connections import Connections
from resolute.serving.http.limits import HttpLimits, limits_of_process
from resolute.serving.http_message import Request, Response
from resolute.serving.http_routes import Routes
from resolute.serving.http_site import ModelSite

_PROBES = frozenset({"/v2/health/ready", "/v2/health/live", "/ping", "/metrics", "/"})
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

    def __init__(
        self,
        plane: DataPlane,
        log: RequestLog | None = None,
        *,
        has_repository: bool = True,
        limits: HttpLimits | None = None,
    ) -> None:
        self._plane = plane
        self._log = log
        self._site = ModelSite(Routes(plane, has_repository=has_repository), self.note, plane.limits.max_body_bytes)
        self._connections = Connections(self._site, limits or limits_of_process())
        self._listener: asyncio.Server | None = None
        self._chores: list[asyncio.Task[None]] = []

    async def start(self, host: str, port: int) -> int:
        """The port that it listens on. Raises OSError when the address cannot be had."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: Connection(self._connections), host, port, backlog=1024)
        self._chores = [loop.create_task(self._connections.sweep_for_ever()), loop.create_task(self._write_log())]
        return int(self._listener.sockets[0].getsockname()[1])

    async def drain(self, seconds: float) -> bool:
        """Take no more connections, finish what is under way. False: some requests took longer than `seconds`."""
        self._plane.is_draining = self._site.is_draining = True
        if self._listener is not None:
            self._listener.close()
        ends_at = asyncio.get_running_loop().time() + seconds
        while self._connections.open and asyncio.get_running_loop().time() < ends_at:
            self._connections.close_idle()
            await asyncio.sleep(0.01)
        return not self._connections.open

    async def stop(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for chore in self._chores:
            chore.cancel()
        self._connections.close_all()
        await asyncio.gather(*self._chores, return_exceptions=True)
        if self._log is not None:
            self._log.flush()

    def note(self, request: Request, response: Response, seconds: float) -> None:
        """Counts and logs an answer; gRPC's too."""
        self._plane.metrics.request_done(request.model, request.kind, response.status, seconds)
        if self._log is not None:
            self._log.add(request, response, seconds)

    async def _write_log(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_S)
            if self._log is not None:
                self._log.flush()


def standard_log() -> RequestLog:
    return RequestLog(sys.stdout)
