"""Tasks on origins of their own (`--task-domain`): `<task id>.<domain>`, where a page has no share in the platform's.

A browser is led there from the platform's own address with a code that is good once, for a moment and for one task;
there it gets a cookie that opens this task alone, for as long as the session behind it lasts. The platform's own cookie
never goes to such an origin, and nothing but the task is served there.
"""

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.requests import HTTPConnection

from resolute.domain.errors import InvalidInput, Unauthenticated
from resolute.server.proxy.headers import TASK_COOKIE

CODE_PARAMETER = "resolute_code"
_CODE_LIFE_S = 30.0
_MOST_CODES = 10_000


@dataclass(frozen=True, slots=True)
class _Code:
    task_id: str
    token_hash: str
    ends_at: float


@dataclass(slots=True)
class TaskOrigins:
    """`domain` empty: tasks share the platform's origin."""

    domain: str = ""
    _codes: dict[str, _Code] = field(default_factory=dict)

    def task_of(self, host: str) -> str | None:
        """Whose origin a Host header names; None: the platform's own."""
        name, suffix = host.partition(":")[0].lower(), f".{self.domain.partition(':')[0]}"
        return name.removesuffix(suffix) if self.domain and name.endswith(suffix) else None

    def lead_there(self, task_id: str, token_hash: str, connection: HTTPConnection) -> str:
        """The address on the task's own origin for a request that came to the platform's."""
        code = secrets.token_urlsafe(32)
        now = time.monotonic()
        if len(self._codes) >= _MOST_CODES:
            self._codes = {key: each for key, each in self._codes.items() if each.ends_at > now}
        self._codes[hashlib.sha256(code.encode()).hexdigest()] = _Code(task_id, token_hash, now + _CODE_LIFE_S)
        port = connection.headers.get("host", "").partition(":")[2]
        host = f"{task_id}.{self.domain}" + (f":{port}" if port and ":" not in self.domain else "")
        query = [*parse_qsl(connection.url.query, keep_blank_values=True), (CODE_PARAMETER, code)]
        path: str = connection.scope["raw_path"].partition(b"?")[0].decode("latin-1")
        return f"{connection.url.scheme}://{host}{path}?{urlencode(query)}"

    def redeem(self, code: str, task_id: str) -> str:
        """The hash of the token that a code stands for, once. Raises Unauthenticated."""
        found = self._codes.pop(hashlib.sha256(code.encode()).hexdigest(), None)
        if found is None or found.task_id != task_id or found.ends_at < time.monotonic():
            raise Unauthenticated(
                "This way into the task has been used, or is too old. Open it from the platform again."
            )
        return found.token_hash


def task_cookie(secret: str, task_id: str, token_hash: str) -> str:
    return f"{token_hash}.{_proof(secret, task_id, token_hash)}"


def token_hash_in(secret: str, task_id: str, connection: HTTPConnection) -> str:
    """Raises Unauthenticated when the cookie is not this task's."""
    token_hash, _, proof = connection.cookies.get(TASK_COOKIE, "").partition(".")
    if not token_hash or not hmac.compare_digest(proof.encode(), _proof(secret, task_id, token_hash).encode()):
        raise Unauthenticated("You are not signed in to this task. Open it from the platform.")
    return token_hash


def checked_domain(text: str) -> str:
    """Raises InvalidInput for what is no domain."""
    domain = text.strip().lower().removeprefix("*.").strip(".")
    name, _, port = domain.partition(":")
    labels = name.split(".")
    is_name = all(label and label.isascii() and label.replace("-", "a").isalnum() for label in labels)
    if not is_name or labels[-1].isdigit() or (":" in domain and not port.isdigit()):
        raise InvalidInput(
            f"--task-domain {text!r} is no domain. Give one whose subdomains all lead here: tasks.example.org."
        )
    return domain


def _proof(secret: str, task_id: str, token_hash: str) -> str:
    return hmac.new(secret.encode(), f"task cookie/{task_id}/{token_hash}".encode(), hashlib.sha256).hexdigest()
