"""HTTP as uvicorn speaks it, with bounds: how long a request line and headers may be, and how long they may take.

uvicorn keeps whatever a client sends as a head, for as long as it likes to take. Sizes and times are checked here,
before there is a request to route; how large a body may be is the gate's business.
"""

import asyncio
import json
from collections.abc import Callable

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from resolute.domain.errors import InvalidInput
from resolute.domain.networks import Network, is_in
from resolute.server.errors import body_of

MAX_URL_BYTES = 32 * 1024
MAX_HEAD_BYTES = 64 * 1024
MAX_HEADERS = 200
HEAD_WITHIN_S = 20.0
BODY_WINDOW_S = 20.0
BODY_WINDOW_BYTES = 20 * 1024
"""What a client must send of a body in each window; slower ones only hold connections."""
MAX_UNREAD_BYTES = 32 * 1024**2
"""Of a body that was refused and is still coming. A client that sends everything first still gets to read why."""
MAX_MESSAGE_BYTES = 32 * 1024**2
"""Of a websocket: a notebook's picture is a message, and one is held in memory while it passes."""
MAX_HANDSHAKE_HEADERS, MAX_HANDSHAKE_LINE_BYTES = 100, 8000
"""What the library for websockets reads: 128 headers, of 8192 bytes each."""
_LINGER_S = 1.0
"""How long a refused client may go on sending into the void, to get round to reading."""


def guarded(peers: tuple[Network, ...] | None) -> "type[BoundedProtocol]":
    """For connections from `peers` alone."""
    return type("GuardedProtocol", (BoundedProtocol,), {"peers": peers})


