"""The job queue: moving a job puts it where one asked, and touches as little as possible."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.job import Job, JobKind
from resolute.domain.queue import check_priority, in_order, move_ahead_of, move_behind

steady = settings(deadline=None)  # a busy machine is no failure

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def job(name: str, position: float, *, priority: int = 42, age: int = 0) -> Job:
    return Job(
        id=name,
        kind=JobKind.EXPERIMENT,
        name=name,
        entity_id=name,
        user_id=1,
        workspace_id=1,
        priority=priority,
        queue_position=position,
        submitted_at=NOON - timedelta(seconds=age),
    )


def names(jobs: list[Job]) -> list[str]:
    return [j.id for j in in_order(jobs)]


def applied(jobs: list[Job], changed: list[Job]) -> list[Job]:
    by_id = {j.id: j for j in changed}
    return [by_id.get(j.id, j) for j in jobs]


def test_order_is_priority_then_position_then_age() -> None:
    jobs = [job("c", 2), job("young", 1, age=1), job("old", 1, age=5), job("first", 9, priority=1)]

    assert names(jobs) == ["first", "old", "young", "c"]


def test_moving_ahead_changes_only_the_job_that_moves() -> None:
    jobs = [job("a", 1), job("b", 2), job("c", 3)]

    changed = move_ahead_of(jobs, "c", "b")

    assert [j.id for j in changed] == ["c"]
    assert names(applied(jobs, changed)) == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("move", "anchor", "expected"),
    [(move_ahead_of, "a", ["b", "a", "c"]), (move_behind, "c", ["a", "c", "b"]), (move_behind, "a", ["a", "b", "c"])],
)
def test_a_job_can_go_to_either_end(move: object, anchor: str, expected: list[str]) -> None:
    jobs = [job("a", 1), job("b", 2), job("c", 3)]

    changed = move(jobs, "b", anchor)  # type: ignore[operator]

    assert names(applied(jobs, changed)) == expected


def test_moving_next_to_a_job_of_another_priority_takes_that_priority() -> None:
    jobs = [job("urgent", 5, priority=1), job("a", 1)]

    changed = move_ahead_of(jobs, "a", "urgent")

    assert [(j.id, j.priority) for j in changed] == [("a", 1)]
    assert names(applied(jobs, changed)) == ["a", "urgent"]


def test_when_no_number_is_left_between_neighbours_the_priority_is_numbered_again() -> None:
    tight = 1.0 + 2**-52
    jobs = [job("a", 1.0), job("b", tight), job("c", 9.0), job("other", 1.0, priority=7)]

    changed = move_ahead_of(jobs, "c", "b")

    assert {j.id for j in changed} == {"a", "b", "c"}
    assert names(applied(jobs, changed)) == ["other", "a", "c", "b"]


def test_unknown_jobs_and_self_are_refused() -> None:
    jobs = [job("a", 1)]

    with pytest.raises(NotFound, match="Job x is not in the queue"):
        move_behind(jobs, "a", "x")
    with pytest.raises(InvalidInput, match="next to itself"):
        move_ahead_of(jobs, "a", "a")


def test_priorities_outside_the_range_are_refused() -> None:
    assert [check_priority(p) for p in (1, 99)] == [1, 99]
    with pytest.raises(InvalidInput, match=r"Priority 0 is out of range.*1 \(first\) to 99"):
        check_priority(0)


moves = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=120)


@steady
@given(moves)
def test_however_often_jobs_are_moved_each_lands_where_it_was_sent(sent: list[tuple[int, int, bool]]) -> None:
    jobs = [job(f"j{n}", 1.0 if n < 3 else float(n), priority=40 + n % 2) for n in range(5)]
    for who, anchor, ahead in sent:
        assume(who != anchor)
        move = move_ahead_of if ahead else move_behind

        jobs = applied(jobs, move(jobs, f"j{who}", f"j{anchor}"))

        order = names(jobs)
        assert order.index(f"j{who}") - order.index(f"j{anchor}") == (-1 if ahead else 1)
