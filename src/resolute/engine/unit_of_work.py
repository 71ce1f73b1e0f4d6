"""A `Flow` is one write transaction, and what must follow it once it is durable: notices, log lines, collections.

What comes to be, moves to a state, is altered or goes away does so through `add`, `move`, `change` and `remove`: each
saves the thing, notes its topics and appends to the outbox, all in this transaction. Nothing else assigns a state.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from resolute.domain.change import PLATFORM, Action, Actor, Change, about, differences
from resolute.domain.errors import IllegalTransition
from resolute.domain.log import LogLevel
from resolute.engine.bus import Bus
from resolute.engine.changes.kinds import Kind, kind_of
from resolute.engine.notices import tell
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction

T = TypeVar("T")

CHANGES = "changes"
"""Topic: the outbox has grown."""


@dataclass(slots=True)
class Flow:
    """One transaction's worth of changes: the clock's reading, who acts, what follows the commit."""

    tx: Transaction
    bus: Bus
    now: datetime
    actor: Actor = PLATFORM
    notices: list[tuple[str, str, LogLevel]] = field(default_factory=list)
    collect: set[int] = field(default_factory=set)
    """Experiments whose checkpoints should be looked at by the retention policy."""
    changes: list[Change] = field(default_factory=list)
    """Written to the outbox, in this order, before the transaction commits."""
    topics: dict[str, None] = field(default_factory=dict)
    """Published once each, after the commit."""

    # --------------------------------------------------------------------------------------------- things that change

    def add(self, thing: T, *, reason: str = "") -> T:
        """Store a new thing; returns it with its id."""
        made = kind_of(thing).add(self.tx, thing)
        self.added(made, reason=reason)
        return made

    def added(self, thing: T, *, reason: str = "") -> None:
        """`thing` was stored just now, in this transaction, by something that knew whether it was new."""
        kind = kind_of(thing)
        self._remember(kind, thing, Action.CREATED, "", kind.state(thing), reason=reason)

    def move(self, before: T, after: T, *, reason: str = "") -> T:
        """Have a thing, which is stored as `before`, be `after` from now on. With equal states it is a `change`.

        Raises IllegalTransition when it is no longer in the state of `before`; nothing is changed then.
        """
        kind = kind_of(before)
        start, goal = kind.state(before), kind.state(after)
        if start == goal:
            return self.change(before, after, reason=reason)
        self._save(kind, before, after)
        self._remember(kind, after, Action.MOVED, start, goal, reason=reason)
        return after

    def change(self, before: T, after: T, *, reason: str = "") -> T:
        """Alter other fields than the state, where people want to know of it later. No difference: nothing is done."""
        if before == after:
            return after
        kind = kind_of(before)
        self._save(kind, before, after)
        self._remember(
            kind, after, Action.CHANGED, "", "", reason=reason, **differences(before, after, shown=kind.shown)
        )
        return after

    def remove(self, thing: T, *, reason: str = "") -> None:
        kind = kind_of(thing)
        assert kind.remove is not None, f"things of kind {kind.name} stay"
        # While it is there: where it was is read from its neighbours.
        self._remember(kind, thing, Action.DELETED, kind.state(thing), "", reason=reason)
        kind.remove(self.tx, thing)

    def record(self, action: Action, kind: str, thing_id: object, **detail: object) -> None:
        """A deed that stores no thing of `engine.changes.kinds`: a log-in, a setting of the cluster."""
        workspace_id = detail.pop("workspace_id", None)
        assert workspace_id is None or isinstance(workspace_id, int)
        self._append(action, kind, str(thing_id), workspace_id, "", "", detail)

    def _save(self, kind: Kind[T], before: T, after: T) -> None:
        if not kind.save(self.tx, after, kind.state(before) or None):
            raise IllegalTransition(
                f"The {kind.name} {kind.id(before)} was changed by someone else just now; look again."
            )

    def _remember(
        self, kind: Kind[T], thing: T, action: Action, start: str, goal: str, *, reason: str, **detail: object
    ) -> None:
        self.publish(*kind.topics(thing))
        detail = {**about(thing, kind.about), **detail}
        if reason:
            detail["reason"] = reason
        self._append(action, kind.name, kind.id(thing), kind.workspace(self.tx, thing), str(start), str(goal), detail)

    def _append(
        self,
        action: Action,
        kind: str,
        thing_id: str,
        workspace_id: int | None,
        start: str,
        goal: str,
        detail: dict[str, object],
    ) -> None:
        self.changes.append(
            Change(
                action=action,
                kind=kind,
                thing_id=thing_id,
                at=self.now,
                workspace_id=workspace_id,
                from_state=start,
                to_state=goal,
                actor=self.actor,
                detail=detail,
            )
        )

    # ------------------------------------------------------------------------------------------- what follows a commit

    def publish(self, *topics: str) -> None:
        self.topics.update(dict.fromkeys(topics))

    def tell(self, task_id: str, text: str, level: LogLevel = LogLevel.INFO) -> None:
        self.notices.append((task_id, text, level))


@contextmanager
def flow(platform: Platform) -> Iterator[Flow]:
    """Log lines are written only when the transaction has committed: a log never tells what did not happen."""
    with platform.store.write() as tx:
        current = Flow(tx=tx, bus=platform.bus, now=platform.clock(), actor=platform.actor)
        yield current
        tx.changes.append(current.changes)
    if current.changes:
        current.publish(CHANGES)
    if current.topics:
        platform.bus.publish(*current.topics)
    for task_id, text, level in current.notices:
        tell(platform, task_id, text, level=level)
    for experiment_id in current.collect:
        platform.to_collect.put(experiment_id)
