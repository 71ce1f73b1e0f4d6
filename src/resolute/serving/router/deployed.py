"""A deployment as the router serves it: who answers, who waits. It outlives the tables that change it."""

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from typing import Protocol

from resolute.domain.replica_health import Health, outliers
from resolute.domain.routing import RoutedDeployment, RoutedRevision
from resolute.domain.traffic import pick, position_of_number, position_of_value
from resolute.serving.http.request import Request
from resolute.serving.router.counts import DeploymentCounter
from resolute.serving.router.request import cookie
from resolute.serving.router.upstream import Replica

MOST_WAITING = 1000
MOST_SHADOWS = 32
LONGEST_WAIT_FOR_SICK_S = 30.0
"""Long enough for a hung replica to be found out and replaced."""


class Waiter(Protocol):
    """A request for which there is no replica yet."""

    @property
    def size(self) -> int: ...
    def dispatch(self) -> None:
        """Try again."""

    def forget(self) -> None:
        """The deployment is no more."""


class Group:
    """The replicas of one revision."""

    def __init__(self, revision: RoutedRevision, replicas: list[Replica]) -> None:
        self.timeout_s = revision.timeout_s
        self.health_path = revision.health_path
        self.idempotent = revision.idempotent
        self.replicas = replicas
        self._next = 0

    def least_loaded(self, now: float) -> Replica | None:
        """Of those that are well, else of those that were ejected. None: nobody can answer now."""
        count = len(self.replicas)
        self._next += 1
        best: Replica | None = None
        ejected: Replica | None = None
        for offset in range(count):
            replica = self.replicas[(self._next + offset) % count]
            health = replica.health(now)
            if replica.is_resting(now) or health in (Health.UNREADY, Health.HUNG):
                continue
            if health is Health.EJECTED:
                ejected = _freer(ejected, replica)
            else:
                best = _freer(best, replica)
        return best or ejected

    def eject(self, now: float) -> list[Replica]:
        """Send those to rest that fail or dawdle beside the others. Returns them."""
        replicas = {replica.id: replica for replica in self.replicas}
        out = [replica.id for replica in self.replicas if replica.health(now) is not Health.HEALTHY]
        found = outliers({name: replica.record.recent(now) for name, replica in replicas.items()}, out=out)
        for name, why in found.items():
            replicas[name].ejection.eject(now, why)
            replicas[name].record.forget(now)
        return [replicas[name] for name in found]


def _freer(best: Replica | None, replica: Replica) -> Replica:
    return replica if best is None or replica.in_flight < best.in_flight else best


class Deployed:
    def __init__(self, routed: RoutedDeployment, on_demand: Callable[[], None]) -> None:
        self.counter = DeploymentCounter()
        self.waiting: dict[Waiter, None] = {}
        self.shadows = 0
        self._waiting_bytes = 0
        self.groups: dict[int, Group] = {}
        self.routed = routed
        self._on_demand = on_demand
        self._wake: asyncio.TimerHandle | None = None
        self._sticky_kind, self._sticky_name = "", ""

    def follow(self, routed: RoutedDeployment, replicas: Mapping[str, Replica]) -> None:
        """Take over a new table, and let those who wait try again."""
        self.routed = routed
        self.groups = {
            each.number: Group(each, [replicas[replica.id] for replica in each.replicas if replica.id in replicas])
            for each in routed.revisions
        }
        self._sticky_kind, _, self._sticky_name = routed.sticky.partition(":")
        self.wake()

    # ------------------------------------------------------------------------------------------- who answers

    def place(self, request: Request) -> tuple[int, bytes]:
        """Where in the split a request falls, and a header line for its answer when it must be remembered."""
        value = self._sticky_value(request)
        if value:
            return position_of_value(value), b""
        if self._sticky_kind == "cookie":
            value = secrets.token_hex(8)
            line = f"set-cookie: {self._sticky_name}={value}; Path=/; HttpOnly; SameSite=Lax\r\n"
            return position_of_value(value), line.encode()
        self.counter.picked += 1
        return position_of_number(self.counter.picked), b""

    def _sticky_value(self, request: Request) -> str | None:
        if self._sticky_kind == "header":
            header = request.header(self._sticky_name.lower().encode())
            return header.decode("latin-1") if header else None
        return cookie(request, self._sticky_name) if self._sticky_kind == "cookie" else None

    def choose(self, position: int, now: float) -> tuple[int, Group, Replica] | None:
        """None: nobody can answer now. The last of the split, the stable one, stands in for the others."""
        split = self.routed.split
        if not split:
            return None
        for revision in dict.fromkeys((pick(split, position), split[-1][0])):
            group = self.groups.get(revision)
            replica = group.least_loaded(now) if group is not None and group.replicas else None
            if group is not None and replica is not None:
                return revision, group, replica
        return None

    def choose_shadow(self, now: float) -> tuple[int, Group, Replica] | None:
        routed = self.routed
        group = self.groups.get(routed.shadow or 0)
        if routed.shadow is None or group is None or not group.replicas or self.shadows >= MOST_SHADOWS:
            return None
        self.counter.shadowed += 1
        if pick(((1, routed.shadow_percent), (0, 0.0)), position_of_number(self.counter.shadowed)) == 0:
            return None
        replica = group.least_loaded(now)
        return (routed.shadow, group, replica) if replica is not None else None

    def is_allowed(self, request: Request) -> bool:
        """Whether the request shows this deployment's key."""
        kind, _, key = (request.header(b"authorization") or b"").partition(b" ")
        shown = hashlib.sha256(key.strip()).hexdigest()
        return self.routed.public or (kind.lower() == b"bearer" and hmac.compare_digest(shown, self.routed.key_hash))

    # --------------------------------------------------------------------------------------------- who waits

    @property
    def wait_s(self) -> float:
        """A replica that is being started is waited for; one that is there and does not answer not so long."""
        is_there = any(group.replicas for group in self.groups.values())
        return min(self.routed.wait_s, LONGEST_WAIT_FOR_SICK_S) if is_there else self.routed.wait_s

    def wait(self, waiter: Waiter) -> bool:
        """False: too many wait already."""
        if waiter not in self.waiting:
            is_full = self._waiting_bytes + waiter.size > self.routed.max_waiting_bytes
            if len(self.waiting) >= MOST_WAITING or is_full:
                return False
            if not self.waiting:
                self._on_demand()
            self.waiting[waiter] = None
            self._waiting_bytes += waiter.size
        self._wake_when_rested()
        return True

    def stop_waiting(self, waiter: Waiter) -> None:
        if waiter in self.waiting:
            del self.waiting[waiter]
            self._waiting_bytes -= waiter.size

    def wake(self) -> None:
        self._wake = None
        for waiter in list(self.waiting):
            waiter.dispatch()

    def _wake_when_rested(self) -> None:
        """Replicas that rest are tried again; new ones come with a table."""
        loop = asyncio.get_running_loop()
        resting = [r.rests_until for group in self.groups.values() for r in group.replicas if r.rests_until]
        if resting and self._wake is None:
            self._wake = loop.call_at(max(min(resting), loop.time() + 0.01), self.wake)
