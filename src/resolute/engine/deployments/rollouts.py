"""The roll-out loop: for each deployment load, tick, apply; then tell the router. All thinking is in `domain.rollout`.

The router and the replicas go on without this loop; what it has written to the table stays in force.
"""

import hashlib
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from resolute.domain.deployment import Deployment, Revision
from resolute.domain.errors import ResoluteError
from resolute.domain.replica import Replica, ReplicaState
from resolute.domain.replica_health import HUNG_AFTER_S
from resolute.domain.rollout import Changes, Observed, tick, traffic
from resolute.domain.router_watch import Remedy, RouterWatch
from resolute.domain.routing import RoutedDeployment, RoutedReplica, RoutedRevision, RouterCounts, RoutingTable
from resolute.domain.traffic import Outcome
from resolute.engine.deployments.deployments import deployment_key
from resolute.engine.deployments.proofs import Proofs
from resolute.engine.deployments.replicas import (
    replicas_of_deployments,
    restart_replica,
    seen_by_router,
    start_replica,
    stop_replica,
    with_last_line,
)
from resolute.engine.deployments.sources import Sources
from resolute.engine.jobs.fencing import secret_of
from resolute.engine.jobs.task_moves import drain_task, kill_task
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import Flow, flow

log = logging.getLogger(__name__)

BUSY_WAIT_S = 0.05
"""While replicas start or leave: nothing else tells when they are ready, or drained."""
PAUSE_WAIT_S = 0.25
"""While one waits to be restarted."""
IDLE_WAIT_S = 1.0
GUARD_WINDOW = timedelta(minutes=10)
LONGEST_WAIT_S = 600.0
_MOVING = frozenset({ReplicaState.STARTING, ReplicaState.DRAINING, ReplicaState.STOPPING})


