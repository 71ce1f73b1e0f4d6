"""Followers of the outbox: at least once, in order per thing, whoever fails and whenever the master dies."""

import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.change import Action, Actor, Change, Via
from resolute.domain.change_retention import ChangeRetention
from resolute.engine.changes.delivery import Delivery
from resolute.engine.changes.fake import FakeFollower
from resolute.engine.changes.loop import DeliveryLoop
from resolute.engine.changes.sweep import Sweep
from resolute.engine.unit_of_work import flow


class Crash(BaseException):
    """Nothing may catch it, as nothing catches SIGKILL."""


def note(world, *things: object, actor: Actor | None = None) -> None:
    """One change of each thing, in one transaction."""
    platform = world.platform if actor is None else replace(world.platform, actor=actor)
    with flow(platform) as current:
        for thing in things:
            current.record(Action.CHANGED, "thing", thing)


def stored(world) -> list[Change]:
    with world.platform.store.read() as tx:
        return tx.changes.after(0, limit=10_000)


def things(follower: FakeFollower) -> list[str]:
    return [change.thing_id for change in follower.taken]


@pytest.fixture
def follower(world) -> FakeFollower:
    follower = FakeFollower()
    Delivery(world.platform, follower).begin()
    return follower


def test_a_follower_is_given_what_happens_after_it_came_in_order(world) -> None:
    note(world, "before")
    follower = FakeFollower()
    delivery = Delivery(world.platform, follower)
    delivery.begin()
    note(world, "a", "b")
    note(world, "a")

    delivery.pass_once()

    assert things(follower) == ["a", "b", "a"]


def test_it_is_given_only_what_it_wants(world) -> None:
    follower = FakeFollower(wants=lambda change: change.thing_id == "b")
    delivery = Delivery(world.platform, follower)
    delivery.begin()
    note(world, "a", "b", "c")

    delivery.pass_once()

    assert things(follower) == ["b"]


def test_after_a_restart_it_goes_on_where_it_was(world, follower: FakeFollower) -> None:
    note(world, "a")
    Delivery(world.platform, follower).pass_once()
    note(world, "b")

    Delivery(world.platform, follower).pass_once()

    assert things(follower) == ["a", "b"]


def test_a_thing_that_fails_holds_up_itself_alone_and_keeps_its_order(world, follower: FakeFollower) -> None:
    delivery = Delivery(world.platform, follower)
    follower.refuses = lambda change: change.thing_id == "bad"
    note(world, "bad", "good", "bad", "good")

    delivery.pass_once()
    while_failing = things(follower)
    follower.refuses = lambda change: False
    world.clock.forward(1)
    delivery.pass_once()

    assert while_failing == ["good", "good"]
    assert [c.seq for c in follower.taken if c.thing_id == "bad"] == sorted(
        c.seq for c in stored(world) if c.thing_id == "bad"
    )


def test_it_is_tried_again_after_longer_and_longer_pauses(world, follower: FakeFollower) -> None:
    delivery = Delivery(world.platform, follower)
    follower.refuses = lambda change: True
    note(world, "bad")
    tried_at = []

    for second in range(20):
        before = follower.attempts
        delivery.pass_once()
        if follower.attempts > before:
            tried_at.append(second)
        world.clock.forward(1)

    assert tried_at == [0, 1, 3, 7, 15]


def test_one_that_is_away_altogether_is_not_read_past_without_bound(world, follower: FakeFollower) -> None:
    delivery = Delivery(world.platform, follower)
    follower.refuses = lambda change: True
    note(world, *range(300))

    for _ in range(5):
        delivery.pass_once()
    held = follower.attempts
    follower.refuses = lambda change: False
    world.clock.forward(1)
    for _ in range(5):
        delivery.pass_once()

    assert held == 100
    assert sorted(map(int, things(follower))) == list(range(300))


def test_changes_of_a_held_thing_beyond_one_pass_all_come_in_order(world, follower: FakeFollower) -> None:
    delivery = Delivery(world.platform, follower)
    follower.refuses = lambda change: True
    note(world, *["bad"] * 450)
    for _ in range(3):
        delivery.pass_once()
    follower.refuses = lambda change: False
    world.clock.forward(60)

    for _ in range(4):
        delivery.pass_once()

    assert [c.seq for c in follower.taken] == [c.seq for c in stored(world) if c.thing_id == "bad"]


def test_a_follower_that_breaks_is_logged_and_given_the_change_again(world, follower, caplog) -> None:
    delivery = Delivery(world.platform, follower)
    follower.refuses = lambda change: 1 / 0 > 1
    note(world, "a")
    delivery.pass_once()
    follower.refuses = lambda change: False
    world.clock.forward(1)

    delivery.pass_once()

    assert things(follower) == ["a"]
    assert "fake failed at change" in caplog.text


# --------------------------------------------------------------------------------------------------------- crashes


class MortalStore:
    """The real store; at the chosen writes it dies, just before the commit or just after it."""

    def __init__(self, inner, deaths: dict[int, bool]) -> None:
        self._inner = inner
        self._deaths = deaths
        self.writes = 0

    @contextmanager
    def write(self):
        self.writes += 1
        number = self.writes
        with self._inner.write() as tx:
            yield tx
            if self._deaths.get(number) is True:
                raise Crash
        if self._deaths.get(number) is False:
            raise Crash

    def read(self):
        return self._inner.read()

    def close(self) -> None:
        self._inner.close()


