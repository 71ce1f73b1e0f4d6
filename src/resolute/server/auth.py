"""Who is calling, and whether he may. Deny by default.

`authenticate` is a dependency of the whole app and reads what the route declares (`domain.needs`). What is decided by
the path is decided here; a route that decides about its body asks `Principal.check`, and one that lists asks
`Principal.workspaces`. A task's own token reaches its own things, with the rights of its owner beyond them.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from resolute.domain.allocation import Allocation
from resolute.domain.change import Actor, Via
from resolute.domain.errors import Forbidden, Unauthenticated
from resolute.domain.needs import Door, Need, Tasks
from resolute.domain.rights import OF_CLUSTER, Permission, Rights
from resolute.domain.user import User
from resolute.engine.access import accounts, rights
from resolute.engine.access.subjects import SUBJECTS, Beside
from resolute.engine.jobs.fencing import hash_token
from resolute.engine.jobs.kinds import names_of, owner_of
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.server.addresses import address_of, user_agent_of

_CACHE_S = 2.0
_OWN = ("trial_id", "run_id", "task_id", "allocation_id", "experiment_id")
"""Parameters that can name something of a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    user: User
    token: str
    rights: Rights
    allocation: Allocation | None = None
    """Set when a running task calls with its own token."""
    own: Mapping[str, object] = field(default_factory=dict)
    """What that task is and runs for, by the names of parameters."""
    via: Via = Via.SESSION
    """How the caller is known, for the audit log."""

    @property
    def acting(self) -> User:
        """The user, an administrator if his rights make him one."""
        return replace(self.user, is_admin=self.rights.has(Permission.ADMINISTRATE_USER))

    def owns(self, name: str, value: object) -> bool:
        """Whether a path parameter names something of this task."""
        assert self.allocation is not None
        own = self.own.get(name)
        return own is not None and str(own) == str(value)

    def require(self, name: str, value: object) -> None:
        """Refuse a task that names somebody else's trial, task or allocation in a body."""
        if self.allocation is not None and not self.owns(name, value):
            raise Forbidden(f"The token of task {self.allocation.task_id} may not touch {name} {value}.")

    def check(
        self, tx: Transaction, permission: Permission, parameter: str, value: object, beside: Beside | None = None
    ) -> None:
        """Whether the caller may do it to what a body names. A task does to its own things what its owner might.

        Raises NotFound for what is not there or may not be seen, Forbidden for what may not be done.
        """
        if self.allocation is not None and parameter in _OWN and self.owns(parameter, value):
            return
        rights.require(tx, self.rights, permission, parameter, value, beside)

    def workspaces(self, permission: Permission) -> frozenset[int] | None:
        """Those whose things may be listed; None: all."""
        return self.rights.workspaces(permission)

    def lists(self, permission: Permission, workspace_id: int) -> bool:
        return self.rights.holds(permission, workspace_id)


class Tokens:
    """Token to principal, remembered for two seconds so that a busy trial costs no database read per report.

    Forgotten at once when rights change.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._known: dict[tuple[str, bool], tuple[float, Principal]] = {}
        self._generation = 0
        for topic in (rights.RIGHTS_CHANGED, "users"):
            platform.bus.subscribe(topic, self.forget)

    @property
    def generation(self) -> int:
        """Grows whenever somebody's token or rights may have changed."""
        return self._generation

    async def principal(self, token: str, *, is_task: bool) -> Principal:
        find = self._of_task if is_task else self._of_user
        return await self._remembered((hash_token(token), is_task), lambda: find(token))

    async def principal_of_session(self, token_hash: str) -> Principal:
        """By what is stored of a user's token, for who has proved it in another way."""
        return await self._remembered((token_hash, False), lambda: self._of_session(token_hash, ""))

    async def _remembered(self, key: tuple[str, bool], find: Callable[[], Principal]) -> Principal:
        known = self._known.get(key)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        generation = self._generation
        principal = await run_in_threadpool(find)
        if len(self._known) > 10_000:
            self._known.clear()
        # What was read before a change is good for this request alone.
        if generation == self._generation:
            self._known[key] = (time.monotonic() + _CACHE_S, principal)
        return principal

    def forget(self) -> None:
        """After a logout, a revoked token, a changed user or changed rights."""
        self._generation += 1
        self._known.clear()

    def _of_user(self, token: str) -> Principal:
        return self._of_session(hash_token(token), token)

    def _of_session(self, token_hash: str, token: str) -> Principal:
        user, session = accounts.authenticate(self._platform, token_hash)
        via = Via.ACCESS_TOKEN if session.is_access_token else Via.SESSION
        with self._platform.store.read() as tx:
            return Principal(user=user, token=token, rights=self._rights(tx, user), via=via)

    def _of_task(self, token: str) -> Principal:
        with self._platform.store.read() as tx:
            allocation = tx.allocations.by_token_hash(hash_token(token))
            if allocation is None:
                raise Unauthenticated("This allocation token is unknown or its allocation has ended.")
            task = tx.tasks.get(allocation.task_id)
            user = tx.users.get(owner_of(tx, task).user_id)
            own = {**names_of(tx, task), "allocation_id": allocation.id}
            held = self._rights(tx, user)
        return Principal(user=user, token=token, rights=held, allocation=allocation, own=own, via=Via.TASK)

    def _rights(self, tx: Transaction, user: User) -> Rights:
        return rights.rights_of(tx, user, self._platform.config.rights)


