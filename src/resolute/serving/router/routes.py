"""Everything the router knows: the table it follows, and which deployment a request means."""

import asyncio
import hmac
import logging
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from resolute.domain.data_path import forward_proof, is_for_the_platform, why_ambiguous
from resolute.domain.errors import InvalidInput
from resolute.domain.replica_health import Health
from resolute.domain.routing import RoutedReplica, RoutedRevision, RouterCounts, RoutingTable, SickReplica
from resolute.serving.http.answers import plain, refuse
from resolute.serving.http.request import Refused, Request
from resolute.serving.router.deployed import Deployed
from resolute.serving.router.request import named_in_path
from resolute.serving.router.upstream import Replica

_log = logging.getLogger("resolute.router")


@dataclass(frozen=True, slots=True)
class Found:
    """Whom a request is for, and what it asks for there."""

    deployed: Deployed
    path: bytes


class Routes:
    """`forward_token`: the master shows it for callers whom it has checked itself."""

    def __init__(self, *, forward_token: str, on_demand: Callable[[], None]) -> None:
        self.table = RoutingTable()
        self.started = secrets.token_hex(8)
        self.now = asyncio.get_running_loop().time
        self._forward_token = forward_token
        self._on_demand = on_demand
        self._deployed: dict[int, Deployed] = {}
        self._by_host: dict[str, Deployed] = {}
        self._by_name: dict[str, Deployed] = {}
        self._replicas: dict[str, Replica] = {}
        self._leaving: list[Replica] = []

    def follow(self, table: RoutingTable) -> None:
        """Requests under way go on where they are. A row that cannot be followed stops no other."""
        self.table = table
        self._take_replicas(table)
        known, self._deployed = self._deployed, {}
        self._by_host, self._by_name = {}, {}
        for routed in table.deployments:
            deployed = known.pop(routed.id, None) or Deployed(routed, self._on_demand)
            self._deployed[routed.id] = deployed
            self._by_host[f"{routed.name}.{routed.namespace}"] = deployed
            if routed.namespace == "default" or routed.name not in self._by_name:
                self._by_name[routed.name] = deployed
        for routed in table.deployments:
            try:
                self._deployed[routed.id].follow(routed, self._replicas)
            except Exception:
                _log.exception("Deployment %s cannot be followed; the others are.", routed.name)
        for deleted in known.values():
            for exchange in list(deleted.waiting):
                exchange.forget()

    def _take_replicas(self, table: RoutingTable) -> None:
        known, self._replicas = self._replicas, {}
        for routed in table.deployments:
            for revision in routed.revisions:
                for each in revision.replicas:
                    try:
                        self._replicas[each.id] = _taken(known, each, revision)
                    except InvalidInput as problem:
                        _log.warning("Replica %s of %s is left out: %s", each.id, routed.name, problem)
        for replica in known.values():
            replica.close()
        self._leaving = [r for r in (*self._leaving, *known.values()) if r.in_flight]

    def find(self, request: Request) -> Found:
        """By the Host header, else by `/serving/<name>`. Raises the refusal when there is none, or no key is shown."""
        path = request.url.partition(b"?")[0].decode("latin-1")
        why = why_ambiguous(path)
        if why:
            raise refuse(400, f"The path {path[:200]!r} is refused: {why}.")
        found_path, host = request.url, request.header(b"host") or b""
        labels = host.partition(b":")[0].decode("latin-1").lower().split(".", 2)
        deployed = self._by_host.get(".".join(labels[:2])) if len(labels) > 1 else None
        if deployed is None:
            named = named_in_path(request.url)
            if named is None:
                if request.url in (b"/", b"/healthz"):
                    raise Refused(200, plain(200, {"status": "alive"}))
                raise refuse(404, self._unknown(host.decode("latin-1")))
            name, found_path = named
            deployed = self._by_name.get(name) or self._by_host.get(name)
            if deployed is None:
                raise refuse(404, self._unknown(name))
        self._check_path(found_path)
        if self.table.requires_key and not self._is_forwarded(request, deployed) and not deployed.is_allowed(request):
            raise refuse(401, "Send the deployment's key: `Authorization: Bearer <key>` (shown when it was created).")
        return Found(deployed, found_path)

    def _check_path(self, found_path: bytes) -> None:
        path = found_path.partition(b"?")[0].decode("latin-1")
        if is_for_the_platform(path):
            raise refuse(404, f"There is nothing at {path[:200]} of a deployment.")

    def _is_forwarded(self, request: Request, deployed: Deployed) -> bool:
        """Raises the refusal when the master has checked the caller for another deployment."""
        shown = request.header(b"x-resolute-forwarded")
        if shown is None:
            return False
        wanted = forward_proof(self._forward_token, deployed.routed.id).encode()
        if shown.partition(b".")[0] != wanted.partition(b".")[0]:
            raise refuse(403, "This request was checked for another deployment.")
        return hmac.compare_digest(shown, wanted)

    def _unknown(self, name: str) -> str:
        sentence = f"There is no deployment {name!r}. Use `/serving/<name>/...` or `Host: <name>.<namespace>.<domain>`."
        if self.table.requires_key:
            return sentence
        names = ", ".join(sorted(self._by_name)) or "none yet"
        return f"{sentence} There are: {names}."

    @property
    def deployed(self) -> Iterable[Deployed]:
        return self._deployed.values()

    def counts(self) -> RouterCounts:
        self._leaving = [replica for replica in self._leaving if replica.in_flight]
        replicas = [*self._replicas.values(), *self._leaving]
        now = self.now()
        return RouterCounts(
            started=self.started,
            version=self.table.version,
            deployments={key: each.counter.counts(len(each.waiting)) for key, each in self._deployed.items()},
            in_flight={replica.id: replica.in_flight for replica in replicas if replica.in_flight},
            sick={
                replica.id: _sick(replica, now)
                for replica in self._replicas.values()
                if replica.health(now) is not Health.HEALTHY
            },
        )


def _sick(replica: Replica, now: float) -> SickReplica:
    health = replica.health(now)
    reason = replica.ejection.reason if health is Health.EJECTED else replica.probes.reason
    return SickReplica(health=health, reason=reason)


def _taken(known: dict[str, Replica], routed: RoutedReplica, revision: RoutedRevision) -> Replica:
    if routed.id in known and known[routed.id].address == routed.address:
        taken = known.pop(routed.id)
        taken.probes.hung_after_s, taken.probes.busy_s = revision.hung_after_s, revision.busy_s
        return taken
    return Replica(routed.id, routed.address, revision.hung_after_s, revision.busy_s)
