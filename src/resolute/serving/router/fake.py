"""A router without a process: tests of the engine read what it was told and script what it counted."""

from dataclasses import replace

from resolute.domain.replica_health import Health
from resolute.domain.routing import (
    DeploymentCounts,
    RevisionCounts,
    RoutedDeployment,
    RouterCounts,
    RoutingTable,
    SickReplica,
)
from resolute.domain.traffic import bucket_of


class FakeRouter:
    """Follows every table at once, unless `is_behind`."""

    def __init__(self, table: RoutingTable | None = None) -> None:
        self.tables: list[RoutingTable] = [table] if table is not None else []
        self.starts = 0
        self.restarts = 0
        self.is_behind = False
        self.is_away = False
        self.url = "http://router.test"
        self.forward_token = "from-the-master"
        self._deployments: dict[int, DeploymentCounts] = {}
        self._in_flight: dict[str, int] = {}
        self._sick: dict[str, SickReplica] = {}
        self.mute = ""
        """Why nobody answers probes."""
        self.probed: list[tuple[str, str]] = []

    # -------------------------------------------------------------------------------------------------- the port

    def ensure(self) -> None:
        self.starts += 1

    def restart(self) -> None:
        self.restarts += 1

    def publish(self, table: RoutingTable) -> None:
        self.tables.append(table)

    def published(self) -> RoutingTable | None:
        return self.tables[-1] if self.tables else None

    def probe(self, address: str, path: str) -> str:
        self.probed.append((address, path))
        return self.mute

    def counts(self, wait_s: float = 0.0) -> RouterCounts | None:
        if self.is_away:
            return None
        version = self.tables[-1].version if self.tables else 0
        return RouterCounts(
            started="fake",
            version=version - 1 if self.is_behind else version,
            deployments=dict(self._deployments),
            in_flight=dict(self._in_flight),
            sick=dict(self._sick),
        )

    # ------------------------------------------------------------------------------------------------ the script

    @property
    def table(self) -> RoutingTable:
        return self.tables[-1]

    def routed(self, name: str) -> RoutedDeployment:
        return next(d for d in self.table.deployments if d.name == name)

    def answer(
        self, deployment_id: int, revision: int, requests: int, *, errors: int = 0, seconds: float = 0.01
    ) -> None:
        """So many more requests were answered."""
        known = self._deployments.get(deployment_id, DeploymentCounts())
        counts = known.revisions.get(revision, RevisionCounts())
        bucket = bucket_of(seconds)
        counted = replace(
            counts,
            requests=counts.requests + requests,
            errors=counts.errors + errors,
            buckets={**counts.buckets, bucket: counts.buckets.get(bucket, 0) + requests},
        )
        self._deployments[deployment_id] = replace(
            known, asked=known.asked + requests, revisions={**known.revisions, revision: counted}
        )

    def hold(self, deployment_id: int, revision: int, in_flight: int) -> None:
        """So many are under way now."""
        known = self._deployments.get(deployment_id, DeploymentCounts())
        counts = replace(known.revisions.get(revision, RevisionCounts()), in_flight=in_flight)
        self._deployments[deployment_id] = replace(known, revisions={**known.revisions, revision: counts})

    def keep_busy(self, allocation_id: str, requests: int) -> None:
        self._in_flight = {**self._in_flight, allocation_id: requests}

    def find_sick(self, allocation_id: str, health: Health, reason: str = "no answer within 1 s") -> None:
        self._sick[allocation_id] = SickReplica(health=health, reason=reason)

    def find_well(self) -> None:
        """Everybody."""
        self._sick.clear()

    def keep_waiting(self, deployment_id: int, waiting: int) -> None:
        known = self._deployments.get(deployment_id, DeploymentCounts())
        self._deployments[deployment_id] = replace(known, waiting=waiting)
