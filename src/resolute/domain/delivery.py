"""How far a follower has read the outbox, and what it is given next. Pure.

It reads in order. When it cannot take a change, the thing that changed is held: later changes of that thing wait for
the first, and are tried again after longer and longer pauses, while all other things go on.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from resolute.domain.change import Change, Thing

FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(minutes=5)
MOST_HELD = 100
"""With so many things held it is the follower itself that fails: it reads no further until one of them went through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A thing of which the follower could not take a change."""

    thing: Thing
    seq: int
    """The first change that it has not taken."""
    attempts: int = 1
    """How often that one was tried."""
    not_before: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    cursor: int = 0
    """The last change that was read: taken, of no interest, or of a held thing."""
    held: tuple[Held, ...] = ()

    @property
    def done(self) -> int:
        """All changes up to this number are behind it for good."""
        return min([self.cursor, *(each.seq - 1 for each in self.held)])

    def holds(self, thing: Thing) -> Held | None:
        return next((each for each in self.held if each.thing == thing), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    retry: tuple[Held, ...] = ()
    """Things whose pause is over."""
    reads_on: bool = True
    next_at: datetime | None = None
    """When there is something to do again, if nothing new happens. None: only when something does."""


def tick(progress: Progress, now: datetime) -> Plan:
    """What a follower does now."""
    retry = tuple(each for each in progress.held if each.not_before <= now)
    waiting = [each.not_before for each in progress.held if each.not_before > now]
    return Plan(
        retry=retry,
        reads_on=len(progress.held) < MOST_HELD,
        next_at=now if retry else min(waiting, default=None),
    )


def pause(attempts: int) -> timedelta:
    """After the given number of failures: 1 s, 2 s, 4 s ... up to five minutes."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * (1 << min(attempts - 1, 20)))


# ----------------------------------------------------------------------------------------------- what became of it


def read_up_to(progress: Progress, seq: int) -> Progress:
    return replace(progress, cursor=max(progress.cursor, seq))


def taken(progress: Progress, change: Change) -> Progress:
    """The follower has it. A held thing goes on with its next change, from the first pause again."""
    held = progress.holds(change.thing)
    if held is None:
        return read_up_to(progress, change.seq)
    return _with(progress, replace(held, seq=change.seq + 1, attempts=0))


def refused(progress: Progress, change: Change, now: datetime) -> Progress:
    held = progress.holds(change.thing)
    attempts = 1 if held is None else held.attempts + 1
    again = Held(thing=change.thing, seq=change.seq, attempts=attempts, not_before=now + pause(attempts))
    return _with(read_up_to(progress, change.seq), again)


def caught_up(progress: Progress, thing: Thing) -> Progress:
    """No change of it that was read is left: it is a thing as all others."""
    return replace(progress, held=tuple(each for each in progress.held if each.thing != thing))


def _with(progress: Progress, held: Held) -> Progress:
    others = tuple(each for each in progress.held if each.thing != held.thing)
    return replace(progress, held=(*others, held))
