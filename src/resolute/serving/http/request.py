"""A request as it was read, and the refusal of one. Values; no sockets."""

from typing import Any


class Request:
    """Names of headers are in lower case."""

    __slots__ = ("body", "bytes_read", "has_expectation", "headers", "is_last", "method", "target", "url")

    def __init__(self) -> None:
        self.method = b"GET"
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.body: list[bytes] = []
        self.bytes_read = 0
        self.is_last = False
        """The client wants no more on this connection."""
        self.has_expectation = False
        """It waits for `100 Continue` before it sends its body."""
        self.target: Any = None
        """For the application: whatever it found out when the head came."""

    def header(self, name: bytes) -> bytes | None:
        for known, value in self.headers:
            if known == name:
                return value
        return None


class Refused(Exception):
    """A request that goes no further, with the whole answer to it. `is_last`: the connection is closed after it."""

    def __init__(self, status: int, content: bytes, *, is_last: bool = False) -> None:
        super().__init__(status)
        self.status = status
        self.content = content
        self.is_last = is_last
