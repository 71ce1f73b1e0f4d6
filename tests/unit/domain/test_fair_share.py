"""Fair share: the arithmetic of offers, and what placement does with them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.fair_share import Group, offers
from resolute.domain.placement import Decision, place

steady = settings(deadline=None)  # a busy machine is no failure

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def group(name: str, demand: int, *, weight: float = 1, pinned: int = 0, smallest: int = 1, age: int = 0) -> Group:
    return Group(
        job_id=name,
        weight=weight,
        demand=demand,
        pinned=pinned,
        smallest=smallest,
        registered_at=NOON - timedelta(seconds=age),
    )


def started(decision: Decision) -> list[str]:
    return sorted(name for name, _ in decision.assign)


def test_equal_weights_get_equal_offers() -> None:
    assert offers([group("a", 9), group("b", 9)], 8) == {"a": 4, "b": 4}


def test_offers_follow_the_weights() -> None:
    assert offers([group("a", 9, weight=3), group("b", 9, weight=1)], 8) == {"a": 6, "b": 2}


def test_what_one_job_does_not_need_goes_to_the_others() -> None:
    assert offers([group("a", 1), group("b", 9)], 8) == {"a": 1, "b": 7}


def test_slots_that_cannot_be_taken_back_count_as_part_of_the_share() -> None:
    assert offers([group("a", 9, pinned=4), group("b", 9)], 8) == {"a": 4, "b": 4}
    assert offers([group("a", 9, pinned=6), group("b", 9)], 8) == {"a": 6, "b": 2}


def test_of_two_gangs_that_cannot_run_together_the_newer_steps_back() -> None:
    older, newer = group("older", 4, smallest=4, age=9), group("newer", 4, smallest=4)

    assert offers([newer, older], 4) == {"older": 4, "newer": 0}


@steady
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.floats(0.1, 5), st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=6
    ),
    st.integers(0, 24),
)
def test_offers_stay_within_demand_and_capacity(rows: list[tuple[int, float, int, int]], capacity: int) -> None:
    groups = [
        group(f"g{n}", max(demand, pinned), weight=weight, smallest=smallest, pinned=pinned)
        for n, (demand, weight, smallest, pinned) in enumerate(rows)
    ]

    given_out = offers(groups, capacity)

    assert all(given_out[g.job_id] <= g.demand for g in groups)
    assert sum(given_out.values()) <= max(capacity, sum(g.pinned for g in groups))


def test_jobs_start_within_their_offers(pool: Any) -> None:
    claims = [pool.queued(f"{job}{n}", job_id=job, age=9 - n) for job in "ab" for n in range(4)]

    decision = place(pool.nodes(4), claims, scheduler="fair_share")

    assert started(decision) == ["a0", "a1", "b0", "b1"]


def test_a_job_above_its_offer_gives_its_newest_claims_back(pool: Any) -> None:
    claims = [pool.held(f"a{n}", ("n0", [n]), job_id="a", age=9 - n) for n in range(4)]
    claims += [pool.queued(f"b{n}", job_id="b") for n in range(4)]

    decision = place(pool.nodes(4), claims, scheduler="fair_share")

    assert decision == Decision(preempt=("a3", "a2"))


def test_a_job_keeps_everything_while_nobody_else_waits(pool: Any) -> None:
    claims = [pool.held(f"a{n}", ("n0", [n]), job_id="a") for n in range(4)]

    assert place(pool.nodes(4), claims, scheduler="fair_share") == Decision()


def test_claims_on_their_way_out_are_not_asked_twice(pool: Any) -> None:
    claims = [pool.held(f"a{n}", ("n0", [n]), job_id="a", is_leaving=n > 1) for n in range(4)]
    claims += [pool.queued(f"b{n}", job_id="b") for n in range(4)]

    assert place(pool.nodes(4), claims, scheduler="fair_share") == Decision()


def test_max_slots_caps_the_demand_of_a_job(pool: Any) -> None:
    claims = [pool.queued(f"a{n}", job_id="a", max_slots=1) for n in range(4)]
    claims += [pool.queued(f"b{n}", job_id="b") for n in range(4)]

    decision = place(pool.nodes(4), claims, scheduler="fair_share")

    assert started(decision) == ["a0", "b0", "b1", "b2"]


def test_a_gang_that_can_never_fit_takes_no_share(pool: Any) -> None:
    claims = [pool.queued("giant", 64, job_id="a"), *(pool.queued(f"b{n}", job_id="b") for n in range(4))]

    decision = place(pool.nodes(4), claims, scheduler="fair_share")

    assert started(decision) == ["b0", "b1", "b2", "b3"]
