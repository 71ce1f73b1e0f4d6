"""A change: something came to be, moved to another state, was altered or went away; who did it, and from where. Pure.

Changes are numbered in the order in which they became durable. They are facts: nothing alters one afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Action(StrEnum):
    CREATED = "CREATED"
    MOVED = "MOVED"
    """From one state to another."""
    CHANGED = "CHANGED"
    """Something else about it than its state; `detail` names the fields."""
    DELETED = "DELETED"
    LOGGED_IN = "LOGGED_IN"
    LOGGED_OUT = "LOGGED_OUT"
    LOGIN_FAILED = "LOGIN_FAILED"
    LOG_PATTERN_MATCHED = "LOG_PATTERN_MATCHED"
    """A line of a trial's log matched one of its log policies."""


class Via(StrEnum):
    """How whoever acted was known."""

    SESSION = "SESSION"
    """A log-in, on the web page or the command line."""
    ACCESS_TOKEN = "ACCESS_TOKEN"
    TASK = "TASK"
    """The token of a running task; the user is its owner."""
    NOBODY = "NOBODY"
    """A request without a token, such as a log-in itself."""
    PLATFORM = "PLATFORM"
    """No request: the platform's own loops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts, and from where."""

    user_id: int | None = None
    name: str = ""
    """The user's name at the time; a user who is renamed later does not alter the past."""
    via: Via = Via.PLATFORM
    address: str = ""
    """Of the network, as the master sees it: behind a proxy, the proxy's."""
    user_agent: str = ""


PLATFORM = Actor()


@dataclass(frozen=True, slots=True)
class Thing:
    """What changed: `experiment` 7, `trial` 12, `user` 3."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    seq: int = 0
    """Its number; grows with time, with gaps. 0: not stored yet."""
    action: Action
    kind: str
    thing_id: str
    at: datetime
    workspace_id: int | None = None
    """Where the thing was when it changed. None: it belongs to the whole cluster."""
    from_state: str = ""
    to_state: str = ""
    """Both empty for things that have no states, and for changes of something else than the state."""
    actor: Actor = PLATFORM
    detail: dict[str, Any] = field(default_factory=dict)
    """More about it, by name: `reason`, `changed`, and what tells people which thing it was. Never a secret."""

    @property
    def thing(self) -> Thing:
        return Thing(self.kind, self.thing_id)


def differences(before: Any, after: Any, *, shown: tuple[str, ...]) -> dict[str, Any]:
    """What a change of fields tells: old and new value of those in `shown`, of others only that they changed."""
    names = [name for name in before.__dataclass_fields__ if getattr(before, name) != getattr(after, name)]
    told = {name: [_plain(getattr(before, name)), _plain(getattr(after, name))] for name in names if name in shown}
    others = [name for name in names if name not in shown and name not in _ALWAYS]
    return {key: value for key, value in (("changed", told), ("also", others)) if value}


def _plain(value: Any) -> Any:
    """As JSON has it."""
    return str(value) if is_dataclass(value) else value


_ALWAYS = frozenset({"changed_at", "updated_at", "last_updated_time", "modified_at"})
"""Fields that alter with every change, and so say nothing."""


def about(thing: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    """The fields that tell people which thing it is, without empty ones."""
    return {name: value for name in names if (value := getattr(thing, name)) not in (None, "")}
