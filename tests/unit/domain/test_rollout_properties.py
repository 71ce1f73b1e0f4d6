"""Whatever people and processes do in whatever order, a roll-out keeps its promises."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from resolute.domain.deployment import Deployment, Revision, RevisionState, Scaling, Serving
from resolute.domain.replica import Replica, ReplicaState
from resolute.domain.rollout import Changes, Observed, candidate_of, tick, traffic
from resolute.domain.traffic import Load, Outcome

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
S, R = RevisionState, ReplicaState


class World(RuleBasedStateMachine):
    """A deployment, its processes and its router, as far as a tick can see them."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOON
        self.deployment = Deployment(
            id=1, name="echo", namespace="default", user_id=1, workspace_id=1, created_at=NOON, updated_at=NOON
        )
        self.revisions: dict[int, Revision] = {}
        self.replicas: dict[str, Replica] = {}
        self.routed: set[str] = set()
        """Task ids of replicas that the router may still be talking to."""
        self.concurrency = 0.0
        self.waiting = 0
        self.outcomes: dict[int, Outcome] = {}
        self.started = 0

    # ------------------------------------------------------------------------------------------------- people

    @initialize(least=st.integers(1, 2), most=st.integers(2, 4))
    def create(self, least: int, most: int) -> None:
        self.deployment = replace(self.deployment, scaling=Scaling(min_replicas=least, max_replicas=most, target=1.0))
        self._add_revision()

    def _add_revision(self) -> int:
        number = len(self.revisions) + 1
        self.revisions[number] = Revision(
            id=number,
            deployment_id=1,
            number=number,
            source="/m",
            model_version_id=None,
            checkpoint_uuid=None,
            serving=Serving(),
            created_at=self.now,
        )
        return number

    def _retire(self, keep: set[int | None]) -> None:
        for number, revision in self.revisions.items():
            if revision.is_served and number not in keep:
                self.revisions[number] = revision.moved_to(S.RETIRED)

    @rule()
    def update(self) -> None:
        self.deployment = replace(self.deployment, canary=None, canary_percent=0)
        self._retire({self.deployment.stable})
        self._add_revision()

    @precondition(lambda self: self.deployment.stable is not None)
    @rule(percent=st.integers(0, 100))
    def canary(self, percent: int) -> None:
        self._retire({self.deployment.stable})
        self.deployment = replace(self.deployment, canary=self._add_revision(), canary_percent=percent)

    @precondition(lambda self: self.deployment.canary is not None)
    @rule()
    def promote(self) -> None:
        self.deployment = replace(self.deployment, canary=None, canary_percent=0)

    @rule(least=st.integers(1, 3), more=st.integers(0, 2))
    def rescale(self, least: int, more: int) -> None:
        scaling = replace(self.deployment.scaling, min_replicas=least, max_replicas=least + more)
        self.deployment = replace(self.deployment, scaling=scaling)
        self.tick()

    # ---------------------------------------------------------------------------------------------- processes

    @rule(seconds=st.sampled_from([0.1, 1.0, 10.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(concurrency=st.floats(0, 10), waiting=st.integers(0, 3))
    def load(self, concurrency: float, waiting: int) -> None:
        self.concurrency, self.waiting = concurrency, waiting

    @rule(errors=st.integers(0, 100))
    def answers(self, errors: int) -> None:
        self.outcomes = {n: Outcome(requests=100, errors=errors if n % 2 else 0) for n in self.revisions}

    @precondition(lambda self: self.replicas)
    @rule(which=st.integers(0, 9), crashes=st.booleans())
    def process_moves(self, which: int, crashes: bool) -> None:
        self._move(sorted(self.replicas)[which % len(self.replicas)], crashes=crashes)

    @precondition(lambda self: self.replicas)
    @rule(which=st.integers(0, 9))
    def processes_do_as_told_but_one(self, which: int) -> None:
        self.tick()
        names = sorted(self.replicas)
        for number, task_id in enumerate(names):
            self._move(task_id, crashes=number == which)
        self.tick()

    def _move(self, task_id: str, *, crashes: bool) -> None:
        replica = self.replicas[task_id]
        if replica.state is R.STOPPING:
            del self.replicas[task_id]
        elif replica.state is R.QUEUED:
            self.replicas[task_id] = replace(replica, state=R.STARTING, since=self.now)
        elif crashes and replica.state in (R.STARTING, R.READY):
            failures = replica.failures + 1 if replica.state is R.STARTING else 0
            self.replicas[task_id] = replace(replica, state=R.RESTARTING, since=self.now, failures=failures)
            self.routed.discard(task_id)
        elif replica.state is R.STARTING:
            self.replicas[task_id] = replace(replica, state=R.READY, since=self.now, failures=0)
        elif replica.state is R.DRAINING:
            self.routed.discard(task_id)
            self.replicas[task_id] = replace(replica, is_drained=True)

    # --------------------------------------------------------------------------------------------------- ticks

    @rule()
    def tick(self) -> None:
        changes = self._decide()
        self._check(changes)
        self._apply(changes)

    def _decide(self) -> Changes:
        load = Load(concurrency=[self.concurrency] * 60, rate=[self.concurrency] * 60)
        observed = Observed(
            loads=dict.fromkeys(self.revisions, load),
            outcomes=self.outcomes,
            waiting=self.waiting,
            sources=dict.fromkeys(self.revisions, ""),
        )
        return tick(self.deployment, self._newest_first(), list(self.replicas.values()), observed, self.now)

    def _newest_first(self) -> list[Revision]:
        return [self.revisions[number] for number in sorted(self.revisions, reverse=True)]

    def _check(self, changes: Changes) -> None:
        after = changes.deployment or self.deployment
        leaving = {*changes.drain, *changes.stop, *changes.kill}
        ready = [r for r in self.replicas.values() if r.is_ready and r.revision == after.stable]
        if ready:
            assert any(r.task_id not in leaving for r in ready), "the last ready replica of the stable one leaves"
        for task_id in changes.stop:
            replica = self.replicas[task_id]
            is_late = self.now - replica.since > timedelta(seconds=90)
            assert task_id not in self.routed or is_late, "stopped while the router sends to it"
        if after.stable != self.deployment.stable:
            old = [r for r in self.replicas.values() if r.is_ready and r.revision == self.deployment.stable]
            needed = min(len(old), after.scaling.max_replicas)
            assert len(ready) >= max(1, needed), "traffic moved to a revision that cannot carry it"
        assert len(leaving) == len(changes.drain) + len(changes.stop) + len(changes.kill)

    def _apply(self, changes: Changes) -> None:
        self.deployment = changes.deployment or self.deployment
        for revision in changes.revisions:
            self.revisions[revision.number] = revision
        for number in changes.start:
            self.started += 1
            task_id = f"t{self.started}"
            self.replicas[task_id] = Replica(task_id=task_id, revision=number, state=R.QUEUED, since=self.now)
        for task_id in changes.restart:
            self.replicas[task_id] = replace(self.replicas[task_id], state=R.QUEUED, since=self.now)
        for task_id in changes.drain:
            self.replicas[task_id] = replace(self.replicas[task_id], state=R.DRAINING, since=self.now)
        for task_id in (*changes.stop, *changes.kill):
            replica = self.replicas[task_id]
            if replica.state in (R.QUEUED, R.RESTARTING) or task_id in changes.kill:
                del self.replicas[task_id]
            else:
                self.replicas[task_id] = replace(replica, state=R.STOPPING, since=self.now)
        self._publish()

    def _publish(self) -> None:
        answering = {number for number, _ in traffic(self.deployment, self._newest_first(), [*self.replicas.values()])}
        for replica in self.replicas.values():
            if replica.is_ready and replica.revision in answering:
                self.routed.add(replica.task_id)

    # ---------------------------------------------------------------------------------------------- invariants

    @invariant()
    def unready_revisions_get_no_traffic(self) -> None:
        split = traffic(self.deployment, self._newest_first(), list(self.replicas.values()))
        for number, percent in split[:-1]:
            assert percent == self.deployment.canary_percent
            assert self.revisions[number].state is S.READY
            assert any(r.revision == number and r.is_ready for r in self.replicas.values())
        assert not split or sum(percent for _, percent in split) == 100

    @invariant()
    def one_revision_at_most_is_on_its_way(self) -> None:
        candidate = candidate_of(self.deployment, self._newest_first())
        taken = {self.deployment.stable, self.deployment.canary, self.deployment.shadow}
        others = [r.number for r in self.revisions.values() if r.is_served and r.number not in taken]
        assert others == ([candidate.number] if candidate else [])

    @rule()
    def settles_when_left_alone(self) -> None:
        """With processes that do as told, everything comes to rest: as many as wanted, all of them ready."""
        for _ in range(12):
            self.now += timedelta(seconds=61)
            self._apply(self._decide())
            for task_id in list(self.replicas):
                self._move(task_id, crashes=False)
        assert self._decide() == Changes()
        wanted = {n: r.replicas_wanted for n, r in self.revisions.items() if r.replicas_wanted}
        ready: dict[int, int] = {}
        for replica in self.replicas.values():
            assert replica.is_ready
            ready[replica.revision] = ready.get(replica.revision, 0) + 1
        assert ready == wanted
        assert candidate_of(self.deployment, self._newest_first()) is None


TestRollouts = World.TestCase
TestRollouts.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
