"""`engine.ports.changes.Changes` on every database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from resolute.domain.change import Action, Actor, Change, Thing, Via
from resolute.domain.delivery import Held, Progress
from resolute.engine.ports.changes import ChangeQuery
from resolute.engine.ports.database import Store

from .conftest import NOON

ADA = Actor(user_id=3, name="ada", via=Via.SESSION, address="10.0.0.7", user_agent="resolute/1")
MOVE = Change(
    action=Action.MOVED,
    kind="trial",
    thing_id="7",
    at=NOON,
    workspace_id=1,
    from_state="ACTIVE",
    to_state="COMPLETED",
    detail={"experiment_id": 2, "reason": "was done"},
)


def append(store: Store, *changes: Change) -> list[Change]:
    with store.write() as tx:
        tx.changes.append(changes)
    with store.read() as tx:
        return tx.changes.after(0, limit=100)


def test_changes_come_back_as_they_were_in_their_order_and_numbered(store: Store) -> None:
    deed = replace(MOVE, actor=ADA, action=Action.LOGGED_IN, workspace_id=None, detail={})

    first, second = append(store, MOVE, deed)

    assert (replace(first, seq=0), replace(second, seq=0)) == (MOVE, deed)
    assert 0 < first.seq < second.seq


def test_reading_goes_on_after_a_number_and_stops_at_a_limit(store: Store) -> None:
    found = append(store, *[replace(MOVE, thing_id=str(n)) for n in range(5)])

    with store.read() as tx:
        part = tx.changes.after(found[1].seq, limit=2)

    assert [change.thing_id for change in part] == ["2", "3"]


def test_the_changes_of_one_thing_are_found_between_two_numbers(store: Store) -> None:
    found = append(store, *[replace(MOVE, thing_id=thing) for thing in "ababa"])

    with store.read() as tx:
        own = tx.changes.of_thing(Thing("trial", "a"), first=found[1].seq, last=found[4].seq, limit=10)
        fewer = tx.changes.of_thing(Thing("trial", "a"), first=0, last=found[4].seq, limit=1)

    assert [own, fewer] == [[found[2], found[4]], [found[0]]]


def test_a_number_is_not_given_again_when_all_rows_are_gone(store: Store) -> None:
    (first,) = append(store, MOVE)
    with store.write() as tx:
        tx.changes.remove([first.seq])
        assert tx.changes.newest() == 0

    (second,) = append(store, MOVE)

    assert second.seq > first.seq


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (ChangeQuery(), ["3", "1"]),
        (ChangeQuery(people_only=False), ["3", "2", "1", "0"]),
        (ChangeQuery(actor="ada"), ["1"]),
        (ChangeQuery(kinds=("user",)), ["3"]),
        (ChangeQuery(thing_id="1"), ["1"]),
        (ChangeQuery(actions=(Action.LOGIN_FAILED, Action.DELETED)), ["3"]),
        (ChangeQuery(workspace_ids=(1,)), ["1"]),
        (ChangeQuery(workspace_ids=()), []),
        (ChangeQuery(since=NOON + timedelta(hours=2)), ["3"]),
        (ChangeQuery(until=NOON + timedelta(hours=2)), ["1"]),
        (ChangeQuery(limit=1), ["3"]),
    ],
)
def test_the_past_is_searched_newest_first(store: Store, query: ChangeQuery, expected: list[str]) -> None:
    append(
        store,
        replace(MOVE, thing_id="0"),
        replace(MOVE, thing_id="1", actor=ADA),
        replace(MOVE, thing_id="2", actor=Actor(user_id=3, name="ada", via=Via.TASK)),
        Change(
            action=Action.LOGIN_FAILED,
            kind="user",
            thing_id="3",
            at=NOON + timedelta(hours=2),
            actor=Actor(via=Via.NOBODY, address="10.6.6.6"),
        ),
    )

    with store.read() as tx:
        found = tx.changes.search(query)

    assert [change.thing_id for change in found] == expected


def test_a_search_goes_on_below_a_number(store: Store) -> None:
    found = append(store, *[replace(MOVE, actor=ADA, thing_id=thing) for thing in "abc"])

    with store.read() as tx:
        earlier = tx.changes.search(ChangeQuery(before_seq=found[2].seq, limit=1))

    assert earlier == [found[1]]


def test_a_followers_progress_is_kept_and_replaced_as_a_whole(store: Store) -> None:
    held = Held(thing=Thing("trial", "7"), seq=4, attempts=3, not_before=NOON)
    other = replace(held, thing=Thing("trial", "8"), seq=5)
    with store.write() as tx:
        tx.changes.save_progress("a", Progress(cursor=9, held=(held, other)))
        tx.changes.save_progress("b", Progress(cursor=2))
    with store.write() as tx:
        tx.changes.save_progress("a", Progress(cursor=10, held=(other,)))

    with store.read() as tx:
        assert tx.changes.progress() == {"a": Progress(cursor=10, held=(other,)), "b": Progress(cursor=2)}


def test_a_forgotten_follower_leaves_nothing(store: Store) -> None:
    held = Held(thing=Thing("trial", "7"), seq=4, not_before=NOON)
    with store.write() as tx:
        tx.changes.save_progress("a", Progress(cursor=9, held=(held,)))
        tx.changes.forget_follower("a")
        tx.changes.forget_follower("nobody")
        tx.changes.save_progress("a", Progress(cursor=9))

    with store.read() as tx:
        assert tx.changes.progress() == {"a": Progress(cursor=9)}


def test_a_sweep_sees_number_time_and_whether_a_person_did_it_and_takes_what_it_names(store: Store) -> None:
    first, second, third = append(store, MOVE, replace(MOVE, actor=ADA), MOVE)
    with store.write() as tx:
        seen = tx.changes.oldest(after=first.seq, limit=1)
        tx.changes.remove([first.seq, third.seq])

    assert seen == [(second.seq, NOON, True)]
    with store.read() as tx:
        assert tx.changes.after(0, limit=10) == [second]
