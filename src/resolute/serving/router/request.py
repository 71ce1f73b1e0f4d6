"""One request as it was read, and the bytes that go to a replica for it."""

from http.cookies import CookieError, SimpleCookie

_PREFIX = b"/serving/"
# Of this connection only, or rewritten; the caller's credentials are for the router, not for a model's code.
_NOT_PASSED_ON = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"transfer-encoding",
        b"content-length",
        b"upgrade",
        b"te",
        b"trailer",
        b"expect",
        b"authorization",
        b"x-resolute-forwarded",
    }
)


class Request:
    __slots__ = ("body", "bytes_read", "headers", "host", "is_last", "method", "path", "url")

    def __init__(self) -> None:
        self.method = b"GET"
        self.url = b""
        self.path = b""
        """What the replica is asked for: without `/serving/<name>`."""
        self.host = b""
        self.headers: list[tuple[bytes, bytes]] = []
        """Names in lower case."""
        self.body: list[bytes] = []
        self.bytes_read = 0
        self.is_last = False
        """The client wants no more on this connection."""

    def header(self, name: bytes) -> bytes | None:
        for known, value in self.headers:
            if known == name:
                return value
        return None

    def cookie(self, name: str) -> str | None:
        header = self.header(b"cookie")
        if header is None:
            return None
        try:
            morsel = SimpleCookie(header.decode("latin-1")).get(name)
        except CookieError:
            return None
        return morsel.value if morsel is not None else None

    def encoded(self) -> bytes:
        """With a length, whatever way its body came."""
        parts = [self.method, b" ", self.path, b" HTTP/1.1\r\n"]
        for name, value in self.headers:
            if name not in _NOT_PASSED_ON:
                parts += (name, b": ", value, b"\r\n")
        if self.body or self.method in (b"POST", b"PUT", b"PATCH"):
            parts.append(b"content-length: %d\r\n" % self.bytes_read)
        parts.append(b"\r\n")
        parts += self.body
        return b"".join(parts)


def named_in_path(url: bytes) -> tuple[str, bytes] | None:
    """(`name`, the rest of the path) of `/serving/<name>/...`."""
    if not url.startswith(_PREFIX):
        return None
    rest = url[len(_PREFIX) :]
    end = min((at for at in (rest.find(b"/"), rest.find(b"?")) if at >= 0), default=len(rest))
    path = rest[end:]
    return rest[:end].decode("latin-1"), path if path.startswith(b"/") else b"/" + path
