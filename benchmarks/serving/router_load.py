"""Clients for one URL: as many connections as asked, each sends its next request when the last was answered.

    python -m benchmarks.serving.router_load http://127.0.0.1:8081/serving/echo/v1/models/echo:predict --clients 8

Runs for `--requests`, or until standard input closes, and prints what came back as JSON. Whatever is not 200 has
failed, a connection that the server closed among it.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import uvloop


class Client(asyncio.Protocol):
    """One connection."""

    def __init__(self, load: "Load") -> None:
        self._load = load
        self._received = b""
        self._sent_at = 0.0
        self._is_waiting = False
        self._transport: Any = None
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        if not self._load.take():
            self._is_waiting = False
            self._transport.close()
            return
        self._is_waiting = True
        self._sent_at = time.perf_counter()
        self._transport.write(self._load.request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._received[:end].decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        if len(self._received) < end + 4 + length:
            return
        body, self._received = self._received[end + 4 :], b""
        self._is_waiting = False
        self._load.answered(int(head[9:12]), head, body, time.perf_counter() - self._sent_at)
        self._send()

    def connection_lost(self, problem: Exception | None) -> None:
        if self._is_waiting:
            self._load.failed(f"connection lost: {problem}")
        self.done.set_result(self._is_waiting)


class Load:
    def __init__(self, url: str, *, requests: int, body: bytes, headers: list[str]) -> None:
        parts = urlsplit(url)
        self.address = (str(parts.hostname), int(parts.port or 80))
        names = {line.partition(":")[0].lower() for line in headers}
        lines = [f"POST {parts.path} HTTP/1.1", *headers, f"content-length: {len(body)}"]
        if "host" not in names:
            lines.append(f"host: {parts.netloc}")
        self.request = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        self._left = requests or None
        self.is_stopping = False
        self.statuses: Counter[str] = Counter()
        self.revisions: Counter[str] = Counter()
        self.failures: list[str] = []
        self.times: list[float] = []

    def take(self) -> bool:
        if self.is_stopping or self._left == 0:
            return False
        if self._left is not None:
            self._left -= 1
        return True

    def answered(self, status: int, head: str, body: bytes, seconds: float) -> None:
        self.statuses[str(status)] += 1
        self.times.append(seconds)
        if status != 200:
            self.failed(f"{status} {body[:200].decode(errors='replace')}")
        self.revisions[head.partition("x-resolute-revision: ")[2].partition("\r\n")[0]] += 1

    def failed(self, what: str) -> None:
        self.failures.append(what)

    async def run(self, clients: int) -> dict[str, Any]:
        started = time.perf_counter()
        await asyncio.gather(*(self._client() for _ in range(clients)))
        elapsed = time.perf_counter() - started
        ordered = sorted(self.times) or [0.0]
        return {
            "requests": sum(self.statuses.values()),
            "statuses": self.statuses,
            "revisions": self.revisions,
            "failed": len(self.failures),
            "failures": self.failures[:5],
            "per_s": round(sum(self.statuses.values()) / elapsed, 1),
            "longest_s": round(ordered[-1], 3),
            **{f"p{q}_ms": round(1000 * ordered[int(len(ordered) * q / 100)], 3) for q in (50, 95, 99)},
        }

    async def _client(self) -> None:
        loop = asyncio.get_running_loop()
        while not self.is_stopping and self._left != 0:
            try:
                _, client = await loop.create_connection(lambda: Client(self), *self.address)
            except OSError as problem:
                self.failed(f"no connection: {problem}")
                await asyncio.sleep(0.05)
                continue
            await client.done


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=0, help="0: until standard input closes")
    parser.add_argument("--body", default='{"instances": [[1, 2, 3]]}')
    parser.add_argument("--header", action="append", default=["content-type: application/json"])
    given = parser.parse_args()
    load = Load(given.url, requests=given.requests, body=given.body.encode(), headers=given.header)
    if not given.requests:
        reading = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        reading.add_done_callback(lambda _: setattr(load, "is_stopping", True))
    print(json.dumps(await load.run(given.clients)))


if __name__ == "__main__":
    uvloop.run(main())
