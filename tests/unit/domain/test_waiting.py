"""Why a claim waits: one reason for every claim that a pass leaves in the queue, and a sentence for each."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.claim import ClaimState
from resolute.domain.node import Node, Slot
from resolute.domain.placement import delegate, place
from resolute.domain.waiting import Wait, WaitingFor, sentence

NAMES = {
    "job-a": "experiment 1 (a)",
    "job-b": "experiment 2 (b)",
    "job-c": "notebook c",
    "job-d": "deployment d",
    "job-x": "experiment 9 (x)",
}


def why(nodes: list[Node], claims: list[Any], name: str = "x", **options: Any) -> str:
    wait = place(nodes, claims, **options).waiting[name]
    return sentence(wait, pool="default", own_job=f"job-{name}", names=NAMES)


def test_slots_that_others_hold_are_told_with_their_holders(pool: Any) -> None:
    claims = [pool.held("a", ("n0", [0])), pool.held("b", ("n0", [1, 2])), pool.queued("x", 2)]

    assert why(pool.nodes(4), claims) == (
        "Waits for 2 slots of pool default, where 1 is free; "
        "the others are held by experiment 2 (b) and experiment 1 (a)."
    )


def test_what_starts_in_the_same_pass_is_a_holder_too(pool: Any) -> None:
    claims = [pool.queued("a", 2, age=9), pool.queued("x", 2)]

    assert why(pool.nodes(2), claims) == "Waits for 2 slots of pool default, held by experiment 1 (a)."


def test_only_some_holders_are_named_and_the_rest_counted(pool: Any) -> None:
    holders = [pool.held(name, ("n0", [slot])) for slot, name in enumerate("abcde")]

    assert why(pool.nodes(5), [*holders, pool.queued("x", 5)]).endswith(
        "held by experiment 1 (a), experiment 2 (b), notebook c and 2 other jobs."
    )


def test_jobs_that_the_reader_may_not_see_are_counted_and_not_named(pool: Any) -> None:
    wait = place(pool.nodes(1), [pool.held("a", ("n0", [0])), pool.queued("x")]).waiting["x"]

    assert sentence(wait, pool="default", own_job="job-x", names={}).endswith("held by 1 job.")


def test_a_job_that_stands_in_its_own_way_is_told_so(pool: Any) -> None:
    claims = [pool.held("a", ("n0", [0]), job_id="job-x"), pool.queued("x")]

    assert why(pool.nodes(1), claims).endswith("held by other tasks of its own job.")


@pytest.mark.parametrize(
    ("sizes", "slots", "options", "told"),
    [
        ((2, 2), 3, {}, "It can never start: 3 slots do not fit pool default, which has 2 nodes of 2 slots."),
        ((4, 1), 8, {}, "which has 1 node of 4 slots and 1 node of 1 slot."),
        ((2, 2), 4, {"single_node": True}, "It can never start: 4 slots do not fit"),
        ((2, 2), 4, {"excluded_nodes": ("n1",)}, "which has 1 node of 2 slots and n1 excluded."),
        ((), 1, {}, "It cannot start: pool default has no node."),
        ((), 0, {}, "It cannot start: pool default has no node."),
    ],
)
def test_what_never_fits_is_told_with_what_the_pool_has(
    pool: Any, sizes: tuple[int, ...], slots: int, options: dict[str, Any], told: str
) -> None:
    assert told in why(pool.nodes(*sizes), [pool.queued("x", slots, **options)])


def test_what_fits_no_node_of_a_growing_pool_waits_for_it_to_grow(pool: Any) -> None:
    assert why(pool.nodes(2), [pool.queued("x", 8)], can_grow=True) == (
        "Waits for pool default to grow: it has 1 node of 2 slots, which is no place for 8 slots."
    )


def test_a_pool_out_of_service_is_told_apart_from_one_that_is_too_small(pool: Any) -> None:
    drained = replace(pool.nodes(2)[0], is_draining=True)
    partly = Node("n1", (Slot(0, is_enabled=False), Slot(1)))

    assert why([drained, partly], [pool.queued("x", 2)]) == (
        "Waits for what is disabled or draining in pool default: node n0 and 1 of 2 slots of node n1."
    )
    assert "disabled or draining" in why([drained], [pool.queued("x", 0)])
    assert "can never start" in why([drained, partly], [pool.queued("x", 16)])


def test_slots_on_their_way_are_told_with_who_gives_them_back(pool: Any) -> None:
    claims = [pool.held("a", ("n0", [0, 1]), priority=99), pool.queued("x", 2, priority=1)]
    told = "Starts when 2 slots of pool default are given back by experiment 1 (a); asked to leave."

    assert why(pool.nodes(2), claims) == told
    assert why(pool.nodes(2), [replace(claims[0], is_leaving=True), claims[1]]) == told


def test_room_kept_for_one_that_is_served_first_is_told_with_whose_turn_it_is(pool: Any) -> None:
    claims = [
        pool.held("a", ("n0", [0]), is_preemptible=False),
        pool.queued("b", 2, age=9),
        pool.queued("x", 1),
    ]
    told = "Stands behind experiment 2 (b), which waits for 2 slots of pool default and is served first."

    assert why(pool.nodes(2), claims) == told


def test_what_could_not_move_aside_stands_behind_the_more_important(pool: Any) -> None:
    claims = [
        pool.held("a", ("n0", [0]), is_preemptible=False),
        pool.queued("b", 2, priority=1),
        pool.queued("x", 1, is_preemptible=False),
    ]

    assert why(pool.nodes(2), claims).startswith("Stands behind experiment 2 (b)")


def test_without_preemption_all_that_is_less_important_stands_behind(pool: Any) -> None:
    claims = [
        pool.held("a", ("n0", [0])),
        pool.queued("b", 2, priority=1),
        pool.queued("x", 1),
        pool.queued("y", 16),
    ]

    decision = place(pool.nodes(2), claims, preemption=False)

    reasons = {name: wait.reason for name, wait in decision.waiting.items()}
    assert reasons == {"b": WaitingFor.SLOTS, "x": WaitingFor.TURN, "y": WaitingFor.NOTHING}


def test_a_job_at_its_max_slots_waits_for_its_own_tasks(pool: Any) -> None:
    claims = [
        pool.held("a", ("n0", [0, 1]), job_id="job-x", max_slots=2),
        pool.queued("x", 1, max_slots=2),
        pool.queued("y", 3, job_id="job-y", max_slots=2),
    ]

    assert why(pool.nodes(4), claims) == ("Waits for other tasks of its own job: max_slots is 2, and they hold 2.")
    assert why(pool.nodes(4), claims, "y") == (
        "It can never start: it asks for 3 slots, and max_slots of its job is 2."
    )


def test_under_fair_share_a_job_waits_for_its_share_or_for_slots(pool: Any) -> None:
    claims = [
        pool.held("a", ("n0", [0, 1, 2]), job_id="job-x", is_preemptible=False),
        pool.held("b", ("n0", [3]), weight=9.0, is_preemptible=False),
        pool.queued("x", 1),
        pool.queued("y", 9),
    ]

    decision = place(pool.nodes(4), claims, scheduler="fair_share")

    assert decision.waiting["y"].reason is WaitingFor.NOTHING
    assert why(pool.nodes(4), claims, scheduler="fair_share") == (
        "Waits for its fair share of pool default: the job is offered 3 slots and holds 3."
    )


def test_under_fair_share_a_job_within_its_share_waits_for_slots(pool: Any) -> None:
    claims = [pool.held("a", ("n0", [0, 1, 2, 3])), pool.queued("x", 1)]

    assert "held by experiment 1 (a)" in why(pool.nodes(4), claims, scheduler="fair_share")


def test_tasks_without_slots_wait_where_every_node_has_its_fill_of_them(pool: Any) -> None:
    claims = [pool.queued(f"aux-{n:03}", 0) for n in range(101)]

    assert why(pool.nodes(1), claims, "aux-100") == (
        "Every node of pool default runs 100 tasks without slots, the most it takes."
    )


def test_a_delegating_pool_is_given_all_in_line_that_its_quota_allows(pool: Any) -> None:
    claims = [
        pool.queued("late", 64, job_id="capped", max_slots=64),
        pool.queued("first", 1, priority=1),
        replace(pool.queued("there", 1, job_id="capped", max_slots=64), state=ClaimState.SUBMITTED),
    ]

    decision = delegate(claims)

    assert decision.assign == (("first", ()),)
    assert decision.waiting["late"] == Wait(reason=WaitingFor.QUOTA, slots=64, limit=64, used=1)
    assert decision.waiting["there"].reason is WaitingFor.ENGINE


@pytest.mark.parametrize("reason", list(WaitingFor))
def test_every_reason_has_a_sentence(reason: WaitingFor) -> None:
    told = sentence(Wait(reason=reason, slots=1, note="Resources."), pool="gpu", names={})

    assert told[0].isupper()
    assert told.endswith(".")
    assert "  " not in told
