"""Calls to one master: authentication, retries, pages and streams. Knows no resource.

A call is repeated only when that cannot do it twice: idempotent methods on 502, 503, 504 and broken connections, any
method when the connection was never made. A master that has not answered yet is not waited for.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from resolute.client.faults import error_from, stream_error, unreachable
from resolute.client.transport import open_http
from resolute.domain.errors import Unavailable
from resolute.host.trust import Trust
from resolute.version import __version__

Query = dict[str, Any]
Json = dict[str, Any]
Authenticate = Callable[["Session"], str | None]
"""Finds a token, if need be by logging in with the session it is given. None: go on without."""

TRIES = 5
FIRST_WAIT_S = 0.5
PAGE = 200
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
_TRY_AGAIN = frozenset({502, 503, 504})


class Session:
    """Safe to share between threads. `transport` and `sleep` are there for tests and embedding."""

    def __init__(
        self,
        master: str,
        *,
        authenticate: Authenticate | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        trust: Trust | None = None,
        program: str = "resolute-sdk",
    ) -> None:
        self.master = master
        self._authenticate = authenticate
        self._sleep = sleep
        self._token: str | None = None
        self._has_token = authenticate is None
        self._has_answered = False
        # The environment's proxies are honoured for remote masters, as every HTTP tool does.
        self._http = open_http(
            master,
            trust or Trust(),
            timeout=_TIMEOUT,
            is_proxied=True,
            headers={"User-Agent": f"{program}/{__version__}"},
            transport=transport,
        )

    def get(self, path: str, **query: Any) -> Json:
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Any = None) -> Json:
        return self.call("POST", path, body=body)

    def put(self, path: str, body: Any = None) -> Json:
        return self.call("PUT", path, body=body)

    def patch(self, path: str, body: Any = None) -> Json:
        return self.call("PATCH", path, body=body)

    def delete(self, path: str, body: Any = None) -> Json:
        return self.call("DELETE", path, body=body)

    def call(
        self, method: str, path: str, *, body: Any = None, query: Query | None = None, is_open: bool = False
    ) -> Json:
        """One call with a JSON answer. `is_open`: sent without a token. Raises the master's error as a domain error."""
        response = self._send(method, path, body=body, query=query, is_open=is_open)
        response.read()
        if not response.content:
            return {}
        answer = json.loads(response.content)
        return answer if isinstance(answer, dict) else {"result": answer}

    def pages(self, path: str, key: str, *, limit: int | None = None, page: int = PAGE, **query: Any) -> Iterator[Json]:
        """Every item of a paginated list, fetched page by page as it is consumed; at most `limit`."""
        offset, left = int(query.pop("offset", 0) or 0), limit
        while left is None or left > 0:
            size = page if left is None else min(page, left)
            answer = self.get(path, **query, offset=offset, limit=size)
            items = answer.get(key) or []
            yield from items
            offset = int((answer.get("pagination") or {}).get("endIndex") or offset + len(items))
            total = int((answer.get("pagination") or {}).get("total") or 0)
            left = None if left is None else left - len(items)
            if not items or offset >= total:
                return

    def stream(self, path: str, **query: Any) -> Iterator[Json]:
        """Results of a newline-delimited JSON stream, as they arrive. Never times out while the master lives."""
        response = self._send("GET", path, query=query, is_stream=True)
        try:
            for line in response.iter_lines():
                if not line.strip():
                    continue
                message = json.loads(line)
                if message.get("error"):
                    raise stream_error(message["error"])
                yield message.get("result") or {}
        except httpx.TransportError as problem:
            raise Unavailable(
                f"The stream from {self.master} broke off ({problem}); what came before it is complete. Try again."
            ) from problem
        finally:
            response.close()

    def download(self, path: str, *, accept: str) -> Iterator[bytes]:
        """The raw bytes of a file, in chunks."""
        response = self._send("GET", path, is_stream=True, accept=accept)
        try:
            yield from response.iter_raw()
        except httpx.TransportError as problem:
            raise Unavailable(f"The download from {self.master}{path} broke off ({problem}); try again.") from problem
        finally:
            response.close()

    def close(self) -> None:
        self._http.close()

    def _send(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Query | None = None,
        is_open: bool = False,
        is_stream: bool = False,
        accept: str = "application/json",
    ) -> httpx.Response:
        request = self._http.build_request(
            method,
            path,
            params=httpx.QueryParams(_flat(query or {})),
            content=json.dumps(body).encode() if body is not None else None,
            headers={"Accept": accept, **({"Content-Type": "application/json"} if body is not None else {})},
            # A stream is silent for as long as nothing happens; only connecting to it may take too long.
            timeout=httpx.Timeout(None, connect=10.0) if is_stream else _TIMEOUT,
        )
        self._authorise(request, is_open=is_open)
        response = self._send_with_retries(request)
        if response.status_code == 401 and not is_open and self._authenticate:
            response.close()
            self._has_token = False
            self._authorise(request, is_open=is_open)
            response = self._send_with_retries(request)
        if response.status_code >= 300:
            response.read()
            raise error_from(response, self.master)
        return response

    def _authorise(self, request: httpx.Request, *, is_open: bool) -> None:
        if is_open:
            return
        if not self._has_token and self._authenticate:
            self._token = self._authenticate(self)
            self._has_token = True
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"

    def _send_with_retries(self, request: httpx.Request) -> httpx.Response:
        for wait_s in (FIRST_WAIT_S * 2**n for n in range(TRIES - 1)):
            try:
                response = self._http.send(request, stream=True)
            except httpx.TransportError as problem:
                if not self._is_repeatable(request, problem):
                    raise unreachable(self.master, problem) from problem
            else:
                if response.status_code not in _TRY_AGAIN or request.method not in _IDEMPOTENT:
                    self._has_answered = True
                    return response
                response.close()
            self._sleep(wait_s)
        try:
            return self._http.send(request, stream=True)
        except httpx.TransportError as problem:
            raise unreachable(self.master, problem) from problem

    def _is_repeatable(self, request: httpx.Request, problem: httpx.TransportError) -> bool:
        if not self._has_answered:
            return False
        never_sent = isinstance(problem, (httpx.ConnectError, httpx.ConnectTimeout))
        return never_sent or (
            request.method in _IDEMPOTENT and isinstance(problem, httpx.NetworkError | httpx.RemoteProtocolError)
        )


def _flat(query: Query) -> tuple[tuple[str, str | int | float | bool | None], ...]:
    """Query pairs as the API wants them: None left out, lists repeated, booleans in lower case."""
    pairs: list[tuple[str, str | int | float | bool | None]] = []
    for key, value in query.items():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None:
                pairs.append((key, str(item).lower() if isinstance(item, bool) else str(item)))
    return tuple(pairs)
