"""Talks to the master from a supervisor, with the allocation's token. The standard library only: a supervisor runs in
environments where nothing else is installed. It decides nothing and retries nothing: its callers know how patient to
be.
"""

import json
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from resolute.domain.errors import ResoluteError, Unavailable

if TYPE_CHECKING:
    from http.client import HTTPConnection

TIMEOUT_S = 30.0
_MAY_PASS = frozenset({408, 425, 429})
_OVER = frozenset({401, 409})
"""Not 403 and 404, which a proxy on the way may also answer for a while."""


class Refused(ResoluteError):
    """The master answered, and will not answer otherwise: the allocation is over, or this is no request of its."""

    code = "refused"


class Replaced(Refused):
    """The allocation is over for the master: another run may be under way, and this one must not go on."""

    code = "replaced"


class MasterLink:
    """One request at a time, each on a connection of its own: a supervisor has a handful in its life, or a batch of log
    lines now and then."""

    def __init__(self, env: Mapping[str, str]) -> None:
        address = urlsplit(env["DET_MASTER"])
        self._is_secure = address.scheme == "https"
        self.host = address.hostname or "127.0.0.1"
        self.port = address.port or (443 if self._is_secure else 80)
        self._prefix = address.path.rstrip("/")
        self._token = env["DET_SESSION_TOKEN"]
        self._certificate = env.get("DET_MASTER_CERT_FILE", "")

    def get(self, path: str, *, timeout_s: float = TIMEOUT_S) -> bytes:
        return self._send("GET", path, None, "", timeout_s)

    def download(self, path: str, read: Callable[[IO[bytes]], None], *, timeout_s: float = TIMEOUT_S) -> None:
        """Hand the answer to `read` as it comes. Raises as `get`; Unavailable also when it ends too early."""
        self._send("GET", path, None, "", timeout_s, read)

    def post(self, path: str, body: bytes, *, timeout_s: float = TIMEOUT_S) -> bytes:
        return self._send("POST", path, body, "application/octet-stream", timeout_s)

    def post_json(self, path: str, body: Mapping[str, object], *, timeout_s: float = TIMEOUT_S) -> Any:
        return json.loads(self._send("POST", path, json.dumps(body).encode(), "application/json", timeout_s))

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        kind: str,
        timeout_s: float,
        read: Callable[[IO[bytes]], None] | None = None,
    ) -> bytes:
        """Raises Unavailable when it should be tried again, Refused (or Replaced) when that is of no use."""
        headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {self._token}"}
        if body is not None:
            headers["Content-Type"] = kind
        # Most supervisors never ask the master anything, and loading this doubles the time they take to start.
        from http.client import HTTPException

        connection = self._connection(timeout_s)
        try:
            connection.request(method, self._prefix + path, body, headers)
            answer = connection.getresponse()
            if read is not None and answer.status < 300:
                read(answer)
            content = answer.read()
        except (OSError, HTTPException) as error:
            raise Unavailable(f"The master at {self.host}:{self.port} cannot be reached: {error}.") from error
        finally:
            connection.close()
        if answer.status < 300:
            return content
        sentence = f"The master answered {method} {path} with {answer.status}: {content[:500].decode(errors='replace')}"
        if answer.status >= 500 or answer.status in _MAY_PASS:
            raise Unavailable(sentence)
        raise (Replaced if answer.status in _OVER else Refused)(sentence)

    def _connection(self, timeout_s: float) -> "HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        if not self._is_secure:
            return HTTPConnection(self.host, self.port, timeout=timeout_s)
        import ssl

        trusted = self._certificate if self._certificate != "noverify" else ""
        context = ssl.create_default_context(cafile=trusted or None)
        if self._certificate == "noverify":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return HTTPSConnection(self.host, self.port, timeout=timeout_s, context=context)
