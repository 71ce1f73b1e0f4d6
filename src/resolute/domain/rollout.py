"""A deployment's next step: which revision gets traffic, how many replicas each has, and which of them come and go.

`tick` looks at everything and says what to change; called again after the changes it says nothing more. It never takes
traffic to a revision without a ready replica, starts the new before it stops the old, and lets a replica go only when
the router has. Pure: the engine loads, ticks, applies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from resolute.domain.autoscaling import replicas_for
from resolute.domain.deployment import Deployment, Guard, Revision, RevisionState
from resolute.domain.replica import Replica, ReplicaState
from resolute.domain.traffic import Load, Outcome, Split

MOST_FAILURES = 3
"""Processes in a row that may end before a revision that was never ready is given up."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
DRAIN_WITHIN_S = 90.0
GRACE_S = 20.0
"""Between asking a drained replica to end and killing it."""
LATENCY_NOISE_S = 0.005
"""A canary is not slow by less than this, whatever the factor: short times double by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What is known of the outside world."""

    loads: Mapping[int, Load] = field(default_factory=dict)
    outcomes: Mapping[int, Outcome] = field(default_factory=dict)
    """Since the canary has been there, at most over the last minutes."""
    idle_s: float = 0.0
    waiting: int = 0
    sources: Mapping[int, str | None] = field(default_factory=dict)
    """Revisions whose files are here ("") or could not be brought here (why); None or absent: on their way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    deployment: Deployment | None = None
    revisions: tuple[Revision, ...] = ()
    start: tuple[int, ...] = ()
    """Revision numbers, one for each new replica."""
    restart: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    kill: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    is_gone: bool = False
    """Nothing is left of a deleted deployment: its row can go."""


def tick(
    deployment: Deployment,
    revisions: Sequence[Revision],
    replicas: Sequence[Replica],
    observed: Observed,
    now: datetime,
) -> Changes:
    after = _Plan(deployment, {r.number: r for r in revisions}, replicas, observed, now)
    if deployment.is_deleted:
        after.retire_all()
    else:
        after.settle()
        after.guard()
        after.promote_candidate()
        after.scale()
    after.reconcile()
    return after.changes(revisions)


def traffic(deployment: Deployment, revisions: Sequence[Revision], replicas: Sequence[Replica]) -> Split:
    """Who answers right now. Empty: nobody has been ready yet, requests wait."""
    if deployment.stable is None or deployment.is_deleted:
        return ()
    answering = {r.revision for r in replicas if r.is_ready}
    ready = {r.number for r in revisions if r.state is RevisionState.READY} & answering
    if deployment.canary in ready and deployment.canary is not None and deployment.canary_percent > 0:
        share = min(100, deployment.canary_percent)
        return ((deployment.canary, float(share)), (deployment.stable, float(100 - share)))
    return ((deployment.stable, 100.0),)


def candidate_of(deployment: Deployment, revisions: Sequence[Revision]) -> Revision | None:
    """The revision on its way to become the stable one: served, and nothing else. There is at most one."""
    taken = {deployment.stable, deployment.canary, deployment.shadow}
    return next((r for r in revisions if r.is_served and r.number not in taken), None)


def pause_s(failures: int) -> float:
    """Before the process after so many failures."""
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** max(0, failures - 1))


def worse_than_stable(guard: Guard, canary: Outcome, stable: Outcome) -> str:
    """Why a canary has to go; empty when it may stay."""
    if not guard.enabled or canary.requests < guard.min_requests:
        return ""
    if canary.error_rate > stable.error_rate + guard.error_rate_margin:
        return (
            f"{canary.errors} of its {canary.requests} requests failed ({canary.error_rate:.1%}), against "
            f"{stable.error_rate:.1%} of the stable revision's; the guard allows {guard.error_rate_margin:.1%} more"
        )
    if guard.latency_factor <= 0 or stable.requests < guard.min_requests or not canary.p95_s or not stable.p95_s:
        return ""
    if canary.p95_s > max(guard.latency_factor * stable.p95_s, stable.p95_s + LATENCY_NOISE_S):
        return (
            f"its p95 is {canary.p95_s * 1000:.1f} ms, against {stable.p95_s * 1000:.1f} ms of the stable revision; "
            f"the guard allows {guard.latency_factor:g} times as much"
        )
    return ""


class _Plan:
    """One tick under way."""

    def __init__(
        self,
        deployment: Deployment,
        revisions: dict[int, Revision],
        replicas: Sequence[Replica],
        observed: Observed,
        now: datetime,
    ) -> None:
        self.before, self.deployment = deployment, deployment
        self.revisions = revisions
        self.replicas = replicas
        self.observed = observed
        self.now = now
        self.notices: list[str] = []
        self.moves: dict[str, list[str]] = {"restart": [], "drain": [], "stop": [], "kill": []}
        self.start: list[int] = []

    # ---------------------------------------------------------------------------------------------- revisions

    def retire_all(self) -> None:
        for number, revision in self.revisions.items():
            if revision.is_served:
                revision = revision.moved_to(RevisionState.RETIRED)
            self.revisions[number] = replace(revision, replicas_wanted=0)

    def settle(self) -> None:
        """Revisions that start become ready, or are given up."""
        for revision in list(self.revisions.values()):
            if revision.state is not RevisionState.STARTING:
                continue
            why = self._why_given_up(revision)
            if why:
                self.fail(revision, why)
            elif self.ready(revision.number):
                self.revisions[revision.number] = revision.moved_to(RevisionState.READY)
                self.notices.append(f"Revision {revision.number} is ready.")

    def _why_given_up(self, revision: Revision) -> str:
        missing = self.observed.sources.get(revision.number)
        if missing:
            return missing
        for replica in self._of(revision.number):
            if replica.failures >= MOST_FAILURES:
                return f"its model server ended {replica.failures} times before it was ready: {replica.reason}"
            limit = timedelta(seconds=revision.serving.startup_timeout_s)
            is_late = replica.state is ReplicaState.STARTING and self.now - replica.since > limit
            if is_late and not self.ready(revision.number):
                return (
                    f"it was not ready within {revision.serving.startup_timeout_s:g} s (serving.startup_timeout_s)"
                    + (f": {replica.reason}" if replica.reason else "")
                )
        return ""

    def fail(self, revision: Revision, why: str) -> None:
        self.revisions[revision.number] = revision.moved_to(RevisionState.FAILED, why)
        self.notices.append(f"Revision {revision.number} failed: {why}.")
        if self.deployment.canary == revision.number:
            self.deployment = replace(self.deployment, canary=None, canary_percent=0)
        if self.deployment.shadow == revision.number:
            self.deployment = replace(self.deployment, shadow=None, shadow_percent=0)

    def guard(self) -> None:
        canary = self.revisions.get(self.deployment.canary or 0)
        if canary is None or canary.state is not RevisionState.READY or self.deployment.stable is None:
            return
        outcomes = self.observed.outcomes
        why = worse_than_stable(
            self.deployment.guard,
            outcomes.get(canary.number, Outcome()),
            outcomes.get(self.deployment.stable, Outcome()),
        )
        if why:
            self.fail(canary, f"rolled back by the guard: {why}")

    def promote_candidate(self) -> None:
        candidate = candidate_of(self.deployment, self._newest_first())
        if candidate is None or candidate.state is not RevisionState.READY:
            return
        if len(self.ready(candidate.number)) < self._needed_of_candidate():
            return
        old = self.deployment.stable
        self.deployment = replace(self.deployment, stable=candidate.number, previous=old or self.deployment.previous)
        if old is not None and self.revisions[old].is_served:
            self.revisions[old] = self.revisions[old].moved_to(RevisionState.RETIRED)
        self.notices.append(f"Revision {candidate.number} is the stable one now.")

    def _needed_of_candidate(self) -> int:
        """As many as the revision that it replaces has: the traffic will be the same."""
        stable = self.deployment.stable
        scaling = self.deployment.scaling
        return max(1, min(len(self.ready(stable)) if stable else 1, max(1, scaling.max_replicas)))

    # ----------------------------------------------------------------------------------------------- replicas

    def scale(self) -> None:
        candidate = candidate_of(self.deployment, self._newest_first())
        for number, revision in self.revisions.items():
            wanted = self._wanted(revision, is_candidate=revision is candidate)
            if wanted != revision.replicas_wanted:
                self.revisions[number] = replace(revision, replicas_wanted=wanted)

    def _wanted(self, revision: Revision, *, is_candidate: bool) -> int:
        scaling = self.deployment.scaling
        if not revision.is_served:
            return 0
        if is_candidate:
            return max(1, scaling.min_replicas, self._needed_of_candidate())
        if revision.state is RevisionState.STARTING:
            return max(1, scaling.min_replicas)
        return replicas_for(
            scaling,
            self.observed.loads.get(revision.number, Load()),
            current=revision.replicas_wanted,
            idle_s=self.observed.idle_s,
            waiting=self.observed.waiting,
        )

    def reconcile(self) -> None:
        for replica in self.replicas:
            self._move_on(replica)
        for number, revision in sorted(self.revisions.items()):
            staying = [r for r in self._of(number) if not r.is_leaving and not r.is_hung]
            missing = revision.replicas_wanted - len(staying)
            if missing > 0 and self.observed.sources.get(number) == "":
                self.start += [number] * missing
            for surplus in sorted(staying, key=_worth)[: max(0, -missing)]:
                self.moves["drain" if surplus.is_routed else "stop"].append(surplus.task_id)

    def _move_on(self, replica: Replica) -> None:
        age = self.now - replica.since
        if replica.is_hung:
            # Whoever does not answer does not heed a request to leave either.
            self.moves["kill"].append(replica.task_id)
            self.notices.append(f"A replica of revision {replica.revision} hangs and is replaced: {replica.reason}.")
        elif replica.state is ReplicaState.STARTING:
            self._replace_if_late(replica, age)
        elif replica.state is ReplicaState.DRAINING:
            if replica.is_drained or age > timedelta(seconds=DRAIN_WITHIN_S):
                self.moves["stop"].append(replica.task_id)
        elif replica.state is ReplicaState.STOPPING:
            if age > timedelta(seconds=GRACE_S):
                self.moves["kill"].append(replica.task_id)
        elif replica.state is ReplicaState.RESTARTING:
            revision = self.revisions.get(replica.revision)
            is_wanted = revision is not None and revision.replicas_wanted > 0
            if is_wanted and age >= timedelta(seconds=pause_s(replica.failures)):
                self.moves["restart"].append(replica.task_id)

    def _replace_if_late(self, replica: Replica, age: timedelta) -> None:
        """Of a revision that is ready already; one that never was is given up for it."""
        revision = self.revisions.get(replica.revision)
        if revision is None or revision.state is not RevisionState.READY:
            return
        if age > timedelta(seconds=revision.serving.startup_timeout_s):
            self.moves["kill"].append(replica.task_id)
            self.notices.append(
                f"A replica of revision {replica.revision} was not ready within "
                f"{revision.serving.startup_timeout_s:g} s and is replaced"
                + (f": {replica.reason}" if replica.reason else "")
                + "."
            )

    # ------------------------------------------------------------------------------------------------- result

    def changes(self, before: Sequence[Revision]) -> Changes:
        leaving = {*self.moves["stop"], *self.moves["drain"]}
        return Changes(
            deployment=self.deployment if self.deployment != self.before else None,
            revisions=tuple(self.revisions[r.number] for r in before if self.revisions[r.number] != r),
            start=tuple(self.start),
            restart=tuple(task for task in self.moves["restart"] if task not in leaving),
            drain=tuple(self.moves["drain"]),
            stop=tuple(self.moves["stop"]),
            kill=tuple(self.moves["kill"]),
            notices=tuple(self.notices),
            is_gone=self.deployment.is_deleted and not self.replicas,
        )

    def ready(self, number: int | None) -> list[Replica]:
        return [r for r in self._of(number) if r.is_ready]

    def _of(self, number: int | None) -> list[Replica]:
        return [r for r in self.replicas if r.revision == number]

    def _newest_first(self) -> list[Revision]:
        return [self.revisions[number] for number in sorted(self.revisions, reverse=True)]


def _worth(replica: Replica) -> tuple[bool, bool, float]:
    """Lowest goes first: those that do not answer, then the youngest."""
    return (replica.is_ready, replica.state is ReplicaState.STARTING, -replica.since.timestamp())