class Router(Protocol):
    """The process between clients and replicas."""

    @property
    def url(self) -> str: ...
    @property
    def forward_token(self) -> str: ...
    def ensure(self) -> None:
        """Make it run, or find it running. Raises Unavailable."""

    def restart(self) -> None:
        """End the one that runs, whatever it does, and make another one run. Raises Unavailable."""

    def publish(self, table: RoutingTable) -> None: ...
    def published(self) -> RoutingTable | None:
        """The table in force, also one of an earlier master."""

    def probe(self, address: str, path: str) -> str:
        """Why a replica cannot answer; empty when it can."""

    def counts(self, wait_s: float = 0.0) -> RouterCounts | None:
        """What it has counted; after `wait_s`, or sooner when a request needs a replica. None: no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    deployment: Deployment
    revisions: tuple[Revision, ...]
    replicas: tuple[Replica, ...]


class RolloutLoop:
    """`requires_key`: callers of the router must show a deployment's key."""

    def __init__(self, platform: Platform, router: Router, *, requires_key: bool = False) -> None:
        self._platform = platform
        self._rollouts = Rollouts(platform, router, requires_key=requires_key)
        self._router = router
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._has_deployments = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name="rollouts", daemon=True),
            threading.Thread(target=self._listen, name="router-counts", daemon=True),
        ]

    def start(self) -> None:
        self._platform.bus.subscribe("deployments", self._wake.set)
        self._platform.bus.subscribe("queue", self._wake_if_needed)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finish the pass under way. Router and replicas are left alone."""
        self._stopping.set()
        self._wake.set()
        self._has_deployments.set()
        for thread in self._threads:
            thread.join(timeout=10)
        self._rollouts.close()

    def _wake_if_needed(self) -> None:
        """Trials come and go all the time; without deployments that is no news here."""
        if self._has_deployments.is_set():
            self._wake.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            wait_s = BUSY_WAIT_S
            self._wake.clear()
            try:
                wait_s, count = self._rollouts.pass_once()
                if count:
                    self._has_deployments.set()
                else:
                    self._has_deployments.clear()
            except ResoluteError as error:
                log.warning("roll-outs: %s", error)
                self._stopping.wait(0.5)
            except Exception:
                log.exception("a pass over the deployments failed; it goes on")
                self._stopping.wait(0.5)
            self._wake.wait(wait_s)

    def _listen(self) -> None:
        """Counts come in every second, and at once when a request waits for a replica."""
        while not self._stopping.is_set():
            if not self._has_deployments.wait(1.0) or self._stopping.is_set():
                continue
            try:
                counts = self._router.counts(wait_s=1.0)
            except Exception:
                log.exception("the router's counts could not be read; it goes on")
                counts = None
            if counts is None:
                self._stopping.wait(0.2)
                continue
            self._platform.traffic.record(counts, self._platform.clock())
            self._wake.set()


class Rollouts:
    """One pass at a time."""

    def __init__(self, platform: Platform, router: Router, *, requires_key: bool = False) -> None:
        self._platform = platform
        self._router = router
        self._requires_key = requires_key
        self._sources = Sources(platform)
        self._watch = RouterWatch()
        self._table = router.published()
        # Those get requests already: a new master must not take them away for a moment.
        self._proofs = Proofs(router.probe, _routed_ids(self._table))

    def close(self) -> None:
        self._sources.close()
        self._proofs.close()

    def pass_once(self) -> tuple[float, int]:
        """(seconds until the next one is due, how many deployments there are)."""
        snapshots = self._load()
        if not snapshots and not (self._table and self._table.deployments):
            return IDLE_WAIT_S, 0
        self._router.ensure()
        self._platform.traffic.router_url = self._router.url
        self._platform.traffic.forward_token = self._router.forward_token
        has_changed = False
        for snapshot in snapshots:
            changes = self._decide(snapshot)
            has_changed |= self._apply(snapshot, changes)
        after = self._load()
        self._publish(after)
        self._make_follow()
        return BUSY_WAIT_S if has_changed else _pause([r.state for each in after for r in each.replicas]), len(after)

    def _load(self) -> list[Snapshot]:
        with self._platform.store.read() as tx:
            deployments = tx.deployments.all()
            replicas = replicas_of_deployments(tx) if deployments else {}
            found = [_snapshot(tx, each, replicas.get(each.id, [])) for each in deployments]
        return self._proven(found)

    def _proven(self, snapshots: list[Snapshot]) -> list[Snapshot]:
        """Who says it is ready is STARTING until it has answered."""
        unproven = {}
        for each in snapshots:
            paths = {revision.number: revision.serving.health_path for revision in each.revisions}
            for replica in each.replicas:
                if replica.is_ready:
                    path = paths.get(replica.revision, "")
                    unproven[replica.allocation_id] = self._proofs.why_not(replica.allocation_id, replica.address, path)
        self._proofs.keep(set(unproven))
        self._platform.traffic.unproven = {name: why for name, why in unproven.items() if why}
        return [replace(each, replicas=tuple(map(self._as_proven, each.replicas))) for each in snapshots]

    def _as_proven(self, replica: Replica) -> Replica:
        why = self._platform.traffic.unproven.get(replica.allocation_id)
        return replica.not_proven(why) if why else replica

    # -------------------------------------------------------------------------------------------------- decide

    def _decide(self, snapshot: Snapshot) -> Changes:
        now = self._platform.clock()
        replicas = [self._seen(replica) for replica in snapshot.replicas]
        return tick(snapshot.deployment, snapshot.revisions, replicas, self._observe(snapshot, now), now)

    def _seen(self, replica: Replica) -> Replica:
        if replica.allocation_id in self._platform.traffic.unproven:
            return replica
        if replica.state in (ReplicaState.RESTARTING, ReplicaState.STARTING):
            return with_last_line(self._platform, replica)
        if replica.state is ReplicaState.DRAINING:
            return replace(replica, is_drained=self._is_drained(replica))
        return seen_by_router(self._platform, replica)

    def _is_drained(self, replica: Replica) -> bool:
        """The router follows the table in which the replica is missing, and has nothing under way there."""
        counts, table = self._platform.traffic.counts(), self._table
        if counts is None or table is None or counts.version < table.version:
            return False
        return replica.allocation_id not in _routed_ids(table) and not counts.in_flight.get(replica.allocation_id)

    def _observe(self, snapshot: Snapshot, now: datetime) -> Observed:
        log_, deployment = self._platform.traffic, snapshot.deployment
        served = [r for r in snapshot.revisions if r.is_served]
        scaling = deployment.scaling
        counts = log_.of(deployment.id)
        return Observed(
            loads={r.number: log_.load(deployment.id, r.number, now=now, window_s=scaling.window_s) for r in served},
            outcomes=self._outcomes(snapshot, now),
            idle_s=log_.idle_s(deployment.id, now=now, since=deployment.updated_at),
            waiting=counts.waiting,
            sources={r.number: self._sources.state(r) for r in served},
        )

    def _outcomes(self, snapshot: Snapshot, now: datetime) -> dict[int, Outcome]:
        deployment = snapshot.deployment
        canary = next((r for r in snapshot.revisions if r.number == deployment.canary), None)
        if canary is None or deployment.stable is None:
            return {}
        since = max(canary.created_at, now - GUARD_WINDOW)
        numbers = (canary.number, deployment.stable)
        return {number: self._platform.traffic.outcome(deployment.id, number, since=since) for number in numbers}

    # --------------------------------------------------------------------------------------------------- apply

    def _apply(self, snapshot: Snapshot, changes: Changes) -> bool:
        """False: nothing to do, or somebody changed the deployment meanwhile, so that the next pass decides anew."""
        if changes == Changes():
            return False
        deployment = snapshot.deployment
        with flow(self._platform) as current:
            if not _is_current(current.tx, snapshot):
                return True
            if changes.is_gone:
                current.remove(deployment)
                current.tx.jobs.remove(deployment.job_id)
            else:
                _carry_out(current, deployment, snapshot.revisions, changes)
            current.publish(f"deployment/{deployment.name}", "deployments")
        for notice in changes.notices:
            log.info("deployment %s: %s", deployment.name, notice)
        if changes.is_gone:
            self._platform.traffic.forget(deployment.id)
        for revision in changes.revisions:
            if not revision.is_served:
                self._sources.forget(revision)
                self._prune()
        return True

    def _prune(self) -> None:
        self._sources.prune(r for each in self._load() for r in each.revisions if r.is_served)

    # ------------------------------------------------------------------------------------------------- publish

    def _publish(self, snapshots: Sequence[Snapshot]) -> None:
        with self._platform.store.read() as tx:
            secret = secret_of(tx)
        before = self._table or RoutingTable()
        table = RoutingTable(
            version=before.version,
            requires_key=self._requires_key,
            deployments=tuple(_routed(each, secret) for each in snapshots if not each.deployment.is_deleted),
        )
        if table == self._table:
            return
        self._table = replace(table, version=before.version + 1)
        self._router.publish(self._table)

    def _make_follow(self) -> None:
        """A router that goes on with an old table keeps roll-outs and roll-backs from clients, unseen."""
        table, traffic_log = self._table, self._platform.traffic
        if table is None:
            return
        counts = traffic_log.counts()
        remedy = self._watch.remedy(table.version, counts, traffic_log.told_at, self._platform.clock())
        if remedy is Remedy.NONE:
            return
        does = f"follows table {counts.version}, not {table.version}" if counts else "does not answer"
        if remedy is Remedy.HAND_OVER:
            log.warning("the router %s; the table is handed over again", does)
            self._router.publish(table)
        else:
            log.error("the router %s; it is restarted, see router/router.log in the home folder", does)
            self._router.restart()


def _routed_ids(table: RoutingTable | None) -> set[str]:
    """Allocations that the router sends to."""
    return {r.id for d in (table.deployments if table else ()) for each in d.revisions for r in each.replicas}


def _pause(states: Sequence[ReplicaState]) -> float:
    """One that waits for slots is no reason to hurry: the queue says when it starts."""
    if any(state in _MOVING for state in states):
        return BUSY_WAIT_S
    return PAUSE_WAIT_S if ReplicaState.RESTARTING in states else IDLE_WAIT_S


def _snapshot(tx: Transaction, deployment: Deployment, replicas: Sequence[Replica]) -> Snapshot:
    return Snapshot(
        deployment=deployment,
        revisions=tuple(tx.deployments.revisions(deployment.id)),
        replicas=tuple(replicas),
    )


def _is_current(tx: Transaction, snapshot: Snapshot) -> bool:
    stored = next((d for d in tx.deployments.all() if d.id == snapshot.deployment.id), None)
    if stored != snapshot.deployment:
        return False
    return tuple(tx.deployments.revisions(stored.id)) == snapshot.revisions


def _carry_out(current: Flow, deployment: Deployment, before: Sequence[Revision], changes: Changes) -> None:
    if changes.deployment is not None:
        deployment = current.change(deployment, changes.deployment)
    revisions = {r.number: r for r in before}
    for revision in changes.revisions:
        revisions[revision.number] = current.move(revisions[revision.number], revision, reason=revision.reason)
    for number in changes.start:
        start_replica(current, deployment, revisions[number])
    for task_id in changes.restart:
        number = int((current.tx.tasks.get(task_id).config or {})["revision"])
        restart_replica(current, task_id, revisions[number])
    for task_id in changes.drain:
        drain_task(current, task_id)
    for task_id in changes.stop:
        stop_replica(current, task_id)
    for task_id in changes.kill:
        kill_task(current, task_id)


def _routed(snapshot: Snapshot, secret: str) -> RoutedDeployment:
    deployment = snapshot.deployment
    split = traffic(deployment, snapshot.revisions, snapshot.replicas)
    answering = {number for number, _ in split} | {deployment.shadow}
    revisions = [r for r in snapshot.revisions if r.number in answering]
    largest = max((r.serving.max_body_bytes for r in revisions), default=64 << 20)
    waits = [r.serving.startup_timeout_s for r in snapshot.revisions if r.is_served]
    return RoutedDeployment(
        id=deployment.id,
        name=deployment.name,
        namespace=deployment.namespace,
        split=split,
        shadow=deployment.shadow,
        shadow_percent=float(deployment.shadow_percent),
        sticky=deployment.sticky,
        revisions=tuple(_routed_revision(r, snapshot.replicas) for r in revisions),
        public=deployment.public,
        key_hash=hashlib.sha256(deployment_key(secret, deployment).encode()).hexdigest(),
        wait_s=min(LONGEST_WAIT_S, max(waits, default=120.0)),
        max_body_bytes=largest,
    )


def _routed_revision(revision: Revision, replicas: Sequence[Replica]) -> RoutedRevision:
    serving = revision.serving
    routed = [r for r in replicas if r.revision == revision.number and r.is_routed]
    return RoutedRevision(
        number=revision.number,
        replicas=tuple(RoutedReplica(id=r.allocation_id, address=r.address) for r in routed),
        timeout_s=serving.timeout_s,
        max_body_bytes=serving.max_body_bytes,
        health_path=serving.health_path,
        hung_after_s=serving.hung_after_s or HUNG_AFTER_S,
        busy_s=serving.timeout_s if serving.command and not serving.hung_after_s else 0.0,
        idempotent=serving.idempotent,
    )