class BoundedProtocol(HttpToolsProtocol):
    """`head_within_s` and `body_window_s` are attributes so that a test can do with shorter ones."""

    head_within_s = HEAD_WITHIN_S
    body_window_s = BODY_WINDOW_S
    peers: tuple[Network, ...] | None = None
    """Who may connect; None: anybody."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        peer = transport.get_extra_info("peername")
        if self.peers is not None and (not peer or not is_in(str(peer[0]), self.peers)):
            # Not a word, as a firewall would do.
            transport.abort()
        super().connection_made(transport)
        self._refusal: tuple[int, str] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._is_stopped = False
        self._is_upgraded = False
        self._is_between = True
        self._in_body = False
        self._heads = 0
        self._head_bytes = 0
        self._header_bytes = 0
        self._window_bytes = 0
        self._unread_bytes = 0
        self._arm(self.head_within_s, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_stopped or self.transport.is_closing():
            return
        heads, was_in_body = self._heads, self._in_body
        self._window_bytes += len(data)
        super().data_received(data)
        if self._is_stopped or self._is_upgraded or self.transport.is_closing():
            return
        if heads == self._heads and not was_in_body:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._stop(
                    431, f"The headers are larger than {MAX_HEAD_BYTES // 1024} KiB. Send fewer or shorter ones."
                )
                return
        self._watch()

    # ------------------------------------------------------------------------------------------- the parser's events

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_between = False
        self._header_bytes = 0
        self._hosts: list[bytes] = []
        self._announces = b""

    def on_url(self, url: bytes) -> None:
        if len(self.url) + len(url) > MAX_URL_BYTES:
            self._refuse(414, f"The address is longer than {MAX_URL_BYTES // 1024} KiB. Ask for less at once.")
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MAX_HEAD_BYTES:
            self._refuse(431, f"The headers are larger than {MAX_HEAD_BYTES // 1024} KiB. Send fewer or shorter ones.")
        if len(self.headers) >= MAX_HEADERS:
            self._refuse(431, f"The request has more than {MAX_HEADERS} headers. Send fewer.")
        if self._in_body:
            # What comes behind a body was not there when the request was judged: it is not part of it.
            return
        self._frame(name.lower(), value.strip(b" \t"))
        super().on_header(name, value)

    def _frame(self, name: bytes, value: bytes) -> None:
        """Refuse what another reader could take for another request."""
        if name == b"host":
            self._hosts.append(value)
            if len(self._hosts) > 1:
                self._refuse(400, "A request has one Host header; this one has more.")
        elif name == b"transfer-encoding" and value.lower() != b"chunked":
            self._refuse(400, "The only Transfer-Encoding taken is chunked.")
        if name in (b"transfer-encoding", b"content-length") and value != b"0":
            self._announces = name

    def _check_head(self) -> None:
        if self._announces == b"transfer-encoding" and self.parser.get_http_version() != "1.1":
            self._refuse(400, "HTTP/1.0 has no Transfer-Encoding; send Content-Length.")
        if self.parser.should_upgrade():
            self._check_upgrade()
        scheme, is_address, rest = self.url.partition(b"://")
        if is_address and scheme.isalpha() and rest.partition(b"/")[0].lower() not in map(bytes.lower, self._hosts):
            self._refuse(400, "The address in the request line is not the one in the Host header.")

    def _check_upgrade(self) -> None:
        if self._announces:
            self._refuse(400, "A request that asks for another protocol cannot have a body here.")
        if self._should_upgrade():
            if self.parser.get_method() != b"GET":
                self._refuse(400, "A websocket is asked for with GET.")
            if self._is_answering():
                self._refuse(400, "A websocket is asked for when everything before it has been answered.")
            lines = [len(name) + len(value) + 2 for name, value in self.headers]
            if len(lines) > MAX_HANDSHAKE_HEADERS or max(lines) > MAX_HANDSHAKE_LINE_BYTES:
                self._refuse(431, "The headers of this websocket are too many, or one is longer than 8 KB.")

    def _should_upgrade_to_ws(self) -> bool:
        return True

    def handle_websocket_upgrade(self) -> None:
        # A tenth of the time that a master takes to start, for what many never need.
        from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

        self._disarm()
        self._is_upgraded = True
        self.ws_protocol_class = WebSocketsSansIOProtocol
        super().handle_websocket_upgrade()

    def on_headers_complete(self) -> None:
        self._check_head()
        self._disarm()
        self._heads += 1
        self._head_bytes = self._window_bytes = self._unread_bytes = 0
        self._in_body = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self.cycle.response_complete:
            self._unread_bytes += len(body)
            if self._unread_bytes > MAX_UNREAD_BYTES:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._disarm()
        self._in_body = False
        self._is_between = True
        super().on_message_complete()

    # --------------------------------------------------------------------------------------------------------- time

    def _watch(self) -> None:
        if self._deadline is not None:
            return
        if self._in_body:
            self._arm(self.body_window_s, self._look_at_body)
        elif not self._is_between or (not self._is_answering() and self.timeout_keep_alive_task is None):
            self._arm(self.head_within_s, self._head_is_late)

    def _head_is_late(self) -> None:
        self._deadline = None
        if self._is_answering():
            self._arm(self.head_within_s, self._head_is_late)
        elif self._head_bytes:
            self._stop(408, f"The headers did not come within {self.head_within_s:.0f} seconds. Send them again.")
        else:
            self.transport.close()

    def _look_at_body(self) -> None:
        self._deadline = None
        if self.flow.read_paused or self._window_bytes >= BODY_WINDOW_BYTES:
            self._window_bytes = 0
            self._arm(self.body_window_s, self._look_at_body)
        elif self.cycle.response_started:
            self.transport.close()
        else:
            self._stop(408, f"Hardly anything of the body came for {self.body_window_s:.0f} seconds. Send it again.")

    def _arm(self, within_s: float, act: Callable[[], None]) -> None:
        self._deadline = self.loop.call_later(within_s, act)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    # ----------------------------------------------------------------------------------------------------- refusals

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, status: int, sentence: str) -> None:
        """Ends the parser's run; uvicorn then calls `send_400_response`."""
        self._refusal = (status, sentence)
        raise ValueError(sentence)

    def send_400_response(self, msg: str) -> None:
        status, sentence = self._refusal or (400, f"{msg} Check that the client speaks HTTP to this port.")
        if self._is_answering():
            # The answer would end up in the middle of another.
            self.transport.close()
            return
        self._stop(status, sentence)

    def _stop(self, status: int, sentence: str) -> None:
        self._disarm()
        body = json.dumps(body_of(InvalidInput(sentence))).encode()
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + head + body)
        self._is_stopped = True
        # Closed at once, what the client is still sending would make its system throw the answer away.
        self._arm(_LINGER_S, self.transport.close)
        if self.transport.can_write_eof():
            self.transport.write_eof()
