"""Delivery from the outbox: for each follower load, deliver, write down how far it has come. Nothing is decided here;
`domain.delivery` does.

No transaction is open while a follower takes a change. A master that dies in between gives the same changes again.
"""

import logging
from datetime import datetime

from resolute.domain.change import Change
from resolute.domain.delivery import Held, Progress, caught_up, read_up_to, refused, taken, tick
from resolute.domain.errors import ResoluteError
from resolute.engine.platform import Platform
from resolute.engine.ports.changes import Follower

log = logging.getLogger(__name__)

_AT_ONCE = 200
"""Changes read in one pass: what is given a second time after a crash is no more."""
_UNSTORED = 1000
"""How far a follower may read over changes that it does not want before that is written down."""


class Delivery:
    """One follower's delivery. Not for two threads at a time."""

    def __init__(self, platform: Platform, follower: Follower) -> None:
        self._platform = platform
        self._follower = follower
        self._stored: Progress | None = None
        self._progress = Progress()
        self._has_given = False

    def begin(self) -> None:
        """Say from where it follows: from where it was, or, when it is new here, what happens from now on."""
        self._load()

    def pass_once(self) -> tuple[bool, datetime | None]:
        """Whether there may be more to do at once; else when to look again (None: when something changes)."""
        progress = self._load()
        now = self._platform.clock()
        plan = tick(progress, now)
        for held in plan.retry:
            progress = self._retry(progress, held, now)
        fresh: list[Change] = []
        if plan.reads_on:
            with self._platform.store.read() as tx:
                fresh = tx.changes.after(progress.cursor, limit=_AT_ONCE)
            progress = self._read_on(progress, fresh, now)
        self._store(progress)
        return len(fresh) == _AT_ONCE, tick(progress, now).next_at

    def _load(self) -> Progress:
        if self._stored is not None:
            return self._progress
        with self._platform.store.write() as tx:
            known = tx.changes.progress().get(self._follower.name)
            if known is None:
                known = Progress(cursor=tx.changes.newest())
                tx.changes.save_progress(self._follower.name, known)
        self._stored = self._progress = known
        return known

    def _retry(self, progress: Progress, held: Held, now: datetime) -> Progress:
        with self._platform.store.read() as tx:
            missed = tx.changes.of_thing(held.thing, first=held.seq, last=progress.cursor, limit=_AT_ONCE)
        if held.attempts and not missed:
            log.warning(
                "%s gave %s %s up: too much time has passed", self._follower.name, held.thing.kind, held.thing.id
            )
        for change in missed:
            if not self._give(change):
                return refused(progress, change, now)
            progress = taken(progress, change)
        return progress if len(missed) == _AT_ONCE else caught_up(progress, held.thing)

    def _read_on(self, progress: Progress, fresh: list[Change], now: datetime) -> Progress:
        for change in fresh:
            if progress.holds(change.thing):
                progress = read_up_to(progress, change.seq)
            elif self._give(change):
                progress = taken(progress, change)
            else:
                progress = refused(progress, change, now)
                if not tick(progress, now).reads_on:
                    break
        return progress

    def _give(self, change: Change) -> bool:
        try:
            if self._follower.wants(change):
                self._has_given = True
                self._follower.take(change)
        except ResoluteError as error:
            log.warning("%s could not take change %d: %s", self._follower.name, change.seq, error)
            return False
        except Exception:
            log.exception("%s failed at change %d; it is tried again", self._follower.name, change.seq)
            return False
        return True

    def _store(self, progress: Progress) -> None:
        self._progress = progress
        assert self._stored is not None
        skipped = progress.cursor - self._stored.cursor
        if progress.held == self._stored.held and not self._has_given and skipped < _UNSTORED:
            return
        with self._platform.store.write() as tx:
            tx.changes.save_progress(self._follower.name, progress)
        self._stored = progress
        self._has_given = False