async def authenticate(connection: HTTPConnection) -> Principal | None:
    """The caller; None only on routes that are open, or check him themselves."""
    needs: Need = connection.scope["route"].needs
    if needs.door in (Door.OPEN, Door.CHECKED_INSIDE):
        return None
    principal = await find_principal(connection)
    connection.scope["principal"] = principal
    if principal.allocation is not None:
        if _is_of_own_task(principal, needs, connection):
            return principal
    elif needs.door is Door.TASK:
        raise Forbidden(
            f"Only a running task may call {_called(connection)}, with its own token (DET_SESSION_TOKEN): no user's "
            "token will do."
        )
    check = _check_of(principal, needs, connection)
    if check is not None:
        await run_in_threadpool(check)
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


def _is_of_own_task(principal: Principal, needs: Need, connection: HTTPConnection) -> bool:
    """Whether the path names things of this task alone. Raises Forbidden for what a task may not call."""
    owned = [name for name in connection.path_params if name in _OWN]
    for name in owned:
        principal.require(name, connection.path_params[name])
    if needs.tasks is Tasks.NONE or (needs.tasks is Tasks.OWN and not owned):
        raise Forbidden(f"A task's token may not call {_called(connection)}. Use a user's token for it.")
    return needs.tasks is Tasks.OWN or bool(owned)


def _check_of(principal: Principal, needs: Need, connection: HTTPConnection) -> Callable[[], None] | None:
    """What is left to ask the store; None: the answer is known without it."""
    permission = needs.permission
    if permission is None:
        return None
    if permission in OF_CLUSTER:
        principal.rights.require_everywhere(permission)
        return None
    if not needs.is_about_path or principal.rights.has(permission):
        return None
    platform: Platform = connection.app.state.platform
    # Of the query, nothing else says which thing is meant.
    beside = {"namespace": connection.query_params.get("namespace"), **connection.path_params}

    def check() -> None:
        with platform.store.read() as tx:
            for name, value in connection.path_params.items():
                if name in SUBJECTS:
                    rights.require(tx, principal.rights, permission, name, value, beside)

    return check


def _called(connection: HTTPConnection) -> str:
    return f"{connection.scope.get('method', 'GET')} {connection.scope['route'].path}"


def _bearer(header: str | None) -> str:
    if not header:
        return ""
    kind, _, token = header.partition(" ")
    return token.strip() if kind.lower() == "bearer" else header.strip()


async def _caller(principal: Annotated[Principal | None, Depends(authenticate)]) -> Principal:
    if principal is None:
        raise Unauthenticated("Log in first.")
    return principal


async def _platform(
    connection: HTTPConnection, principal: Annotated[Principal | None, Depends(authenticate)]
) -> Platform:
    """As the caller uses it: the outbox says who changed something, and from where."""
    platform: Platform = connection.app.state.platform
    return replace(platform, actor=_actor(connection, principal))


def _actor(connection: HTTPConnection, principal: Principal | None) -> Actor:
    user = None if principal is None else principal.user
    return Actor(
        user_id=None if user is None else user.id,
        name="" if user is None else user.username,
        via=Via.NOBODY if principal is None else principal.via,
        address=address_of(connection),
        user_agent=user_agent_of(connection),
    )


Caller = Annotated[Principal, Depends(_caller)]
PlatformOf = Annotated[Platform, Depends(_platform)]
