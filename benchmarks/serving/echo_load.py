"""A load generator for HTTP/1.1: so many connections, each sending its next request when the last one is answered.

Raw sockets and bytes that are built once: what it measures is the server. The same one is used for every contestant.
"""

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import cast

import uvloop

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    port: int
    path: str
    body: bytes
    content_type: str = "application/json"

    def request(self) -> bytes:
        head = (
            f"POST {self.path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncontent-type: {self.content_type}\r\n"
            f"content-length: {len(self.body)}\r\naccept: */*\r\n\r\n"
        )
        return head.encode() + self.body


@dataclass(slots=True)
class Result:
    seconds: float
    failures: int
    latencies: list[float] = field(repr=False)
    """Seconds, sorted."""

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile_ms(self, percent: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * percent / 100))] * 1000


def measure(target: Target, *, clients: int, seconds: float, warm_s: float = 0.5) -> Result:
    """A closed loop of `clients` for so long, after a warm-up that does not count."""
    return uvloop.run(_measure(target, clients, seconds, warm_s))


async def _measure(target: Target, clients: int, seconds: float, warm_s: float) -> Result:
    loop = asyncio.get_running_loop()
    request = target.request()
    connections = [
        (await loop.create_connection(lambda: _Client(request), "127.0.0.1", target.port))[1] for _ in range(clients)
    ]
    for connection in connections:
        connection.send()
    await asyncio.sleep(warm_s)
    for connection in connections:
        connection.latencies.clear()
    started = time.perf_counter()
    await asyncio.sleep(seconds)
    taken = time.perf_counter() - started
    for connection in connections:
        connection.stop()
    latencies = sorted(latency for connection in connections for latency in connection.latencies)
    return Result(taken, sum(connection.failures for connection in connections), latencies or [taken])


class _Client(asyncio.Protocol):
    def __init__(self, request: bytes) -> None:
        self.latencies: list[float] = []
        self.failures = 0
        self._request = request
        self._held = b""
        self._sent = 0.0
        self._is_stopped = False
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._request)

    def stop(self) -> None:
        self._is_stopped = True
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._held = self._held + data if self._held else data
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._held, 0, end + 2)
        if length is None or len(self._held) < end + 4 + int(length[1]):
            return
        if not self._held.startswith((b"HTTP/1.1 200", b"HTTP/1.0 200")):
            self.failures += 1
        self._held = b""
        self.latencies.append(time.perf_counter() - self._sent)
        self.send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._is_stopped:
            self.failures += 1
