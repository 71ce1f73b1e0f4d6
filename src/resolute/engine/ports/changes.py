"""Port of the outbox: what has changed, kept in the transaction that changed it, and read by followers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from resolute.domain.change import Action, Change


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
        """Number and store them, in this order. Numbers grow in the order in which transactions commit."""

    def after(self, seq: int, *, limit: int) -> list[Change]:
        """Those with a larger number, oldest first."""

    def search(self, query: ChangeQuery) -> list[Change]: ...
