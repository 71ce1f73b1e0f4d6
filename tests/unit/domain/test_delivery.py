"""A follower's progress: in order per thing, others not held up, and longer and longer pauses."""

from datetime import UTC, datetime, timedelta

import pytest

from resolute.domain.change import Action, Change, Thing
from resolute.domain.delivery import (
    LONGEST_PAUSE,
    MOST_HELD,
    Held,
    Progress,
    caught_up,
    pause,
    read_up_to,
    refused,
    taken,
    tick,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def change(seq: int, thing: str = "1") -> Change:
    return Change(seq=seq, action=Action.MOVED, kind="trial", thing_id=thing, at=NOON)


def test_a_change_that_was_taken_is_behind_the_follower() -> None:
    progress = taken(Progress(cursor=4), change(5))

    assert (progress.cursor, progress.done, progress.held) == (5, 5, ())


def test_a_refused_change_holds_its_thing_and_the_follower_reads_on() -> None:
    progress = refused(Progress(cursor=4), change(5), NOON)

    assert progress.holds(Thing("trial", "1")) == Held(
        thing=Thing("trial", "1"), seq=5, attempts=1, not_before=NOON + timedelta(seconds=1)
    )
    assert taken(progress, change(6, "2")).cursor == 6


def test_what_is_held_is_not_done_so_that_its_row_stays() -> None:
    progress = taken(refused(Progress(cursor=4), change(5), NOON), change(6, "2"))

    assert (progress.cursor, progress.done) == (6, 4)


def test_a_held_thing_is_tried_again_when_its_pause_is_over_and_not_before() -> None:
    progress = refused(Progress(), change(1), NOON)

    early, due = tick(progress, NOON), tick(progress, NOON + timedelta(seconds=1))

    assert (early.retry, early.next_at) == ((), NOON + timedelta(seconds=1))
    assert due.retry == progress.held


def test_pauses_double_up_to_five_minutes() -> None:
    assert [pause(n).total_seconds() for n in (1, 2, 3, 4)] == [1, 2, 4, 8]
    assert pause(50) == LONGEST_PAUSE


def test_after_a_success_the_next_failure_of_the_thing_pauses_shortly_again() -> None:
    progress = Progress()
    for _ in range(5):
        progress = refused(progress, change(1), NOON)

    progress = refused(taken(progress, change(1)), change(3), NOON)

    (held,) = progress.held
    assert (held.seq, held.attempts) == (3, 1)


def test_a_thing_that_caught_up_is_as_all_others() -> None:
    progress = taken(refused(Progress(), change(1), NOON), change(1))

    assert caught_up(progress, Thing("trial", "1")) == Progress(cursor=1)


def test_with_too_many_held_things_the_follower_itself_waits() -> None:
    progress = Progress()
    for seq in range(1, MOST_HELD + 1):
        assert tick(progress, NOON).reads_on
        progress = refused(progress, change(seq, str(seq)), NOON)

    assert not tick(progress, NOON).reads_on
    assert tick(caught_up(progress, Thing("trial", "7")), NOON).reads_on


@pytest.mark.parametrize("seq", [3, 5])
def test_reading_never_goes_back(seq: int) -> None:
    assert read_up_to(Progress(cursor=5), seq).cursor == 5


def test_without_anything_held_there_is_nothing_to_do_by_the_clock() -> None:
    assert tick(Progress(cursor=9), NOON).next_at is None
