"""Ports of the outbox: what has changed, kept in the transaction that changed it, and those who follow it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from resolute.domain.change import Action, Change, Thing
from resolute.domain.delivery import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeQuery:
    """Every filter that is set must match. Newest first."""

    actor: str = ""
    """A user's name, as it was at the time."""
    kinds: tuple[str, ...] = ()
    thing_id: str = ""
    actions: tuple[Action, ...] = ()
    workspace_ids: tuple[int, ...] | None = None
    """None: all, and what belongs to no workspace."""
    since: datetime | None = None
    until: datetime | None = None
    people_only: bool = True
    """Leave out what the platform did by itself and what running tasks did."""
    before_seq: int | None = None
    limit: int = 100


class Changes(Protocol):
    def append(self, changes: Sequence[Change]) -> None:
        """Number and store them, in this order. Numbers grow in the order in which transactions commit: a reader that
        has seen one will never find a smaller one later."""

    def after(self, seq: int, *, limit: int) -> list[Change]:
        """Those with a larger number, oldest first."""

    def of_thing(self, thing: Thing, *, first: int, last: int, limit: int) -> list[Change]:
        """Its changes with numbers from `first` to `last`, oldest first."""

    def search(self, query: ChangeQuery) -> list[Change]: ...
    def newest(self) -> int:
        """The largest number ever given that is still stored; 0: none is."""

    def progress(self) -> dict[str, Progress]:
        """Of every follower, by its name."""

    def save_progress(self, follower: str, progress: Progress) -> None: ...
    def forget_follower(self, follower: str) -> None:
        """No change is kept for its sake any more. Unknown names are ignored."""

    def oldest(self, *, after: int, limit: int) -> list[tuple[int, datetime, bool]]:
        """(number, time, whether a person did it) of the first changes after that number: what a sweep looks at."""

    def remove(self, seqs: Sequence[int]) -> None: ...


class Follower(Protocol):
    """Is given changes, each at least once, and those of one thing in their order.

    After a crash some come again: whoever must not do a thing twice remembers `Change.seq`.
    """

    @property
    def name(self) -> str:
        """Under which its progress is kept; stays the same over restarts."""

    def wants(self, change: Change) -> bool:
        """At once, without looking anything up."""

    def take(self, change: Change) -> None:
        """May take its time, and has a thread of its own. Raises anything when it could not: the same change comes
        again after a pause."""
