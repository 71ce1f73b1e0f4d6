"""Log lines of a trial or a task: one query for both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from resolute.client.session import Session
from resolute.domain.errors import InvalidInput

LEVELS = ("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Every filter that is set must match. `level` means that level or higher; times are RFC 3339 text."""

    follow: bool = False
    head: int | None = None
    tail: int | None = None
    level: str | None = None
    ranks: Sequence[int] = ()
    agents: Sequence[str] = ()
    allocations: Sequence[str] = ()
    sources: Sequence[str] = ()
    streams: Sequence[str] = ()
    after: str | None = None
    before: str | None = None
    search: str | None = None
    is_regex: bool = False


def read_logs(session: Session, path: str, wanted: LogFilter) -> Iterator[dict[str, Any]]:
    """Lines oldest first; `message` is ready to print, newline included."""
    if wanted.head is not None and wanted.tail is not None:
        raise InvalidInput("Give either head or tail, not both.")
    query = _query(wanted)
    if wanted.tail is None:
        yield from session.stream(path, follow=wanted.follow or None, limit=wanted.head, **query)
        return
    newest_first = session.stream(path, limit=wanted.tail, orderBy="ORDER_BY_DESC", **query)
    lines = list(newest_first)[::-1]
    yield from lines
    if wanted.follow:
        since = lines[-1]["timestamp"] if lines else wanted.after
        shown = {line["id"] for line in lines}
        rest = session.stream(path, follow=True, **{**query, "timestampAfter": since})
        yield from (line for line in rest if line["id"] not in shown)


def _query(wanted: LogFilter) -> dict[str, Any]:
    return {
        "levels": _levels(wanted.level),
        "rankIds": list(wanted.ranks),
        "agentIds": list(wanted.agents),
        "allocationIds": list(wanted.allocations),
        "sources": list(wanted.sources),
        "stdtypes": list(wanted.streams),
        "timestampAfter": wanted.after,
        "timestampBefore": wanted.before,
        "searchText": wanted.search,
        "enableRegex": wanted.is_regex or None,
    }


def _levels(lowest: str | None) -> list[str]:
    if lowest is None:
        return []
    word = lowest.upper()
    if word not in LEVELS:
        raise InvalidInput(f"Log level {lowest!r} is unknown. Choose one of {', '.join(LEVELS)}.")
    return [f"LOG_LEVEL_{level}" for level in LEVELS[LEVELS.index(word) :]]
