"""What the router reads in a request, and the bytes that go to a replica for it."""

from http.cookies import CookieError, SimpleCookie

from resolute.serving.http.request import Request

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


def cookie(request: Request, name: str) -> str | None:
    header = request.header(b"cookie")
    if header is None:
        return None
    try:
        morsel = SimpleCookie(header.decode("latin-1")).get(name)
    except CookieError:
        return None
    return morsel.value if morsel is not None else None


def encoded(request: Request, path: bytes) -> bytes:
    """What a replica is sent: asked for `path`, and with a length, whatever way its body came."""
    named = _named_by_connection(request)
    dropped = _NOT_PASSED_ON | named if named else _NOT_PASSED_ON
    parts = [request.method, b" ", path, b" HTTP/1.1\r\n"]
    for name, value in request.headers:
        if name not in dropped:
            parts += (name, b": ", value, b"\r\n")
    if request.body or request.method in (b"POST", b"PUT", b"PATCH"):
        parts.append(b"content-length: %d\r\n" % request.bytes_read)
    parts.append(b"\r\n")
    parts += request.body
    return b"".join(parts)


def _named_by_connection(request: Request) -> frozenset[bytes]:
    """Headers that the client says are for this connection only."""
    named = request.header(b"connection")
    if named is None or named.lower() in (b"keep-alive", b"close"):
        return frozenset()
    every = b",".join(value for name, value in request.headers if name == b"connection")
    return frozenset(word.strip().lower() for word in every.split(b",")) - {b"host"}


def named_in_path(url: bytes) -> tuple[str, bytes] | None:
    """(`name`, the rest of the path) of `/serving/<name>/...`."""
    if not url.startswith(_PREFIX):
        return None
    rest = url[len(_PREFIX) :]
    end = min((at for at in (rest.find(b"/"), rest.find(b"?")) if at >= 0), default=len(rest))
    path = rest[end:]
    return rest[:end].decode("latin-1"), path if path.startswith(b"/") else b"/" + path
