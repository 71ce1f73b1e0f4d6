"""What a line of a trial's log may set off: stop retrying, or never use this node again. Pure.

Patterns are regular expressions, searched anywhere in a line; the caller hands in what searches, bounded in time.
Both spellings of an action are read: a plain name and the older object `{type: cancel_retries}`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from resolute.domain.errors import InvalidInput


class LogAction(StrEnum):
    CANCEL_RETRIES = "cancel_retries"
    EXCLUDE_NODE = "exclude_node"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPolicy:
    name: str
    pattern: str
    action: LogAction | None = None
    """None: the match is only shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMatch:
    """A policy that a run's log has set off. It does so once a run, and once for every node that it excludes."""

    place: int
    """Of the policy in the configuration, from 0."""
    policy: LogPolicy
    text: str
    """The first line that matched."""
    node_id: str
    """Where that line was printed."""

    @property
    def key(self) -> str:
        """What it is remembered by."""
        return _key(self.place, self.policy, self.node_id)

    @property
    def sentence(self) -> str:
        effect = f"; {_EFFECT[self.policy.action]}" if self.policy.action else ""
        return f"Log policy {self.policy.name!r} matched {self.text.strip()[:200]!r}{effect}."


def parse_log_policies(section: Sequence[Mapping[str, object]]) -> list[LogPolicy]:
    """The `log_policies` section of a configuration. Raises InvalidInput naming the entry and its fault."""
    return [_parse(entry, f"log_policies[{n}]") for n, entry in enumerate(section)]


def find_matches(
    policies: Sequence[LogPolicy],
    lines: Iterable[tuple[str, str]],
    is_in: Callable[[int, str], bool],
    *,
    known: Collection[str] = (),
) -> list[LogMatch]:
    """What (text, node id) pairs set off beyond what is `known`. `is_in` searches a text for the pattern at a place."""
    found: dict[str, LogMatch] = {}
    for text, node_id in lines:
        for place, policy in enumerate(policies):
            key = _key(place, policy, node_id)
            if key not in known and key not in found and is_in(place, text):
                found[key] = LogMatch(place=place, policy=policy, text=text, node_id=node_id)
    return sorted(found.values(), key=lambda match: match.place)


def cancels_retries(policies: Sequence[LogPolicy], keys: Collection[str]) -> str:
    """The name of the first policy that forbids another try and was set off; empty: none was."""
    for place, policy in enumerate(policies):
        if policy.action is LogAction.CANCEL_RETRIES and _key(place, policy, "") in keys:
            return policy.name
    return ""


def _key(place: int, policy: LogPolicy, node_id: str) -> str:
    return f"{place}:{node_id}" if policy.action is LogAction.EXCLUDE_NODE else str(place)


def _parse(entry: Mapping[str, object], place: str) -> LogPolicy:
    pattern = entry.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        raise InvalidInput(
            f"{place}.pattern is {pattern!r}; it must be a regular expression, such as '.*CUDA error.*'."
        )
    try:
        re.compile(pattern)
    except re.error as problem:
        raise InvalidInput(f"{place}.pattern {pattern!r} is not a regular expression: {problem}.") from None
    return LogPolicy(name=str(entry.get("name") or pattern), pattern=pattern, action=_parse_action(entry, place))


def _parse_action(entry: Mapping[str, object], place: str) -> LogAction | None:
    action = entry.get("action")
    if isinstance(action, dict):
        action = action.get("type")
    if action is None:
        return None
    try:
        return LogAction(str(action))
    except ValueError:
        options = " or ".join(LogAction)
        raise InvalidInput(f"{place}.action is {action!r}; it must be {options}.") from None


_EFFECT = {
    LogAction.CANCEL_RETRIES: "it will not be restarted",
    LogAction.EXCLUDE_NODE: "it will not run on this node again",
}
