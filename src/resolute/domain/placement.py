"""Scheduling of one resource pool as a pure function: nodes and claims in, assignments and preemptions out.

Priority scheduling (the default): lower numbers first, then queue position, then age. A gang starts whole or not at
all. A claim that cannot start asks less important ones to leave, but only when that makes it fit. The first claim of
each priority that has to wait anyway gets a promise: nobody of its own priority overtakes it on the nodes it waits
for, so a stream of small jobs cannot starve a large one. Less important preemptible claims may fill the gap.

Fair share: every job is offered slots by weight; jobs above their offer give preemptible claims back.
"""

from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import groupby
from operator import attrgetter
from typing import Literal

from resolute.domain.allocation import NodeShare
from resolute.domain.capacity import Capacity, Fitting, NodeCapacity
from resolute.domain.claim import Claim, ClaimState, Decision
from resolute.domain.fair_share import Group, offers
from resolute.domain.node import Node
from resolute.domain.preemption import Preemption

__all__ = ["Claim", "ClaimState", "Decision", "Scheduler", "place"]

Scheduler = Literal["priority", "fair_share"]
_IN_LINE = attrgetter("priority", "queue_position", "created_at", "allocation_id")


def place(
    nodes: Sequence[Node],
    claims: Sequence[Claim],
    *,
    scheduler: Scheduler = "priority",
    preemption: bool = True,
    fitting: Fitting = "best",
) -> Decision:
    """Decide for one pool. The same input, in any order, gives the same decision."""
    held = [c for c in claims if c.state is ClaimState.HELD]
    queued = sorted((c for c in claims if c.state is ClaimState.QUEUED), key=_IN_LINE)
    capacity = Capacity(nodes, held, fitting)
    pass_ = _Pass(capacity, held, preemption)
    pass_.start_zero_slot(c for c in queued if c.slots == 0)
    wanting = [c for c in queued if c.slots > 0]
    if scheduler == "fair_share":
        _share(pass_, [c for c in held if c.slots > 0], wanting, preemption)
    else:
        _prioritise(pass_, wanting, preemption)
    return Decision(tuple(pass_.assigned), tuple(pass_.preemption.preempted + pass_.released))


def _prioritise(pass_: "_Pass", wanting: Sequence[Claim], preemption: bool) -> None:
    is_backfill = False
    for _, level in groupby(wanting, key=attrgetter("priority")):
        has_waiting = False
        promised: list[NodeCapacity] = []
        for claim in level:
            if (is_backfill and not claim.is_preemptible) or not pass_.is_allowed(claim):
                continue
            if pass_.start(claim) or (preemption and pass_.make_room(claim)) or pass_.is_impossible(claim):
                continue
            if not has_waiting:
                promised = pass_.promise(claim)
            has_waiting = True
        pass_.forget_promise(promised)
        is_backfill = is_backfill or has_waiting
        if is_backfill and not preemption:
            return  # what starts now could not be moved aside again


def _share(pass_: "_Pass", held: Sequence[Claim], wanting: Sequence[Claim], preemption: bool) -> None:
    wanting = [c for c in wanting if not pass_.is_impossible(c)]
    by_job = _by_job([*held, *wanting])
    staying = _by_job([c for c in held if not c.is_leaving])
    offered = offers([_group(claims) for claims in by_job.values()], sum(n.size for n in pass_.capacity.nodes))
    room = {job: offered[job] - sum(c.slots for c in staying.get(job, ())) for job in by_job}
    is_wanted = False
    promised = False
    for claim in wanting:
        if claim.slots > room[claim.job_id] or not pass_.is_allowed(claim):
            continue
        room[claim.job_id] -= claim.slots
        if not pass_.start(claim):
            is_wanted = True
            if not promised:
                promised = bool(pass_.promise(claim))
    if is_wanted and preemption:
        for job, claims in staying.items():
            pass_.release(claims, surplus=-room[job])


