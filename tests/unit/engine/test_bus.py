"""Notices in the process: lost when nobody listens, never in the way of whoever gives them."""

import threading
from typing import Any

import pytest

from resolute.engine.bus import Bus
from resolute.engine.cluster_message import cluster_message, remove_cluster_message, set_cluster_message
from resolute.engine.ports.changes import ChangeQuery


def test_everyone_who_listens_to_a_topic_is_called_and_nobody_else() -> None:
    bus, told = Bus(), []
    for name, topic in (("a", "x"), ("b", "x"), ("c", "y")):
        bus.subscribe(topic, lambda name=name: told.append(name))  # type: ignore[misc]

    bus.publish("x")

    assert sorted(told) == ["a", "b"]


def test_a_notice_that_nobody_hears_is_lost() -> None:
    bus, told = Bus(), []
    bus.publish("x")

    bus.subscribe("x", lambda: told.append(1))

    assert told == []


def test_several_topics_are_told_at_once() -> None:
    bus, told = Bus(), []
    bus.subscribe("x", lambda: told.append("x"))
    bus.subscribe("y", lambda: told.append("y"))

    bus.publish("x", "y", "z")

    assert told == ["x", "y"]


def test_who_has_left_is_not_called_and_may_leave_twice() -> None:
    bus, told = Bus(), []
    leave = bus.subscribe("x", lambda: told.append("a"))
    bus.subscribe("x", lambda: told.append("b"))

    leave()
    leave()
    bus.publish("x")

    assert told == ["b"]


def test_a_listener_that_fails_keeps_nobody_from_hearing(caplog: pytest.LogCaptureFixture) -> None:
    bus, told = Bus(), []

    def fail() -> None:
        raise RuntimeError("I cannot")

    bus.subscribe("x", fail)
    bus.subscribe("x", lambda: told.append("b"))
    bus.publish("x")

    assert told == ["b"]
    assert "a listener of ('x',) failed" in caplog.text


def test_a_listener_may_leave_or_join_while_it_is_called() -> None:
    bus, told = Bus(), []

    def once() -> None:
        told.append("once")
        leave()
        bus.subscribe("x", lambda: told.append("later"))

    leave = bus.subscribe("x", once)
    bus.publish("x")
    bus.publish("x")

    assert told == ["once", "later"]


def test_threads_that_come_and_go_lose_no_notice_of_others() -> None:
    bus, told = Bus(), []
    bus.subscribe("x", lambda: told.append(1))

    def come_and_go() -> None:
        for _ in range(200):
            bus.subscribe("x", lambda: None)()

    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        bus.publish("x")
    for thread in threads:
        thread.join()

    assert len(told) == 200


# ----------------------------------------------------------------------------------------------- a message to everybody


def test_a_message_is_shown_until_it_is_taken_away(world: Any) -> None:
    nothing = cluster_message(world.platform)
    set_cluster_message(world.platform, {"message": "Down at five"})
    shown = cluster_message(world.platform)
    remove_cluster_message(world.platform)

    assert (nothing, shown, cluster_message(world.platform)) == (None, {"message": "Down at five"}, None)


def test_who_said_it_is_in_the_outbox_and_taking_nothing_away_is_not(world: Any) -> None:
    remove_cluster_message(world.platform)
    set_cluster_message(world.platform, {"message": "Down at five"})

    with world.platform.store.read() as tx:
        changes = tx.changes.search(ChangeQuery(kinds=("setting",), people_only=False))
    assert [(c.thing_id, c.detail) for c in changes] == [("cluster_message", {"message": "Down at five"})]
