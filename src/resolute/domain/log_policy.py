"""What a line of a trial's log may set off: stop retrying, or never use this node again. Pure.

Patterns are regular expressions, searched anywhere in a line. Both spellings of an action are read: a plain name and
the older object `{type: cancel_retries}`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from resolute.domain.errors import InvalidInput


class LogAction(StrEnum):
    CANCEL_RETRIES = "cancel_retries"
    EXCLUDE_NODE = "exclude_node"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPolicy:
    name: str
    pattern: re.Pattern[str]
    action: LogAction | None = None
    """None: the match is only shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """All that the lines seen so far ask for."""

    matched: tuple[str, ...] = ()
    """Names of the policies that matched, in the order of the configuration."""
    cancel_retries: bool = False
    excluded_nodes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = field(default=())
    """One sentence per policy, with the line that matched, for the trial's log."""


def parse_log_policies(section: Sequence[dict[str, Any]]) -> list[LogPolicy]:
    """The `log_policies` section of a configuration. Raises InvalidInput naming the entry and its fault."""
    return [_parse(entry, f"log_policies[{n}]") for n, entry in enumerate(section)]


def judge(policies: Sequence[LogPolicy], lines: Iterable[tuple[str, str]]) -> Verdict:
    """Match (text, node id) pairs. A policy is reported once, with the first line that matched it, but excludes
    every node on which it matched."""
    first_match: dict[int, str] = {}
    excluded: dict[str, None] = {}
    for text, node_id in lines:
        for index, policy in enumerate(policies):
            if index in first_match and policy.action is not LogAction.EXCLUDE_NODE:
                continue
            if not policy.pattern.search(text):
                continue
            first_match.setdefault(index, text)
            if policy.action is LogAction.EXCLUDE_NODE:
                excluded[node_id] = None
    hits = [(policies[index], first_match[index]) for index in sorted(first_match)]
    return Verdict(
        matched=tuple(policy.name for policy, _ in hits),
        cancel_retries=any(policy.action is LogAction.CANCEL_RETRIES for policy, _ in hits),
        excluded_nodes=tuple(excluded),
        reasons=tuple(_sentence(policy, text) for policy, text in hits),
    )


def _parse(entry: dict[str, Any], place: str) -> LogPolicy:
    pattern = entry.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        raise InvalidInput(
            f"{place}.pattern is {pattern!r}; it must be a regular expression, such as '.*CUDA error.*'."
        )
    try:
        compiled = re.compile(pattern)
    except re.error as problem:
        raise InvalidInput(f"{place}.pattern {pattern!r} is not a regular expression: {problem}.") from None
    return LogPolicy(name=str(entry.get("name") or pattern), pattern=compiled, action=_parse_action(entry, place))


def _parse_action(entry: dict[str, Any], place: str) -> LogAction | None:
    action = entry.get("action")
    if isinstance(action, dict):
        action = action.get("type")
    if action is None:
        return None
    try:
        return LogAction(action)
    except ValueError:
        options = " or ".join(LogAction)
        raise InvalidInput(f"{place}.action is {action!r}; it must be {options}.") from None


_EFFECT = {
    LogAction.CANCEL_RETRIES: "it will not be restarted",
    LogAction.EXCLUDE_NODE: "it will not run on this node again",
}


def _sentence(policy: LogPolicy, text: str) -> str:
    effect = f"; {_EFFECT[policy.action]}" if policy.action else ""
    return f"Log policy {policy.name!r} matched {text.strip()[:200]!r}{effect}."
