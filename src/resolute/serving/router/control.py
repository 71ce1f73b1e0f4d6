"""The router's back door for the master, on loopback and behind a token: counts, and "the table has changed"."""

import asyncio
import hmac
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import msgspec

from resolute.domain.routing import RouterCounts

_LONGEST_WAIT_S = 10.0


class Control:
    """`GET /counts?wait_s=1` answers after that time, or as soon as a request begins to wait for a replica."""

    def __init__(self, *, token: str, counts: Callable[[], RouterCounts], reload: Callable[[], None]) -> None:
        self._token = token
        self._counts = counts
        self._reload = reload
        self._demand = asyncio.Event()

    def demand(self) -> None:
        self._demand.set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5.0)
            status, body = await self._answer(head.decode("latin-1"))
            writer.write(
                f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
                "connection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def _answer(self, head: str) -> tuple[str, bytes]:
        first, *lines = head.split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if not hmac.compare_digest(headers.get("authorization", ""), f"Bearer {self._token}"):
            return "401 Unauthorized", b"{}"
        url = urlsplit(first.split(" ")[1])
        if url.path == "/reload":
            self._reload()
            return "200 OK", b"{}"
        wait_s = float(parse_qs(url.query).get("wait_s", ["0"])[0])
        if wait_s > 0:
            await self._wait(min(wait_s, _LONGEST_WAIT_S))
        return "200 OK", msgspec.json.encode(self._counts())

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._demand.wait(), seconds)
        except TimeoutError:
            return
        self._demand.clear()
