"""The master dies at any write of a delivery: every follower is given each change at least once, and in order."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from resolute.domain.change import Action, Change
from resolute.engine.changes.delivery import Delivery
from resolute.engine.changes.fake import FakeFollower
from resolute.engine.changes.sweep import Sweep
from resolute.engine.ports.database import Store, Transaction
from resolute.engine.unit_of_work import flow


class Crash(BaseException):
    """Not an Exception: nothing in the engine may catch it, as nothing catches SIGKILL."""


class MortalStore:
    """The real store; at the chosen write it dies, just before the commit or just after it."""

    def __init__(self, inner: Store, *, dies_at: int = 0, before_commit: bool = False) -> None:
        self._inner = inner
        self._dies_at = dies_at
        self._before_commit = before_commit
        self.writes = 0

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        self.writes += 1
        is_last = self.writes == self._dies_at
        with self._inner.write() as tx:
            yield tx
            if is_last and self._before_commit:
                raise Crash
        if is_last:
            raise Crash

    def read(self) -> Any:
        return self._inner.read()

    def close(self) -> None:
        self._inner.close()


@dataclass
class Life:
    """What happened, and who heard of it."""

    happened: list[Change]
    followers: tuple[FakeFollower, FakeFollower]
    writes: int


def live(world: Any, *, dies_at: int = 0, before_commit: bool = False) -> Life:
    """A fixed program: things change, one follower takes all, the other is away for a while, old changes are swept.

    After a crash a new master begins: it remembers nothing, and does again what was not acknowledged.
    """
    store = MortalStore(world.platform.store, dies_at=dies_at, before_commit=before_commit)
    world.platform = replace(world.platform, store=store)
    steady, moody = FakeFollower("steady"), FakeFollower("moody")
    masters: dict[str, Delivery] = {}
    happened: dict[int, Change] = {}

    def attempt(deed: Callable[[], object]) -> None:
        try:
            deed()
        except Crash:
            masters.clear()
            deed()

    def deliver(follower: FakeFollower) -> None:
        if follower.name not in masters:
            masters[follower.name] = Delivery(world.platform, follower)
        masters[follower.name].pass_once()

    def change(*things: str) -> None:
        with flow(world.platform) as current:
            for thing in things:
                current.record(Action.CHANGED, "thing", thing)

    def turn(*things: str) -> None:
        if things:
            attempt(lambda: change(*things))
        with world.platform.store.read() as tx:
            happened.update((each.seq, each) for each in tx.changes.after(0, limit=1000))
        for follower in (steady, moody):
            attempt(lambda follower=follower: deliver(follower))
        attempt(lambda: Sweep(world.platform).step())

    turn()
    turn("a", "b")
    moody.refuses = lambda change: change.thing_id == "a"
    turn("a", "b", "a")
    moody.refuses = lambda change: True
    turn("b", "c")
    moody.refuses = lambda change: False
    for things in (("a",), (), ("c",), ()):
        world.clock.forward(60)
        turn(*things)
    return Life([*happened.values()], (steady, moody), store.writes)


def order(changes: list[Change], thing: str) -> list[int]:
    """Numbers of a thing's changes, each where it came first."""
    return list(dict.fromkeys(change.seq for change in changes if change.thing_id == thing))


@pytest.mark.parametrize("before_commit", [True, False], ids=["before-commit", "after-commit"])
def test_a_crash_at_any_write_loses_no_change_and_keeps_their_order(make_world: Any, before_commit: bool) -> None:
    calm = live(make_world())

    for moment in range(1, calm.writes + 1):
        life = live(make_world(), dies_at=moment, before_commit=before_commit)

        for follower in life.followers:
            for thing in "abc":
                assert order(follower.taken, thing) == order(life.happened, thing), f"write {moment}, {follower.name}"


def test_without_a_crash_nothing_is_given_twice(make_world: Any) -> None:
    life = live(make_world())

    assert life.writes > 15
    for follower in life.followers:
        assert len(follower.taken) == len({change.seq for change in follower.taken}) == len(life.happened)
