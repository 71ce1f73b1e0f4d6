"""What must hold for every pool, queue and history, searched for by hypothesis."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.allocation import NodeShare
from resolute.domain.claim import Claim, ClaimState, Decision
from resolute.domain.node import Node, Slot
from resolute.domain.placement import place
from resolute.domain.waiting import WaitingFor

steady = settings(deadline=None)  # a busy machine is no failure

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

nodes_lists = st.lists(
    st.tuples(st.sampled_from([1, 2, 2, 4]), st.sampled_from([True, True, True, False]), st.booleans()),
    min_size=1,
    max_size=5,
).map(
    lambda rows: [
        Node(f"n{i}", tuple(Slot(s, is_enabled=s > 0 or not spoilt) for s in range(size)), is_enabled=enabled)
        for i, (size, enabled, spoilt) in enumerate(rows)
    ]
)


@st.composite
def claims_lists(draw: st.DrawFn, most: int = 14) -> list[Claim]:
    caps = draw(st.lists(st.none() | st.integers(1, 6), min_size=4, max_size=4))
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 8),
                st.sampled_from([1, 42, 42, 99]),
                st.booleans(),
                st.booleans(),
                st.integers(0, 3),
                st.sampled_from([(), (), (), ("n0",), ("n1", "n2")]),
                st.integers(0, 3),
            ),
            max_size=most,
        )
    )
    return [
        Claim(
            allocation_id=f"a{n}",
            job_id=f"job-{job}",
            slots=slots,
            priority=priority,
            is_preemptible=preemptible,
            single_node=single,
            max_slots=caps[job],
            queue_position=float(position),
            excluded_nodes=excluded,
            created_at=NOON + timedelta(seconds=n),
        )
        for n, (slots, priority, preemptible, single, job, excluded, position) in enumerate(rows)
    ]


schedulers = st.sampled_from(["priority", "fair_share"])
fittings = st.sampled_from(["best", "worst"])


def apply(claims: list[Claim], decision: Decision) -> list[Claim]:
    """The world after a decision: assignments hold their slots, the preempted are on their way."""
    shares = dict(decision.assign)
    return [
        replace(c, state=ClaimState.HELD, shares=shares[c.allocation_id])
        if c.allocation_id in shares
        else replace(c, is_leaving=c.is_leaving or c.allocation_id in decision.preempt)
        for c in claims
    ]


def populated(nodes: list[Node], first: list[Claim], later: list[Claim], fitting: str) -> list[Claim]:
    """A pool that is partly in use: `first` was scheduled long ago, `later` waits now."""
    then = apply(first, place(nodes, first, fitting=fitting))  # type: ignore[arg-type]
    renamed = [replace(c, allocation_id=f"b{c.allocation_id}", job_id=f"late-{c.job_id}") for c in later]
    return [*then, *renamed]


@steady
@given(nodes_lists, claims_lists(), claims_lists(), schedulers, fittings, st.booleans())
def test_slots_are_given_once_and_only_where_they_may_be(
    nodes: list[Node], first: list[Claim], later: list[Claim], scheduler: str, fitting: str, preemption: bool
) -> None:
    claims = populated(nodes, first, later, fitting)
    usable = {(n.id, s.id) for n in nodes if n.is_enabled and not n.is_draining for s in n.slots if s.is_enabled}
    taken = {(s.node_id, i) for c in claims for s in c.shares for i in s.slot_ids}

    decision = place(nodes, claims, scheduler=scheduler, fitting=fitting, preemption=preemption)  # type: ignore[arg-type]

    new = [(s.node_id, i) for _, shares in decision.assign for s in shares for i in s.slot_ids]
    assert len(new) == len(set(new))
    assert not taken.intersection(new)
    assert usable.issuperset(new)


@steady
@given(nodes_lists, claims_lists(), claims_lists(), schedulers, fittings)
def test_gangs_are_whole_equal_parts_and_off_excluded_nodes(
    nodes: list[Node], first: list[Claim], later: list[Claim], scheduler: str, fitting: str
) -> None:
    claims = populated(nodes, first, later, fitting)
    by_id = {c.allocation_id: c for c in claims}
    sizes = {n.id: sum(s.is_enabled for s in n.slots) for n in nodes}

    decision = place(nodes, claims, scheduler=scheduler, fitting=fitting)  # type: ignore[arg-type]

    assert len({name for name, _ in decision.assign}) == len(decision.assign)
    for name, shares in decision.assign:
        claim = by_id[name]
        assert claim.state is ClaimState.QUEUED
        assert sum(len(s.slot_ids) for s in shares) == claim.slots
        assert not {s.node_id for s in shares} & set(claim.excluded_nodes)
        if len(shares) > 1:
            assert not claim.single_node
            assert all(len(s.slot_ids) == sizes[s.node_id] for s in shares)
            assert len({len(s.slot_ids) for s in shares}) == 1


@steady
@given(nodes_lists, claims_lists(), claims_lists(), schedulers, st.booleans(), st.booleans())
def test_every_claim_starts_or_has_a_reason_why_it_waits(
    nodes: list[Node], first: list[Claim], later: list[Claim], scheduler: str, preemption: bool, can_grow: bool
) -> None:
    claims = populated(nodes, first, later, "best")

    decision = place(nodes, claims, scheduler=scheduler, preemption=preemption, can_grow=can_grow)  # type: ignore[arg-type]

    queued = {c.allocation_id for c in claims if c.state is ClaimState.QUEUED}
    assert queued - {name for name, _ in decision.assign} == set(decision.waiting)
    blockers = {WaitingFor.SLOTS, WaitingFor.LEAVING, WaitingFor.TURN}
    assert all(wait.jobs for wait in decision.waiting.values() if wait.reason in blockers)


@steady
@given(nodes_lists, claims_lists(), claims_lists(), schedulers)
def test_no_job_ever_exceeds_its_max_slots(
    nodes: list[Node], first: list[Claim], later: list[Claim], scheduler: str
) -> None:
    claims = populated(nodes, first, later, "best")
    given_to = {name for name, _ in place(nodes, claims, scheduler=scheduler).assign}  # type: ignore[arg-type]

    used = Counter[str]()
    for claim in claims:
        if claim.state is ClaimState.HELD or claim.allocation_id in given_to:
            used[claim.job_id] += claim.slots

    assert all(c.max_slots is None or used[c.job_id] <= c.max_slots for c in claims)


@steady
@given(nodes_lists, claims_lists(), claims_lists(most=1))
def test_a_lone_waiting_claim_preempts_just_what_it_needs(
    nodes: list[Node], first: list[Claim], later: list[Claim]
) -> None:
    claims = [c for c in populated(nodes, first, later, "best") if c.state is ClaimState.HELD or c.job_id[0] == "l"]
    [waiting] = [c for c in claims if c.state is ClaimState.QUEUED] or [None]

    decision = place(nodes, claims)

    if decision.preempt:
        assert waiting is not None
        victims = [c for c in claims if c.allocation_id in decision.preempt]
        assert all(v.is_preemptible and not v.is_leaving and v.priority > waiting.priority for v in victims)
        assert _starts_without(nodes, claims, waiting, gone={v.allocation_id for v in victims})
        for spared in victims:
            gone = {v.allocation_id for v in victims if v is not spared}
            assert not _starts_without(nodes, claims, waiting, gone=gone)


def _starts_without(nodes: list[Node], claims: list[Claim], waiting: Claim, gone: set[str]) -> bool:
    left = [c for c in claims if c.allocation_id not in gone]
    decision = place(nodes, left, preemption=False)
    return waiting.allocation_id in {name for name, _ in decision.assign}


@steady
@given(nodes_lists, claims_lists(), claims_lists())
def test_once_the_preempted_have_left_somebody_more_important_starts(
    nodes: list[Node], first: list[Claim], later: list[Claim]
) -> None:
    claims = populated(nodes, first, later, "best")

    decision = place(nodes, claims)

    if decision.preempt:
        now = [c for c in apply(claims, decision) if not c.is_leaving]
        started = {name for name, _ in place(nodes, now).assign}
        important = min(c.priority for c in now if c.allocation_id in started)
        victims = [c for c in claims if c.allocation_id in decision.preempt]
        assert all(v.priority > important for v in victims)


@steady
@given(nodes_lists, claims_lists(), claims_lists(), fittings)
def test_what_would_fit_alone_does_not_wait_behind_the_less_important(
    nodes: list[Node], first: list[Claim], later: list[Claim], fitting: str
) -> None:
    claims = populated(nodes, first, later, fitting)
    decision = place(nodes, claims, fitting=fitting)  # type: ignore[arg-type]
    started = {name for name, _ in decision.assign}

    for waiting in claims:
        if waiting.state is not ClaimState.QUEUED or waiting.allocation_id in started or waiting.slots == 0:
            continue
        if waiting.max_slots is not None:
            continue  # its own job's cap, not the less important, may be what it waits for
        more_important = [
            c
            for c in claims
            if c.state is ClaimState.HELD
            or (c.priority <= waiting.priority and c.allocation_id != waiting.allocation_id)
        ]
        world = [*(c for c in apply(more_important, decision)), waiting]

        without_the_lesser = place(nodes, world, fitting=fitting, preemption=False)  # type: ignore[arg-type]

        overtakers = [c for c in claims if c.allocation_id in started and c.priority > waiting.priority and c.slots]
        if waiting.allocation_id in {name for name, _ in without_the_lesser.assign}:
            assert all(c.is_preemptible for c in overtakers)


@settings(max_examples=60, deadline=None)
@given(
    nodes_lists,
    st.integers(1, 8),
    st.lists(st.integers(1, 3), min_size=1, max_size=6),
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.booleans(),
)
def test_an_endless_stream_of_small_equals_cannot_starve_a_gang(
    nodes: list[Node], gang_slots: int, sizes: list[int], lives: list[int], preemptible: bool
) -> None:
    gang = Claim(allocation_id="gang", job_id="gang", slots=gang_slots, created_at=NOON, queue_position=0.5)
    if not place(nodes, [gang]).assign:
        return  # it does not fit the empty pool
    claims: list[Claim] = []
    ends: dict[str, int] = {}
    for tick in range(60):
        claims = [c for c in claims if ends.get(c.allocation_id, tick + 1) > tick and not c.is_leaving]
        for n, slots in enumerate(sizes):
            name = f"s{tick}-{n}"
            position = 0.0 if tick == 0 else float(tick)
            claims.append(
                Claim(
                    allocation_id=name,
                    job_id=name,
                    slots=slots,
                    queue_position=position,
                    created_at=NOON + timedelta(seconds=tick),
                    is_preemptible=preemptible,
                )
            )
        if tick == 1:
            claims.append(gang)
        decision = place(nodes, claims)
        for n, (name, _) in enumerate(decision.assign):
            ends[name] = tick + lives[(tick + n) % len(lives)]
        if "gang" in ends:
            return
        claims = apply(claims, decision)
    raise AssertionError("the gang never started")


@steady
@given(nodes_lists, claims_lists(), claims_lists(), schedulers, fittings, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(
    nodes: list[Node], first: list[Claim], later: list[Claim], scheduler: str, fitting: str, shuffler: object
) -> None:
    claims = populated(nodes, first, later, fitting)
    mixed_nodes, mixed_claims = list(nodes), list(claims)
    shuffler.shuffle(mixed_nodes)  # type: ignore[attr-defined]
    shuffler.shuffle(mixed_claims)  # type: ignore[attr-defined]

    decisions = [
        place(ns, cs, scheduler=scheduler, fitting=fitting)  # type: ignore[arg-type]
        for ns, cs in ((nodes, claims), (mixed_nodes, mixed_claims))
    ]

    assert decisions[0].assign == decisions[1].assign
    assert sorted(decisions[0].preempt) == sorted(decisions[1].preempt)


@steady
@given(nodes_lists, claims_lists(), claims_lists(), fittings, st.booleans())
def test_a_second_look_at_an_unchanged_pool_decides_nothing(
    nodes: list[Node], first: list[Claim], later: list[Claim], fitting: str, preemption: bool
) -> None:
    claims = populated(nodes, first, later, fitting)
    decided = apply(claims, place(nodes, claims, fitting=fitting, preemption=preemption))  # type: ignore[arg-type]

    again = place(nodes, decided, fitting=fitting, preemption=preemption)  # type: ignore[arg-type]

    assert again == Decision()


@steady
@given(nodes_lists, claims_lists(), claims_lists(), fittings)
def test_without_preemption_nobody_is_asked_to_leave(
    nodes: list[Node], first: list[Claim], later: list[Claim], fitting: str
) -> None:
    claims = populated(nodes, first, later, fitting)

    for scheduler in ("priority", "fair_share"):
        assert place(nodes, claims, scheduler=scheduler, preemption=False).preempt == ()  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(nodes_lists, claims_lists(most=8), claims_lists(most=8))
def test_once_everybody_can_leave_the_queue_drains(nodes: list[Node], first: list[Claim], later: list[Claim]) -> None:
    """Claims end one tick after they began: whatever fits the empty pool is done in the end."""
    claims = [replace(c, max_slots=None) for c in populated(nodes, first, later, "best")]
    possible = {
        c.allocation_id for c in claims if place(nodes, [replace(c, state=ClaimState.QUEUED, shares=())]).assign
    }
    done = {c.allocation_id for c in claims if c.state is ClaimState.HELD}
    waiting = [c for c in claims if c.state is ClaimState.QUEUED]

    for _ in range(len(waiting) + 1):
        decision = place(nodes, waiting)
        started = {name for name, _ in decision.assign}
        done |= started
        waiting = [c for c in waiting if c.allocation_id not in started]

    assert possible <= done


def test_a_slot_held_on_a_vanished_node_is_nobodys_business() -> None:
    ghost = Claim(
        allocation_id="g",
        job_id="g",
        slots=1,
        priority=99,
        created_at=NOON,
        state=ClaimState.HELD,
        shares=(NodeShare("gone", (0,)),),
    )
    waiting = Claim(allocation_id="w", job_id="w", slots=1, priority=1, created_at=NOON)

    assert place([], [ghost, waiting]) == Decision()
