"""What of a request a task gets to see, and what of its answer a browser does. Pure.

A task is code of its owner. It never gets what proves who its visitors are to the platform, and its answers set nothing
for the platform's own pages: its cookies stay below its own path.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from resolute.domain.errors import InvalidInput

RawHeaders = Iterable[tuple[bytes, bytes]]

AUTH_COOKIE = "auth"
TASK_COOKIE = "resolute_task"
"""Of a task's own origin (`--task-domain`)."""
_OURS = frozenset({AUTH_COOKIE, TASK_COOKIE})

_HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
    | {b"http2-settings", b"proxy-authenticate", b"proxy-authorization"}
)
_FRAMING = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
_SECRET = frozenset({b"authorization", b"proxy-authorization", b"forwarded", b"x-real-ip"})
_SECRET_BEGINS = (b"grpc-metadata-", b"x-resolute-", b"x-forwarded-")
_NOT_FOR_BROWSERS = frozenset(
    {
        b"service-worker-allowed",  # a worker of a task would sit between the user and the platform
        b"clear-site-data",
        b"date",  # the server in front says it
        b"referrer-policy",  # the platform is told which page a request comes from
        b"strict-transport-security",
        b"alt-svc",
        b"nel",
        b"report-to",
        b"reporting-endpoints",
        b"www-authenticate",  # its answer would never reach the task
        b"access-control-allow-origin",
        b"access-control-allow-credentials",
    }
)
_OF_A_HANDSHAKE = b"sec-websocket-"
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "partitioned"})
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request to a task, as the platform saw it."""

    task_id: str
    host: str
    """As the client named the platform: what the task puts into addresses that it makes."""
    scheme: str
    client: str
    tokens: Collection[str] = ()
    """What proved who the caller is."""

    @property
    def prefix(self) -> str:
        return f"/proxy/{self.task_id}/"


def to_task(raw: RawHeaders, visit: Visit, *, is_socket: bool = False) -> list[tuple[bytes, bytes]]:
    """Headers for the task, without those that frame the message: whoever sends it frames it anew."""
    given = [(name.lower(), value) for name, value in raw]
    dropped = _HOP_BY_HOP | _FRAMING | _SECRET | _named(given)
    sent: list[tuple[bytes, bytes]] = []
    for name, value in given:
        # Servers that know headers as variables take both spellings for one.
        plain = name.replace(b"_", b"-")
        if plain in dropped or plain.startswith(_SECRET_BEGINS) or (is_socket and plain.startswith(_OF_A_HANDSHAKE)):
            continue
        if plain == b"cookie":
            value = cookies_of_task(value.decode("latin-1"), visit.tokens).encode("latin-1")
            if not value:
                continue
        sent.append((name, value))
    for word, text in (("for", visit.client), ("proto", visit.scheme), ("host", visit.host)):
        if text:
            sent.append((f"x-forwarded-{word}".encode(), text.encode("latin-1", "replace")))
    return sent


def to_browser(raw: RawHeaders, visit: Visit, address: str) -> list[tuple[bytes, bytes]]:
    """Headers of the task's answer, for who asked. `address` is where the task listens."""
    given = [(name.lower(), value) for name, value in raw]
    dropped = _HOP_BY_HOP | _NOT_FOR_BROWSERS | _named(given)
    passed: list[tuple[bytes, bytes]] = []
    for name, value in given:
        if name in dropped or name.startswith((*_SECRET_BEGINS, _OF_A_HANDSHAKE)):
            continue
        kept: bytes | None = value
        if name in (b"location", b"content-location"):
            kept = _bytes(location_from_task(value.decode("latin-1"), visit, address))
        elif name == b"refresh":
            continue
        elif name in (b"set-cookie", b"set-cookie2"):
            kept = _bytes(cookie_from_task(value.decode("latin-1"), visit)) if name == b"set-cookie" else None
        if kept is not None:
            passed.append((name, kept))
    return passed


def check_path(raw_path: bytes, task_id: str) -> bytes:
    """The path as it goes on: byte for byte as it came. Raises InvalidInput for one that readers take differently."""
    text = raw_path.decode("latin-1")
    why = ""
    if not re.fullmatch(r"/[\x21-\x7e]*", text):
        why = "it has characters that a path must escape"
    elif "\\" in text or "#" in text or re.search(r"%00|%5c|%0[ad]", text, re.IGNORECASE):
        why = "it has a backslash, a fragment, a line break or a NUL"
    elif {".", ".."} & {part.lower().replace("%2e", ".") for part in re.split(r"/|%2f", text, flags=re.IGNORECASE)}:
        why = "it has a segment . or .."
    elif not text.startswith(f"/proxy/{task_id}/"):
        why = "the task's id is escaped"
    if why:
        raise InvalidInput(
            f"The path {text[:200]!r} is refused: {why}. Write /proxy/<task id>/... in plain characters."
        )
    return raw_path


def check_query(query: bytes) -> bytes:
    if not re.fullmatch(rb"[\x21-\x7e]*", query) or b"#" in query:
        raise InvalidInput("The query is refused: it has characters that a query must escape.")
    return query


def cookies_of_task(header: str, tokens: Collection[str] = ()) -> str:
    """A Cookie header without the platform's own, under whatever name what proves the caller stands."""
    kept = []
    for part in header.split(";"):
        name = part.partition("=")[0].strip(" \t\"'").lower()
        if part.strip() and name not in _OURS and not any(token and token in part for token in tokens):
            kept.append(part.strip())
    return "; ".join(kept)


def cookie_from_task(header: str, visit: Visit) -> str | None:
    """A Set-Cookie header that holds below the task's own path alone; None: it is not set."""
    pair, *rest = header.split(";")
    name = pair.partition("=")[0].strip()
    has_value = "=" in pair
    if not has_value or not _COOKIE_NAME.fullmatch(name) or name.lower() in _OURS:
        return None
    # A browser holds a cookie with such a name to rules that one for a part of an origin cannot keep.
    if name.lower().startswith(("__host-", "__secure-")):
        return None
    kept, path = [pair.strip()], visit.prefix
    for attribute in rest:
        key, _, value = (piece.strip() for piece in attribute.partition("="))
        if key.lower() == "path" and _is_below(value, visit):
            path = value
        elif key.lower() in _ATTRIBUTES - {"path", "domain", "secure"}:
            kept.append(attribute.strip())
    kept.append(f"Path={path}")
    if visit.scheme == "https":
        kept.append("Secure")
    return "; ".join(kept)


def location_from_task(value: str, visit: Visit, address: str) -> str | None:
    """Where the task leads to: an address of its own becomes a path here. None: it leads nowhere that is one."""
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    if parts.scheme not in ("", "http", "https") or "\\" in value or not value.isprintable():
        return None
    if parts.netloc.lower() in (address.lower(), visit.host.lower()):
        path = parts.path or "/"
        # Two slashes would name another host.
        path = "/" + path.lstrip("/")
        return path + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")
    return value


def _is_below(path: str, visit: Visit) -> bool:
    return (path + "/").startswith(visit.prefix) and ".." not in path and path.isprintable()


def _named(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """Headers that Connection says are for this hop alone."""
    return frozenset(_words(value for name, value in headers if name == b"connection"))


def _words(values: Iterable[bytes]) -> Iterator[bytes]:
    for value in values:
        for word in value.split(b","):
            yield word.strip().lower()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("latin-1")
