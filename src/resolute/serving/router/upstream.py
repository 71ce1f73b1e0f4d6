"""Connections to replicas: kept open, one request at a time on each. Says when an answer came, or that none will."""

import asyncio
import contextlib
import select
from collections import deque
from typing import Protocol, cast

import httptools

from resolute.domain.listening import address_parts
from resolute.domain.replica_health import HUNG_AFTER_S, Ejection, Health, Probes, Record

_MOST_IDLE = 64
_MOST_IDLE_S = 1.5
"""Servers close connections that nobody uses, some after two seconds; a request that crosses that is lost."""
_FIRST_REST_S = 0.1
_LONGEST_REST_S = 5.0


class Asker(Protocol):
    """Who waits for an answer."""

    method: bytes
    is_over: bool
    """Nobody wants the answer any more."""

    def sent(self, upstream: "Upstream") -> None: ...
    def received(self, upstream: "Upstream", data: bytes, *, is_complete: bool) -> None: ...
    def failed(self, upstream: "Upstream") -> None:
        """The connection is gone before the answer was complete. `upstream.has_begun`: the replica may have it."""

    def unconnected(self, replica: "Replica") -> None:
        """No connection could be made; nothing was sent."""


class Replica:
    """A model server as the router knows it: its idle connections, what is under way, and whether to rest it."""

    def __init__(self, id: str, address: str, hung_after_s: float = HUNG_AFTER_S, busy_s: float = 0.0) -> None:
        self.id = id
        self.address = address
        self.host, self.port = address_parts(address)
        self.in_flight = 0
        self.rests_until = 0.0
        self.busy: set[Upstream] = set()
        self._failures = 0
        self._idle: deque[Upstream] = deque()
        self._connecting: set[asyncio.Task[None]] = set()
        now = asyncio.get_running_loop().time()
        self.probes = Probes(now, hung_after_s, busy_s)
        self.record = Record(now)
        self.ejection = Ejection()

    def health(self, now: float) -> Health:
        health = self.probes.health(now)
        if health is Health.HEALTHY and self.ejection.is_out(now):
            return Health.EJECTED
        return health

    def send(self, asker: Asker, request: bytes) -> None:
        """On an idle connection, or on a new one."""
        loop = asyncio.get_running_loop()
        while self._idle:
            upstream = self._idle.pop()
            if upstream.is_open(loop.time()):
                upstream.send(asker, request)
                return
            upstream.close()
        task = loop.create_task(self._connect(asker, request))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, asker: Asker, request: bytes) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(5.0):
                _, upstream = await loop.create_connection(lambda: Upstream(self), self.host, self.port)
        except (OSError, ValueError):
            self.rest(loop.time())
            asker.unconnected(self)
            return
        if asker.is_over:
            self.free(upstream)
            return
        upstream.send(asker, request)

    def rest(self, now: float) -> None:
        """It did not take a connection: others go first for a moment, longer each time."""
        self.rests_until = now + min(_LONGEST_REST_S, _FIRST_REST_S * 2.0**self._failures)
        self._failures += 1

    def answered(self) -> None:
        self._failures = 0
        self.rests_until = 0.0
        self.probes.worked(asyncio.get_running_loop().time())

    def in_hand(self) -> set[tuple["Upstream", int]]:
        """The requests that it works on; each is another value than the one before it on the same connection."""
        return {(upstream, upstream.sends) for upstream in self.busy}

    def abandon(self) -> None:
        """It hangs: nobody waits for its answers any more."""
        self.close()
        for upstream in list(self.busy):
            upstream.abandon()

    def is_resting(self, now: float) -> bool:
        return self.rests_until > now

    def free(self, upstream: "Upstream") -> None:
        if len(self._idle) < _MOST_IDLE:
            upstream.idle_since = asyncio.get_running_loop().time()
            self._idle.append(upstream)
        else:
            upstream.close()

    def lost(self, upstream: "Upstream") -> None:
        with contextlib.suppress(ValueError):
            self._idle.remove(upstream)

    def close(self) -> None:
        """No new requests will come; those under way are finished."""
        while self._idle:
            self._idle.pop().close()


class Upstream(asyncio.Protocol):
    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self.is_closing = False
        self.status = 0
        self.has_length = False
        """The answer says how long it is, or comes in chunks."""
        self.is_first = True
        self.has_begun = False
        """Something of the request in hand was sent."""
        self.is_abandoned = False
        self.sends = 0
        self.idle_since = 0.0
        self._asker: Asker | None = None
        self._transport: asyncio.Transport | None = None
        self._poll = select.poll()
        self._parser = httptools.HttpResponseParser(self)
        self._is_complete = False
        self._stays_open = False

    def send(self, asker: Asker, request: bytes) -> None:
        self._asker = asker
        self._parser = httptools.HttpResponseParser(self)
        self.status, self.has_length, self.has_begun, self._is_complete = 0, False, False, False
        if self._transport is None or self.is_closing:
            self._fail()
            return
        asker.sent(self)
        self.replica.busy.add(self)
        self.sends += 1
        self.has_begun = True
        self._transport.write(request)

    def is_open(self, now: float) -> bool:
        """Nobody uses it, and the replica has not closed it: the kernel may know that before the event loop does."""
        return not self.is_closing and now - self.idle_since < _MOST_IDLE_S and not self._poll.poll(0)

    def abandon(self) -> None:
        self.is_abandoned = self.is_closing = True
        self._fail()
        self.close()

    def close(self) -> None:
        self.is_closing = True
        self._asker = None
        self.replica.busy.discard(self)
        if self._transport is not None:
            self._transport.abort()

    def pause(self, is_paused: bool) -> None:
        """While the client reads slower than the replica writes."""
        if self._transport is None or self._transport.is_closing():
            return
        if is_paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    # ----------------------------------------------------------------------------------------------- asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        asker = self._asker
        if asker is None:
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._is_complete = False
            self._fail()
            self.close()
            return
        if not self._is_complete:
            asker.received(self, data, is_complete=False)
            return
        self._asker = None
        self.is_first = False
        self.replica.busy.discard(self)
        self.replica.answered()
        self.is_closing = not self._stays_open
        if self.is_closing:
            asker.received(self, data, is_complete=True)
            self.close()
            return
        # Free before the answer is handed on: the client's next request may use it at once.
        self.replica.free(self)
        asker.received(self, data, is_complete=True)

    def connection_lost(self, problem: Exception | None) -> None:
        self.is_closing = True
        self.replica.lost(self)
        asker = self._asker
        if asker is not None and self.status and not self.has_length and problem is None:
            # An answer without a length ends with its connection.
            self._asker = None
            self.replica.busy.discard(self)
            asker.received(self, b"", is_complete=True)
            return
        self._fail()

    def _fail(self) -> None:
        asker, self._asker = self._asker, None
        self.replica.busy.discard(self)
        if asker is not None:
            asker.failed(self)

    # --------------------------------------------------------------------------------------------- httptools

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() in (b"content-length", b"transfer-encoding"):
            self.has_length = True

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        # Asked now: once the message is complete the parser has forgotten its headers.
        self._stays_open = self._parser.should_keep_alive()
        if self._asker is not None and self._asker.method == b"HEAD":
            self._is_complete = True

    def on_message_complete(self) -> None:
        self._is_complete = True
