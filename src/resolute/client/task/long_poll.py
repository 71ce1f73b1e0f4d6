"""GETs that may wait a minute for their answer and can be broken off from another thread at once.

httpx cannot interrupt a request in flight, but it tells which socket it opened: shutting that one ends the request.
"""

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any

import httpx

from resolute.domain.errors import Unavailable

_OPENED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


class LongPoll:
    """A connection of its own, kept open between polls. `break_off` may be called from any thread, once and for all."""

    def __init__(self, open_http: Callable[[], httpx.Client]) -> None:
        self._open_http = open_http
        self._http: httpx.Client | None = None
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_closed = False

    def get(self, path: str, timeout_s: float) -> httpx.Response:
        """Raises httpx's errors when there is no answer, and Unavailable after `break_off`."""
        with self._lock:
            if self._is_closed:
                raise Unavailable("The connection to the master was closed.")
            http = self._http = self._http or self._open_http()
        timeout = httpx.Timeout(timeout_s, connect=5.0)
        return http.get(path, timeout=timeout, extensions={"trace": self._note_socket})

    def break_off(self) -> None:
        with self._lock:
            self._is_closed = True
            self._shut()

    def close(self) -> None:
        """For the polling thread when it has ended."""
        self.break_off()
        if self._http is not None:
            self._http.close()

    def _note_socket(self, event: str, facts: dict[str, Any]) -> None:
        if event not in _OPENED:
            return
        with self._lock:
            self._socket = facts["return_value"].get_extra_info("socket")
            if self._is_closed:
                self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # The other side may be first.
                self._socket.shutdown(socket.SHUT_RDWR)
