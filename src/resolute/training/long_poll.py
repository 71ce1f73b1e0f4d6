"""One GET that may wait a minute for its answer and can be broken off from another thread at once.

httpx cannot interrupt a request in flight; a bare connection can, by shutting its socket.
"""

import contextlib
import http.client
import socket
import ssl
import threading
from urllib.parse import urlsplit

from resolute.domain.errors import Unavailable


class LongPoll:
    """A connection of its own, kept open between polls. `close` may be called from any thread, once and for all."""

    def __init__(self, base_url: str, headers: dict[str, str], tls: ssl.SSLContext | None) -> None:
        self._parts = urlsplit(base_url)
        self._headers = headers
        self._tls = tls
        self._connection: http.client.HTTPConnection | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def get(self, path: str, timeout_s: float) -> tuple[int, bytes]:
        """Status and body. Raises Unavailable when there is no answer, or `close` was called."""
        try:
            connection = self._open(timeout_s)
            connection.request("GET", self._parts.path.rstrip("/") + path, headers=self._headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            self._drop()
            raise Unavailable(f"Master {self._parts.netloc} does not answer ({type(error).__name__}).") from error

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._connection is not None and self._connection.sock is not None:
                with contextlib.suppress(OSError):  # The other side may be first.
                    self._connection.sock.shutdown(socket.SHUT_RDWR)

    def drop(self) -> None:
        """Let the socket go; for the polling thread when it ends."""
        self._drop()

    def _open(self, timeout_s: float) -> http.client.HTTPConnection:
        with self._lock:
            if self._is_closed:
                raise Unavailable("The connection to the master was closed.")
            if self._connection is None:
                self._connection = self._new()
        if self._connection.sock is None:
            self._connection.timeout = 5.0
            self._connection.connect()
        self._connection.sock.settimeout(timeout_s)
        return self._connection

    def _new(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "127.0.0.1", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, context=self._tls)
        return http.client.HTTPConnection(host, port)

    def _drop(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
