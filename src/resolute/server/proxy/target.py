"""Which task a request is for, whether its sender may use it, and where it listens. Deny by default."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from resolute.domain.allocation import AllocationState
from resolute.domain.errors import Forbidden, NotFound, Unauthenticated, Unavailable
from resolute.domain.listening import address_parts
from resolute.engine.jobs.kinds import kind_of
from resolute.engine.jobs.task_kind import Speaks
from resolute.engine.platform import Platform
from resolute.server.auth import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    task_id: str
    host: str
    port: int
    speaks: Speaks

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def find_target(platform: Platform, task_id: str, caller: Principal | None) -> Target:
    """Where the task listens, for a caller who may use it. Without one only SSH, which asks for a key of its own.

    Raises Unauthenticated, NotFound and Forbidden as rights say, and Unavailable while it does not listen.
    """
    if caller is not None and caller.allocation is not None:
        raise Forbidden("A task's token opens no other task. Use a user's token.")
    with platform.store.read() as tx:
        try:
            task = tx.tasks.get(task_id)
        except NotFound:
            if caller is None:
                raise _log_in() from None
            raise
        kind = kind_of(task)
        if caller is None and (kind.speaks is not Speaks.SSH or kind.enter is None):
            raise _log_in()
        if caller is not None:
            caller.check(tx, kind.enter or kind.view, "task_id", task_id)
        if not kind.listens or kind.enter is None:
            raise NotFound(f"Nothing of task {task_id} is reached through /proxy: it is a {task.type.lower()}.")
        allocations = tx.allocations.of_task(task_id)
    current = allocations[-1] if allocations else None
    what = task.type.lower()
    if task.end_time is not None or current is None or current.state is AllocationState.TERMINATED:
        raise NotFound(f"The {what} {task_id} has ended. Start another one; its log says why.")
    if not current.is_ready or not current.proxy_address:
        raise Unavailable(f"The {what} {task_id} is {current.state.lower()} and does not listen yet. Try again soon.")
    host, port = address_parts(current.proxy_address)
    if port in platform.config.own_ports | _router_ports(platform) and host in ("127.0.0.1", "localhost", "::1"):
        raise NotFound(f"The {what} {task_id} says that it listens where the platform does.")
    return Target(task_id=task_id, host=host, port=port, speaks=kind.speaks)


def _router_ports(platform: Platform) -> frozenset[int]:
    port = urlsplit(platform.traffic.router_url).port
    return frozenset() if port is None else frozenset({port})


def _log_in() -> Unauthenticated:
    return Unauthenticated("Log in first: a task is used by who may use its workspace.")
