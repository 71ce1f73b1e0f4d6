"""The master as one allocation sees it: its address, its token, calls with a JSON answer, and waits.

Calls block and raise. Nothing is repeated here: `Unavailable` says that the same call may work later, and whoever
calls knows for how long that is worth trying (see `retry`).
"""

from collections.abc import Callable, Mapping
from typing import Any

import httpx
import msgspec

from resolute.client.faults import refusal_of
from resolute.client.task.long_poll import LongPoll
from resolute.client.transport import open_http
from resolute.domain.errors import InvalidInput, ResoluteError, TooManyRequests, Unavailable, Untrusted
from resolute.host.trust import Trust, why_not_trusted
from resolute.version import __version__

Json = dict[str, Any]

TOKEN_HEADER = "Grpc-Metadata-x-allocation-token"
_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_MAY_PASS = frozenset({408, 425, 429})


class TaskClient:
    """Safe to share between threads. Connections are kept open and used again."""

    def __init__(
        self, master: str, token: str, trust: Trust | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.master = master.rstrip("/")
        self._token = token
        self._trust = trust or Trust()
        self._transport = transport
        self._http = self._open()
        self._poll = LongPoll(self._open)

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "TaskClient | None":
        """As the environment of an allocation says; None outside of one."""
        master = env.get("DET_MASTER") or env.get("RESOLUTE_MASTER") or ""
        token = env.get("DET_SESSION_TOKEN", "")
        return cls(master, token, Trust.of(env)) if master and token else None

    def get(self, path: str, *, timeout_s: float = 30.0, **query: Any) -> Json:
        return self.call("GET", path, query=query, timeout_s=timeout_s)

    def post(self, path: str, body: Any = None) -> Json:
        return self.call("POST", path, body=body)

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        timeout_s: float = 30.0,
    ) -> Json:
        """Raises the master's error as a domain error; Unavailable when the same call may work later."""
        content = msgspec.json.encode(body) if body is not None else None
        params = dict(query) if query else None
        headers = {"Content-Type": "application/json"} if content else {}
        timeout = _TIMEOUT if timeout_s == _TIMEOUT.read else httpx.Timeout(timeout_s, connect=5.0)
        return self._answer(
            f"{method} {path}",
            lambda: self._http.request(method, path, content=content, headers=headers, params=params, timeout=timeout),
        )

    def wait(self, path: str, *, timeout_s: float) -> Json:
        """A GET that the master may answer late. `break_off_waits` in another thread ends it."""
        return self._answer(f"GET {path}", lambda: self._poll.get(path, timeout_s))

    def break_off_waits(self) -> None:
        """End the wait that goes on, and all later ones, at once."""
        self._poll.break_off()

    def close(self) -> None:
        self._poll.close()
        self._http.close()

    def _open(self) -> httpx.Client:
        # The master is named in full; a proxy for the outside world must not come between.
        return open_http(
            self.master,
            self._trust,
            timeout=_TIMEOUT,
            is_proxied=False,
            headers={TOKEN_HEADER: f"Bearer {self._token}", "User-Agent": f"resolute-task/{__version__}"},
            transport=self._transport,
        )

    def _answer(self, call: str, send: Callable[[], httpx.Response]) -> Json:
        try:
            response = send()
        except (httpx.HTTPError, OSError) as problem:
            why = why_not_trusted(problem)
            if why:
                raise Untrusted(f"The certificate of {self.master} is not trusted: {why}.") from problem
            raise Unavailable(f"Master {self.master} does not answer ({type(problem).__name__}).") from problem
        except RuntimeError as problem:  # httpx raises it for a client that was closed meanwhile
            raise Unavailable("The connection to the master was closed.") from problem
        if response.status_code >= 300:
            raise _refused(response, call)
        decoded: Json = msgspec.json.decode(response.content) if response.content else {}
        return decoded


def _refused(response: httpx.Response, call: str) -> ResoluteError:
    refusal = refusal_of(response)
    text = f"The master refused {call} with {response.status_code}: {refusal.sentence}"
    if refusal.kind not in (ResoluteError, TooManyRequests):
        return refusal.kind(text)
    is_passing = response.status_code in _MAY_PASS or response.status_code >= 500
    return Unavailable(text) if is_passing else InvalidInput(text)