def until_it_went_through(deed: Callable[[], object]) -> None:
    while True:
        try:
            deed()
            return
        except Crash:
            pass


DEATHS = st.dictionaries(st.integers(1, 40), st.booleans(), max_size=12)
"""Number of a write to whether the master dies before its commit (or just after it)."""
PROGRAM = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=6)
FAILING = st.sets(st.integers(0, 40), max_size=15)


def test_whenever_the_master_dies_each_change_comes_at_least_once_and_in_order(make_world) -> None:
    @settings(max_examples=40, deadline=None)
    @given(deaths=DEATHS, program=PROGRAM, failing=FAILING)
    def survives(deaths: dict[int, bool], program: list[list[str]], failing: set[int]) -> None:
        world = make_world()
        happened, follower = _live_through(world, deaths, program, failing)

        for thing in "abc":
            given_ = [change.seq for change in follower.taken if change.thing_id == thing]
            assert list(dict.fromkeys(given_)) == [seq for seq, name in happened.items() if name == thing]

    survives()


def _live_through(world, deaths: dict[int, bool], program: list[list[str]], failing: set[int]):
    """Changes, deliveries and sweeps by masters that die. What happened, and the follower that heard of it."""
    follower, happened = FakeFollower(), {}
    follower.refuses = lambda change: follower.attempts in failing
    world.platform = replace(world.platform, store=MortalStore(world.platform.store, deaths))

    def deliver() -> None:
        happened.update((change.seq, change.thing_id) for change in stored(world))
        until_it_went_through(lambda: Delivery(world.platform, follower).pass_once())
        until_it_went_through(lambda: Sweep(world.platform).step())

    until_it_went_through(lambda: Delivery(world.platform, follower).begin())
    for batch in program:
        until_it_went_through(lambda batch=batch: note(world, *batch))
        deliver()
    for _ in range(45):
        world.clock.forward(300)
        deliver()
    return happened, follower


# ------------------------------------------------------------------------------------------------------------ sweep


def swept(world) -> list[str]:
    while Sweep(world.platform).step():
        pass
    return [change.thing_id for change in stored(world)]


ADA = Actor(user_id=2, name="ada", via=Via.SESSION)


def test_the_platforms_own_changes_go_when_all_followers_have_read_them(world, follower: FakeFollower) -> None:
    delivery = Delivery(world.platform, follower)
    note(world, "a", "b")
    before = swept(world)
    delivery.pass_once()

    assert (before, swept(world)) == (["a", "b"], [])


def test_what_a_follower_could_not_take_stays_for_it(world, follower: FakeFollower) -> None:
    delivery = Delivery(world.platform, follower)
    follower.refuses = lambda change: change.thing_id == "bad"
    note(world, "good", "bad", "good")
    delivery.pass_once()

    assert swept(world) == ["bad", "good"]


def test_without_followers_what_people_did_is_kept_for_its_time(world) -> None:
    note(world, "by ada", actor=ADA)
    note(world, "by the platform")
    policy = ChangeRetention()
    after_a_sweep = swept(world)
    world.clock.forward(policy.audit.total_seconds())

    assert (after_a_sweep, swept(world)) == (["by ada"], [])


def test_a_follower_that_never_comes_back_does_not_fill_the_disk(world, follower: FakeFollower) -> None:
    note(world, "a")
    world.clock.forward(timedelta(days=8).total_seconds())

    assert swept(world) == []


def test_a_follower_that_was_forgotten_holds_nothing_back(world, follower: FakeFollower) -> None:
    note(world, "a")
    DeliveryLoop(world.platform).unfollow(follower.name)

    assert swept(world) == []


def test_a_sweep_passes_over_what_stays_and_comes_to_the_end(world) -> None:
    note(world, "1", "2", "3", actor=ADA)
    note(world, "4", "5")
    sweep = Sweep(world.platform, at_once=2)

    steps = [sweep.step() for _ in range(3)]

    assert steps == [True, True, False]
    assert [change.thing_id for change in stored(world)] == ["1", "2", "3"]


# ------------------------------------------------------------------------------------------------------------- loop


def wait_until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def test_the_loop_delivers_to_each_follower_and_stops(world) -> None:
    loop = DeliveryLoop(world.platform)
    loop.start()
    slow, quick = FakeFollower("slow"), FakeFollower("quick")
    slow.refuses = lambda change: True
    loop.follow(slow)
    loop.follow(quick)
    note(world, "a", "b")

    wait_until(lambda: things(quick) == ["a", "b"])
    loop.stop()

    assert slow.taken == []


def test_a_follower_that_left_is_given_nothing_more(world) -> None:
    loop = DeliveryLoop(world.platform)
    loop.start()
    gone, here = FakeFollower("gone"), FakeFollower("here")
    loop.follow(gone)
    loop.follow(here)
    loop.unfollow("gone")
    note(world, "a")

    wait_until(lambda: things(here) == ["a"])
    loop.stop()

    assert gone.taken == []
    with world.platform.store.read() as tx:
        assert list(tx.changes.progress()) == ["here"]
