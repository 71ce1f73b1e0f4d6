"""Scheduling of one resource pool as a pure function: nodes and claims in, assignments and preemptions out.

Priority scheduling (the default): lower numbers first, then queue position, then age. A gang starts whole or not at
all. A claim that cannot start asks less important ones to leave, but only when that makes it fit. The first claim of
each priority that has to wait anyway gets a promise: nobody of its own priority overtakes it on the nodes it waits
for, so a stream of small jobs cannot starve a large one. Less important preemptible claims may fill the gap.

Fair share: every job is offered slots by weight; jobs above their offer give preemptible claims back.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import groupby
from operator import attrgetter
from typing import Literal

from resolute.domain.allocation import NodeShare
from resolute.domain.capacity import Capacity, Fitting, NodeCapacity
from resolute.domain.claim import Claim, ClaimState, Decision
from resolute.domain.explanation import WITH_ENGINE, Explanation, Shape, over_quota, shape
from resolute.domain.fair_share import Group, offers
from resolute.domain.node import Node
from resolute.domain.preemption import Preemption
from resolute.domain.waiting import Wait

__all__ = ["Claim", "ClaimState", "Decision", "Scheduler", "delegate", "place"]

Scheduler = Literal["priority", "fair_share"]
_IN_LINE = attrgetter("priority", "queue_position", "created_at", "allocation_id")


def place(
    nodes: Sequence[Node],
    claims: Sequence[Claim],
    *,
    scheduler: Scheduler = "priority",
    preemption: bool = True,
    fitting: Fitting = "best",
    can_grow: bool = False,
) -> Decision:
    """Decide for one pool. The same input, in any order, gives the same decision.

    `can_grow`: nodes may come, so that what fits nowhere waits for them.
    """
    held = [c for c in claims if c.state is ClaimState.HELD]
    queued = sorted((c for c in claims if c.state is ClaimState.QUEUED), key=_IN_LINE)
    capacity = Capacity(nodes, held, fitting)
    pass_ = _Pass(capacity, held, preemption, Explanation(capacity, nodes, held, can_grow=can_grow))
    pass_.start_zero_slot(c for c in queued if c.slots == 0)
    wanting = [c for c in queued if c.slots > 0]
    if scheduler == "fair_share":
        _share(pass_, [c for c in held if c.slots > 0], wanting, preemption)
    else:
        _prioritise(pass_, wanting, preemption)
    leaving = (*pass_.preemption.preempted, *pass_.released)
    return Decision(tuple(pass_.assigned), leaving, pass_.waiting)


def delegate(claims: Sequence[Claim]) -> Decision:
    """For a pool whose engine places: which claims it is given, in the order in which they should be served."""
    used = Counter[str]()
    for claim in claims:
        if claim.state is not ClaimState.QUEUED:
            used[claim.job_id] += claim.slots
    submitted: list[tuple[str, tuple[NodeShare, ...]]] = []
    waiting = {c.allocation_id: WITH_ENGINE for c in claims if c.state is ClaimState.SUBMITTED}
    for claim in sorted((c for c in claims if c.state is ClaimState.QUEUED), key=_IN_LINE):
        held = used[claim.job_id]
        if claim.max_slots is not None and held + claim.slots > claim.max_slots:
            waiting[claim.allocation_id] = over_quota(claim, held)
            continue
        used[claim.job_id] += claim.slots
        submitted.append((claim.allocation_id, ()))
    return Decision(tuple(submitted), (), waiting)


def _prioritise(pass_: "_Pass", wanting: Sequence[Claim], preemption: bool) -> None:
    first: Claim | None = None
    """The most important claim that waits; from then on the others only fill the gap."""
    for _, level in groupby(wanting, key=attrgetter("priority")):
        kept_back = _serve(pass_, level, first, preemption)
        first = first or kept_back


def _serve(pass_: "_Pass", level: Iterable[Claim], more_important: Claim | None, preemption: bool) -> Claim | None:
    """Claims of one priority. Returns the first of them that has to wait."""
    first: Claim | None = None
    promised: list[NodeCapacity] = []
    for claim in level:
        # What starts while something more important waits must be able to move aside again.
        if more_important is not None and not (preemption and claim.is_preemptible):
            pass_.keep_behind(claim, more_important)
        elif pass_.waits_like_others(claim) or pass_.is_settled(claim, preemption):
            continue
        elif first is None:
            first, promised = claim, pass_.promise(claim)
            pass_.keep_waiting(claim, promised)
        else:
            pass_.keep_in_line(claim, first, promised)
    pass_.forget_promise(promised)
    return first


def _share(pass_: "_Pass", held: Sequence[Claim], wanting: Sequence[Claim], preemption: bool) -> None:
    wanting = [c for c in wanting if pass_.is_possible(c)]
    by_job = _by_job([*held, *wanting])
    staying = _by_job([c for c in held if not c.is_leaving])
    offered = offers([_group(claims) for claims in by_job.values()], sum(n.size for n in pass_.capacity.nodes))
    room = {job: offered[job] - sum(c.slots for c in staying.get(job, ())) for job in by_job}
    is_wanted = False
    first: Claim | None = None
    promised: list[NodeCapacity] = []
    for claim in wanting:
        if claim.slots > room[claim.job_id]:
            pass_.keep_to_share(claim, offered[claim.job_id], room[claim.job_id])
            continue
        if not pass_.is_allowed(claim):
            continue
        room[claim.job_id] -= claim.slots
        if pass_.start(claim):
            continue
        is_wanted = True
        if not promised:
            first, promised = claim, pass_.promise(claim)
            pass_.keep_waiting(claim, promised)
        elif first is not None:
            pass_.keep_in_line(claim, first, promised)
    if is_wanted and preemption:
        for job, claims in staying.items():
            pass_.release(claims, surplus=-room[job])


class _Pass:
    """One scheduling pass: what has been decided so far and the little it remembers to be quick."""

    def __init__(self, capacity: Capacity, held: Sequence[Claim], preemption: bool, explain: Explanation) -> None:
        self.capacity = capacity
        self.waiting: dict[str, Wait] = {}
        self._explain = explain
        self.preemption = Preemption(capacity, held if preemption else ())
        self.assigned: list[tuple[str, tuple[NodeShare, ...]]] = []
        self.released: list[str] = []
        self._used: dict[str, int] = {}
        for claim in held:
            self._use(claim)
        # Shapes that did not fit. True for the rest of a level: until then capacity only shrinks.
        self._unfit: set[Shape] = set()
        self._hopeless: set[Shape] = set()
        self._in_line: dict[Shape, Wait] = {}
        self._possible: dict[Shape, bool] = {}

    def start_zero_slot(self, claims: Iterable[Claim]) -> None:
        for claim in claims:
            shares = self.capacity.take_zero_slot(claim)
            if shares:
                self.assigned.append((claim.allocation_id, shares))
            else:
                self.waiting[claim.allocation_id] = self._explain.without_slots(claim)

    def waits_like_others(self, claim: Claim) -> bool:
        """One of its shape was found to wait, and nothing has changed since. Most of a long queue ends here."""
        wait = self._in_line.get((claim.slots, claim.single_node, claim.excluded_nodes))
        if wait is None or claim.max_slots is not None:
            return False
        self.waiting[claim.allocation_id] = wait
        return True

    def is_settled(self, claim: Claim, preemption: bool) -> bool:
        """It starts, or it waits for something that holds nobody else up."""
        if not self.is_allowed(claim) or self.start(claim):
            return True
        return (preemption and self.make_room(claim)) or not self.is_possible(claim)

    def is_allowed(self, claim: Claim) -> bool:
        """Whether the job's max_slots leaves room for it."""
        used = self._used.get(claim.job_id, 0)
        if claim.max_slots is None or used + claim.slots <= claim.max_slots:
            return True
        self.waiting[claim.allocation_id] = self._explain.quota(claim, used)
        return False

    def start(self, claim: Claim) -> bool:
        key = shape(claim)
        if key in self._unfit:
            return False
        fit = self.capacity.fit(claim)
        if fit is None:
            self._unfit.add(key)
            return False
        shares = self.capacity.take(fit)
        self.assigned.append((claim.allocation_id, shares))
        self._explain.took(claim, shares)
        self._use(claim)
        return True

    def make_room(self, claim: Claim) -> bool:
        key = shape(claim)
        if key in self._hopeless:
            return False
        fit = self.preemption.make_room(claim)
        if fit is None:
            self._hopeless.add(key)
            return False
        # A victim's other slots are coming, too.
        self._hopeless.clear()
        self._in_line.clear()
        self._use(claim)
        nodes = [node for node, _ in fit]
        self.waiting[claim.allocation_id] = self._explain.leaving(claim, nodes, self.preemption.preempted)
        return True

    def is_possible(self, claim: Claim) -> bool:
        """False: it would not fit an empty pool; it waits for other nodes and must not hold anybody up."""
        key = shape(claim)
        if key not in self._possible:
            self._possible[key] = self.capacity.could_ever_fit(claim)
        if not self._possible[key]:
            self.waiting[claim.allocation_id] = self._explain.never_fits(claim)
        return self._possible[key]

    def keep_waiting(self, claim: Claim, nodes: Sequence[NodeCapacity]) -> None:
        """The first in line, for what is held on `nodes`."""
        self.waiting[claim.allocation_id] = self._explain.held(claim, nodes)

    def keep_in_line(self, claim: Claim, first: Claim, promised: Sequence[NodeCapacity]) -> None:
        """For its turn where there is room that the first of its equals is promised; else for slots like that one."""
        has_room = any(len(n.free) >= claim.slots and n.id not in claim.excluded_nodes for n in promised)
        wait = self._explain.behind(first) if has_room else self._explain.held(claim)
        self._in_line[shape(claim)] = self.waiting[claim.allocation_id] = wait

    def keep_behind(self, claim: Claim, first: Claim) -> None:
        if self.is_allowed(claim) and self.is_possible(claim):
            self.waiting[claim.allocation_id] = self._explain.behind(first)

    def keep_to_share(self, claim: Claim, offered: int, room: int) -> None:
        self.waiting[claim.allocation_id] = self._explain.share(claim, offered, offered - room)

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
        self._in_line.clear()

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
