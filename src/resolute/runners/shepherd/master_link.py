"""Talks to the master from a supervisor, with the allocation's token. The standard library only: a supervisor runs in
environments where nothing else is installed. It decides nothing and retries nothing: its callers know how patient to
be.
"""

import json
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from resolute.domain.errors import ResoluteError, Unavailable, Untrusted

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
        self._env = env

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
        """Raises Unavailable when it should be tried again, Refused (or Replaced) when that is of no use; Untrusted, or
        InvalidInput for the variables that say whom to trust, when the certificate stands in between.
        """
        headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {self._token}"}
        if body is not None:
            headers["Content-Type"] = kind
        # Most supervisors never ask the master anything, and loading this doubles the time they take to start.
        from http.client import HTTPException

        connection = self._connection(timeout_s)
        address = f"{self.host}:{self.port}"
        try:
            connection.request(method, self._prefix + path, body, headers)
            answer = connection.getresponse()
            if read is not None and answer.status < 300:
                read(answer)
            content = answer.read()
        except (OSError, HTTPException) as error:
            if self._is_secure and (why := _why_not_trusted(error)):
                raise Untrusted(f"The certificate of https://{address} is not trusted: {why}.") from error
            raise Unavailable(f"The master at {address} cannot be reached: {error}.") from error
        finally:
            connection.close()
        if answer.status < 300:
            return content
        sentence = f"The master answered {method} {path} with {answer.status}: {content[:500].decode(errors='replace')}"
        if answer.status >= 500 or answer.status in _MAY_PASS:
            raise Unavailable(sentence)
        raise (Replaced if answer.status in _OVER else Refused)(sentence)

    def _connection(self, timeout_s: float) -> "HTTPConnection":
        from http.client import HTTPConnection

        if not self._is_secure:
            return HTTPConnection(self.host, self.port, timeout=timeout_s)
        return _secure_connection(self.host, self.port, timeout_s, self._env)


def _secure_connection(host: str, port: int, timeout_s: float, env: Mapping[str, str]) -> "HTTPConnection":
    from http.client import HTTPConnection

    from resolute.host.trust import Trust

    trust = Trust.of(env)
    tls = trust.context("https:")
    assert tls is not None
    wrap = tls.wrap_socket

    class SecureConnection(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            self.sock = wrap(self.sock, server_hostname=trust.cert_name or host)

    return SecureConnection(host, port, timeout=timeout_s)


def _why_not_trusted(error: BaseException) -> str:
    from resolute.host.trust import why_not_trusted

    return why_not_trusted(error)
