"""Priority scheduling, one promise at a time."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.capacity import ZERO_SLOT_LIMIT
from resolute.domain.node import Node, Slot
from resolute.domain.placement import Decision, place


def started(decision: Decision) -> list[str]:
    return [name for name, _ in decision.assign]


def where(decision: Decision, name: str) -> dict[str, tuple[int, ...]]:
    return {share.node_id: share.slot_ids for share in dict(decision.assign)[name]}


def test_an_empty_pool_gives_the_lowest_slot_ids_first(pool: Any) -> None:
    decision = place(pool.nodes(4), [pool.queued("a", 2)])

    assert decision == Decision(assign=(("a", (NodeShare("n0", (0, 1)),)),))


def test_the_lower_number_goes_first_then_queue_position_then_age(pool: Any) -> None:
    claims = [
        pool.queued("young", age=1),
        pool.queued("old", age=9),
        pool.queued("behind", age=99, queue_position=1.0),
        pool.queued("urgent", priority=1),
    ]

    decision = place(pool.nodes(4), claims)

    assert started(decision) == ["urgent", "old", "young", "behind"]


def test_a_gang_starts_whole_or_not_at_all(pool: Any) -> None:
    decision = place(pool.nodes(2, 1), [pool.queued("gang", 3)])

    assert decision == Decision()


def test_best_fit_takes_the_fullest_node_and_worst_fit_the_emptiest(pool: Any) -> None:
    nodes = pool.nodes(4, 4)
    claims = [pool.held("h", ("n1", [0, 1])), pool.queued("a", 2)]

    best, worst = (place(nodes, claims, fitting=f) for f in ("best", "worst"))

    assert where(best, "a") == {"n1": (2, 3)}
    assert where(worst, "a") == {"n0": (0, 1)}


def test_worst_fit_looks_past_an_empty_node_that_is_too_small(pool: Any) -> None:
    claims = [pool.held("h", ("n1", [0])), pool.queued("a", 3)]

    decision = place(pool.nodes(2, 4), claims, fitting="worst")

    assert where(decision, "a") == {"n1": (1, 2, 3)}


def test_a_gang_larger_than_a_node_takes_whole_nodes_of_one_size(pool: Any) -> None:
    decision = place(pool.nodes(4, 2, 4, 2), [pool.queued("gang", 8)])

    assert where(decision, "gang") == {"n0": (0, 1, 2, 3), "n2": (0, 1, 2, 3)}


@pytest.mark.parametrize("slots", [6, 7], ids=["not a multiple of a node", "prime"])
def test_a_gang_that_does_not_divide_into_whole_nodes_is_not_spread(pool: Any, slots: int) -> None:
    decision = place(pool.nodes(4, 4), [pool.queued("gang", slots)])

    assert decision == Decision()


def test_a_single_node_gang_is_never_spread(pool: Any) -> None:
    decision = place(pool.nodes(4, 4), [pool.queued("gang", 8, single_node=True)])

    assert decision == Decision()


def test_a_partly_used_node_is_not_part_of_a_spread_gang(pool: Any) -> None:
    claims = [pool.held("h", ("n0", [0]), is_preemptible=False), pool.queued("gang", 8)]

    decision = place(pool.nodes(4, 4, 4), claims)

    assert set(where(decision, "gang")) == {"n1", "n2"}


@pytest.mark.parametrize("change", [{"is_enabled": False}, {"is_draining": True}])
def test_disabled_and_draining_nodes_get_nothing_new(pool: Any, change: dict[str, bool]) -> None:
    nodes = [replace(node, **change) for node in pool.nodes(4)]

    decision = place(nodes, [pool.queued("a"), pool.queued("aux", 0)])

    assert decision == Decision()


def test_disabled_slots_get_nothing(pool: Any) -> None:
    nodes = [Node("n0", (Slot(0, is_enabled=False), Slot(1)))]

    decision = place(nodes, [pool.queued("a"), pool.queued("b")])

    assert decision.assign == (("a", (NodeShare("n0", (1,)),)),)


def test_excluded_nodes_are_avoided(pool: Any) -> None:
    decision = place(pool.nodes(2, 2), [pool.queued("a", 2, excluded_nodes=("n0",))])

    assert where(decision, "a") == {"n1": (0, 1)}


def test_zero_slot_tasks_start_on_a_full_pool_where_the_fewest_are(pool: Any) -> None:
    claims = [
        pool.held("h", ("n0", [0]), ("n1", [0])),
        pool.held("aux-0", ("n0", [])),
        pool.queued("aux-1", 0),
        pool.queued("aux-2", 0, excluded_nodes=("n1",)),
    ]

    decision = place(pool.nodes(1, 1), claims)

    assert where(decision, "aux-1") == {"n1": ()}
    assert where(decision, "aux-2") == {"n0": ()}


def test_a_node_takes_a_limited_number_of_zero_slot_tasks(pool: Any) -> None:
    decision = place(pool.nodes(1), [pool.queued(f"aux-{n:03}", 0) for n in range(ZERO_SLOT_LIMIT + 1)])

    assert len(decision.assign) == ZERO_SLOT_LIMIT


def test_max_slots_holds_a_job_back_and_nobody_else(pool: Any) -> None:
    claims = [
        pool.held("running", ("n0", [0]), job_id="capped", max_slots=2),
        pool.queued("fits", 1, job_id="capped", max_slots=2, age=9),
        pool.queued("over", 1, job_id="capped", max_slots=2, age=8),
        pool.queued("other", 1),
    ]

    decision = place(pool.nodes(8), claims)

    assert started(decision) == ["fits", "other"]


def test_a_job_at_max_slots_preempts_nobody(pool: Any) -> None:
    claims = [
        pool.held("running", ("n0", [0]), job_id="capped", max_slots=1, priority=1),
        pool.held("low", ("n0", [1]), priority=99),
        pool.queued("over", 1, job_id="capped", max_slots=1, priority=1),
    ]

    assert place(pool.nodes(2), claims) == Decision()


class TestPreemption:
    def test_the_least_important_leaves_and_among_equals_the_newest(self, pool: Any) -> None:
        claims = [
            pool.held("old", ("n0", [0]), priority=90, age=9),
            pool.held("new", ("n0", [1]), priority=90, age=1),
            pool.held("dear", ("n0", [2]), priority=50, age=0),
            pool.queued("urgent", 1, priority=10),
        ]

        decision = place(pool.nodes(3), claims)

        assert decision == Decision(preempt=("new",))

    def test_nobody_leaves_for_an_equal_or_a_lesser(self, pool: Any) -> None:
        claims = [
            pool.held("h", ("n0", [0]), priority=42),
            pool.queued("a", priority=42),
            pool.queued("b", priority=99),
        ]

        assert place(pool.nodes(1), claims) == Decision()

    def test_what_cannot_be_preempted_stays(self, pool: Any) -> None:
        claims = [pool.held("h", ("n0", [0]), priority=99, is_preemptible=False), pool.queued("a", priority=1)]

        assert place(pool.nodes(1), claims) == Decision()

    def test_nobody_leaves_when_the_gang_would_not_fit_anyway(self, pool: Any) -> None:
        claims = [
            pool.held("pinned", ("n0", [0]), priority=99, is_preemptible=False),
            pool.held("low", ("n0", [1]), priority=99),
            pool.queued("gang", 2, priority=1),
        ]

        assert place(pool.nodes(2), claims) == Decision()

    def test_nobody_leaves_when_it_is_switched_off(self, pool: Any) -> None:
        claims = [pool.held("h", ("n0", [0]), priority=99), pool.queued("a", priority=1)]

        assert place(pool.nodes(1), claims, preemption=False) == Decision()

    def test_a_small_victim_is_spared_when_the_large_one_is_enough(self, pool: Any) -> None:
        claims = [
            pool.held("small", ("n0", [0]), priority=99),
            pool.held("large", ("n0", [1, 2, 3]), priority=98),
            pool.queued("gang", 3, priority=1),
        ]

        decision = place(pool.nodes(4), claims)

        assert decision.preempt == ("large",)

    def test_free_slots_count_towards_the_gang(self, pool: Any) -> None:
        claims = [
            pool.held("a", ("n0", [0]), priority=99, age=1),
            pool.held("b", ("n0", [1]), priority=99, age=2),
            pool.queued("gang", 3, priority=1),
        ]

        decision = place(pool.nodes(4), claims)

        assert decision == Decision(preempt=("a",))

    def test_the_slots_of_a_waiting_gang_are_not_given_away(self, pool: Any) -> None:
        claims = [
            pool.held("low", ("n0", [0]), priority=99),
            pool.queued("gang", 2, priority=1),
            pool.queued("filler", 1, priority=50),
        ]

        decision = place(pool.nodes(2), claims)

        assert decision == Decision(preempt=("low",))

    def test_slots_that_are_already_coming_are_waited_for(self, pool: Any) -> None:
        claims = [
            pool.held("leaving", ("n0", [0]), priority=99, is_leaving=True),
            pool.held("staying", ("n1", [0]), priority=99),
            pool.queued("urgent", 1, priority=1),
        ]

        assert place(pool.nodes(1, 1), claims) == Decision()

    def test_two_waiting_claims_do_not_count_the_same_victim_twice(self, pool: Any) -> None:
        claims = [
            pool.held("x", ("n0", [0]), priority=99, age=1),
            pool.held("y", ("n1", [0]), priority=99, age=2),
            pool.queued("a", priority=1),
            pool.queued("b", priority=2),
            pool.queued("c", priority=3),
        ]

        decision = place(pool.nodes(1, 1), claims)

        assert sorted(decision.preempt) == ["x", "y"]

    def test_a_spread_gang_clears_whole_nodes(self, pool: Any) -> None:
        claims = [
            pool.held("a", ("n0", [0]), priority=99),
            pool.held("b", ("n1", [1]), priority=98),
            pool.held("c", ("n2", [0]), priority=97),
            pool.queued("gang", 4, priority=1),
        ]

        decision = place(pool.nodes(2, 2, 2), claims)

        assert sorted(decision.preempt) == ["a", "b"]

    def test_the_other_half_of_a_spread_victim_serves_the_next_in_line(self, pool: Any) -> None:
        claims = [
            pool.held("wide", ("n0", [0]), ("n1", [0]), priority=99),
            pool.held("narrow", ("n2", [0]), priority=98),
            pool.queued("a", priority=1),
            pool.queued("b", priority=2),
        ]

        decision = place(pool.nodes(1, 1, 1), claims)

        assert decision.preempt == ("wide",)

    def test_excluded_nodes_are_not_cleared(self, pool: Any) -> None:
        claims = [
            pool.held("worst", ("n0", [0]), priority=99),
            pool.held("better", ("n1", [0]), priority=98),
            pool.queued("a", priority=1, excluded_nodes=("n0",)),
        ]

        decision = place(pool.nodes(1, 1), claims)

        assert decision.preempt == ("better",)

    def test_holders_of_nodes_that_take_nothing_new_are_left_alone(self, pool: Any) -> None:
        nodes = [replace(pool.nodes(1)[0], is_draining=True)]
        claims = [pool.held("h", ("n0", [0]), priority=99), pool.queued("a", priority=1)]

        assert place(nodes, claims) == Decision()


class TestWaitingInLine:
    def test_equals_do_not_overtake_a_gang_on_the_node_it_waits_for(self, pool: Any) -> None:
        claims = [
            pool.held("running", ("n0", [0])),
            pool.queued("gang", 2, age=9),
            pool.queued("small", 1, age=1),
        ]

        assert place(pool.nodes(2), claims) == Decision()

    def test_equals_may_use_the_other_nodes(self, pool: Any) -> None:
        claims = [
            pool.held("x", ("n0", [0, 1])),
            pool.held("y", ("n1", [0, 1, 2])),
            pool.queued("gang", 4, age=9),
            pool.queued("small", 1, age=1),
        ]

        decision = place(pool.nodes(4, 4), claims)

        assert where(decision, "small") == {"n1": (3,)}

    def test_the_less_important_fill_the_gap_when_they_can_be_moved_aside(self, pool: Any) -> None:
        claims = [
            pool.held("running", ("n0", [0])),
            pool.queued("gang", 2),
            pool.queued("filler", 1, priority=50),
            pool.queued("stubborn", 1, priority=49, is_preemptible=False),
        ]

        decision = place(pool.nodes(2), claims)

        assert started(decision) == ["filler"]

    def test_nobody_fills_the_gap_when_preemption_is_off(self, pool: Any) -> None:
        claims = [pool.held("running", ("n0", [0])), pool.queued("gang", 2), pool.queued("filler", 1, priority=50)]

        assert place(pool.nodes(2), claims, preemption=False) == Decision()

    def test_a_gang_too_large_for_the_pool_holds_nobody_up(self, pool: Any) -> None:
        claims = [pool.queued("giant", 99, priority=1), pool.queued("small", 1, is_preemptible=False)]

        decision = place(pool.nodes(2), claims)

        assert started(decision) == ["small"]

    def test_a_spread_gang_waits_for_the_nodes_that_are_nearest_to_empty(self, pool: Any) -> None:
        claims = [
            pool.held("x", ("n0", [0])),
            pool.held("y", ("n1", [0, 1])),
            pool.held("z", ("n2", [0])),
            pool.queued("gang", 6, age=9),
            pool.queued("small", 1, age=1),
        ]

        decision = place(pool.nodes(3, 3, 3), claims)

        assert where(decision, "small") == {"n1": (2,)}