class _Pass:
    """One scheduling pass: what has been decided so far and the little it remembers to be quick."""

    def __init__(self, capacity: Capacity, held: Sequence[Claim], preemption: bool) -> None:
        self.capacity = capacity
        self.preemption = Preemption(capacity, held if preemption else ())
        self.assigned: list[tuple[str, tuple[NodeShare, ...]]] = []
        self.released: list[str] = []
        self._used: dict[str, int] = {}
        for claim in held:
            self._use(claim)
        # Shapes that did not fit. True for the rest of a level: until then capacity only shrinks.
        self._unfit: set[tuple[int, bool, tuple[str, ...]]] = set()
        self._hopeless: set[tuple[int, bool, tuple[str, ...]]] = set()
        self._possible: dict[tuple[int, bool, tuple[str, ...]], bool] = {}

    def start_zero_slot(self, claims: Iterable[Claim]) -> None:
        for claim in claims:
            shares = self.capacity.take_zero_slot(claim)
            if shares:
                self.assigned.append((claim.allocation_id, shares))

    def is_allowed(self, claim: Claim) -> bool:
        """Whether the job's max_slots leaves room for it."""
        return claim.max_slots is None or self._used.get(claim.job_id, 0) + claim.slots <= claim.max_slots

    def start(self, claim: Claim) -> bool:
        shape = (claim.slots, claim.single_node, claim.excluded_nodes)
        if shape in self._unfit:
            return False
        fit = self.capacity.fit(claim)
        if fit is None:
            self._unfit.add(shape)
            return False
        self.assigned.append((claim.allocation_id, self.capacity.take(fit)))
        self._use(claim)
        return True

    def make_room(self, claim: Claim) -> bool:
        shape = (claim.slots, claim.single_node, claim.excluded_nodes)
        if shape in self._hopeless:
            return False
        if not self.preemption.make_room(claim):
            self._hopeless.add(shape)
            return False
        self._hopeless.clear()  # a victim's other slots are coming, too
        self._use(claim)
        return True

    def is_impossible(self, claim: Claim) -> bool:
        """It would not fit an empty pool: it waits for other nodes and must not hold anybody up."""
        shape = (claim.slots, claim.single_node, claim.excluded_nodes)
        if shape not in self._possible:
            self._possible[shape] = self.capacity.could_ever_fit(claim)
        return not self._possible[shape]

    def promise(self, claim: Claim) -> list[NodeCapacity]:
        """Keep the nodes on which `claim` is nearest to starting from being filled by its equals.

        Slots on them only become free until it starts, so the choice gets better with every pass.
        """
        nodes = self._nearest(claim)
        self.capacity.promise(nodes, is_promised=True)
        return nodes

    def forget_promise(self, nodes: Sequence[NodeCapacity]) -> None:
        self.capacity.promise(nodes, is_promised=False)
        self._unfit.clear()
        self._hopeless.clear()

    def release(self, claims: Sequence[Claim], *, surplus: int) -> None:
        """Ask a job's newest preemptible claims to leave until it is down to its offer."""
        newest_first = sorted(claims, key=attrgetter("created_at", "allocation_id"), reverse=True)
        for claim in newest_first:
            if surplus <= 0:
                return
            if claim.is_preemptible:
                self.released.append(claim.allocation_id)
                surplus -= claim.slots

    def _nearest(self, claim: Claim) -> list[NodeCapacity]:
        allowed = [n for n in self.capacity.nodes if n.id not in claim.excluded_nodes]

        def within_reach(node: NodeCapacity) -> int:
            return self.preemption.reclaimable(node, claim.priority)

        # Of equals, max and nlargest take the first.
        large_enough = [n for n in allowed if n.size >= claim.slots]
        if large_enough:
            return [max(large_enough, key=within_reach)]
        for size in self.capacity.whole_node_sizes(claim.slots):
            several = nlargest(claim.slots // size, (n for n in allowed if n.size == size), key=within_reach)
            if len(several) * size == claim.slots:
                return several
        return []

    def _use(self, claim: Claim) -> None:
        self._used[claim.job_id] = self._used.get(claim.job_id, 0) + claim.slots


def _by_job(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    jobs: dict[str, list[Claim]] = {}
    for claim in claims:
        jobs.setdefault(claim.job_id, []).append(claim)
    return jobs


def _group(claims: Sequence[Claim]) -> Group:
    first = claims[0]
    demand = sum(c.slots for c in claims if not c.is_leaving)
    pinned = sum(c.slots for c in claims if c.state is ClaimState.HELD and not c.is_preemptible)
    limit = demand if first.max_slots is None else first.max_slots
    return Group(
        job_id=first.job_id,
        weight=first.weight,
        demand=max(min(demand, limit), pinned),
        pinned=pinned,
        smallest=min(c.slots for c in claims),
        registered_at=min(c.created_at for c in claims),
    )
