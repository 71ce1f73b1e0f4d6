"""Who is calling, and what a running task may touch. Deny by default.

`authenticate` is a dependency of the whole app: a route is open only when it is in `PUBLIC`. A task's own token reaches
its own trial, allocation and task, its experiment for reading, and the few routes in `TASK_ROUTES`.
"""

import time
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from resolute.domain.allocation import Allocation
from resolute.domain.errors import Forbidden, Unauthenticated
from resolute.domain.user import User
from resolute.engine.access import accounts
from resolute.engine.jobs.fencing import hash_token
from resolute.engine.platform import Platform

Route = tuple[str, str]

PUBLIC: frozenset[Route] = frozenset(
    {
        ("GET", "/"),
        ("GET", "/det"),
        ("GET", "/det/{path:path}"),
        ("GET", "/assets/{path:path}"),
        ("GET", "/favicon.ico"),
        ("GET", "/info"),
        ("GET", "/health"),
        ("GET", "/api/v1/master"),
        ("GET", "/api/v1/master/telemetry"),
        ("POST", "/api/v1/auth/login"),
    }
)
TASK_ROUTES: frozenset[Route] = frozenset(
    {
        ("GET", "/api/v1/me"),
        ("GET", "/api/v1/auth/user"),
        ("GET", "/api/v1/checkpoints/{checkpoint_uuid}"),
        ("GET", "/checkpoints/{checkpoint_uuid}"),
        ("POST", "/api/v1/checkpoints"),
        ("PATCH", "/api/v1/checkpoints"),
        ("POST", "/api/v1/runs/start"),
        ("POST", "/api/v1/task/logs"),
        ("POST", "/task-logs"),
        ("POST", "/api/v1/webhooks/custom"),
        ("POST", "/api/v1/trials/profiler/metrics"),
        ("GET", "/api/v1/models"),
        ("GET", "/api/v1/datasets/{name}/{version}"),
        ("GET", "/api/v1/datasets/{name}/{version}/files"),
        ("POST", "/api/v1/experiments/{experiment_id}/datasets"),
    }
)
SELF_CHECKED: frozenset[str] = frozenset({"/serving/{name}/{path:path}"})
"""Paths whose route decides who may call: a deployment may be public, or take a key of its own."""
_CACHE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    user: User
    token: str
    allocation: Allocation | None = None
    """Set when a running task calls with its own token."""
    experiment_id: int | None = None

    def owns(self, name: str, value: Any) -> bool:
        """Whether a path parameter names something of this task."""
        assert self.allocation is not None
        own = {
            "trial_id": self.allocation.trial_id,
            "run_id": self.allocation.trial_id,
            "task_id": self.allocation.task_id,
            "allocation_id": self.allocation.id,
            "experiment_id": self.experiment_id,
        }[name]
        return own is not None and str(own) == str(value)

    def require(self, name: str, value: Any) -> None:
        """Refuse a task that names somebody else's trial, task or allocation in a body."""
        if self.allocation is not None and not self.owns(name, value):
            raise Forbidden(f"The token of task {self.allocation.task_id} may not touch {name} {value}.")


class Tokens:
    """Token to principal, remembered for two seconds so that a busy trial costs no database read per report."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._known: dict[tuple[str, bool], tuple[float, Principal]] = {}

    async def principal(self, token: str, *, is_task: bool) -> Principal:
        key = (hash_token(token), is_task)
        known = self._known.get(key)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        find = self._of_task if is_task else self._of_user
        principal = await run_in_threadpool(find, token)
        if len(self._known) > 10_000:
            self._known.clear()
        self._known[key] = (time.monotonic() + _CACHE_S, principal)
        return principal

    def forget(self) -> None:
        """After a logout, a revoked token or a changed user."""
        self._known.clear()

    def _of_user(self, token: str) -> Principal:
        return Principal(user=accounts.authenticate(self._platform, token), token=token)

    def _of_task(self, token: str) -> Principal:
        with self._platform.store.read() as tx:
            allocation = tx.allocations.by_token_hash(hash_token(token))
            if allocation is None:
                raise Unauthenticated("This allocation token is unknown or its allocation has ended.")
            experiment_id = None
            if allocation.trial_id is not None:
                experiment_id = tx.trials.get(allocation.trial_id).experiment_id
                user_id = tx.experiments.get(experiment_id).user_id
            else:
                user_id = tx.tasks.get(allocation.task_id).user_id or 0
            user = tx.users.get(user_id)
        return Principal(user=user, token=token, allocation=allocation, experiment_id=experiment_id)


async def authenticate(connection: HTTPConnection) -> Principal | None:
    """The caller; None only on public routes."""
    method = connection.scope.get("method", "GET")
    route = (method, connection.scope["route"].path)
    if route in PUBLIC or route[1] in SELF_CHECKED:
        return None
    principal = await find_principal(connection)
    if principal.allocation is not None:
        _check_task(principal, route, connection.path_params)
    return principal


async def find_principal(connection: HTTPConnection) -> Principal:
    """From whichever header or cookie carries a token."""
    tokens: Tokens = connection.app.state.tokens
    task_token = _bearer(connection.headers.get("grpc-metadata-x-allocation-token"))
    if task_token:
        return await tokens.principal(task_token, is_task=True)
    token = (
        _bearer(connection.headers.get("authorization"))
        or _bearer(connection.headers.get("grpc-metadata-x-user-token"))
        or connection.cookies.get("auth")
    )
    if not token:
        raise Unauthenticated("Log in first: this needs a token (Authorization: Bearer ...).")
    return await tokens.principal(token, is_task=False)


def _check_task(principal: Principal, route: Route, params: dict[str, Any]) -> None:
    method, path = route
    owned = [name for name in params if name in ("trial_id", "run_id", "task_id", "allocation_id", "experiment_id")]
    for name in owned:
        principal.require(name, params[name])
    if owned and (method == "GET" or owned != ["experiment_id"]):
        return
    if route not in TASK_ROUTES:
        raise Forbidden(f"A task's token may not call {method} {path}. Use a user's token for it.")


def _bearer(header: str | None) -> str:
    if not header:
        return ""
    kind, _, token = header.partition(" ")
    return token.strip() if kind.lower() == "bearer" else header.strip()


async def _caller(principal: Annotated[Principal | None, Depends(authenticate)]) -> Principal:
    if principal is None:
        raise Unauthenticated("Log in first.")
    return principal


async def _platform(connection: HTTPConnection) -> Platform:
    platform: Platform = connection.app.state.platform
    return platform


Caller = Annotated[Principal, Depends(_caller)]
PlatformOf = Annotated[Platform, Depends(_platform)]
