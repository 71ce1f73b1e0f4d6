"""Which changes may go: they are kept until all followers have read them, and what people did for longer. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRetention:
    audit: timedelta = timedelta(days=90)
    """How long what people did is kept, read or not: the audit log."""
    unread: timedelta = timedelta(days=7)
    """How long anything else waits for a follower that cannot take it."""


def to_sweep(
    oldest: Iterable[tuple[int, datetime, bool]], *, read_by_all: int, policy: ChangeRetention, now: datetime
) -> list[int]:
    """`oldest`: (number, time, whether a person did it). `read_by_all`: no follower needs these or earlier ones."""
    gone = []
    for seq, at, is_persons in oldest:
        keep_for = policy.audit if is_persons else policy.unread
        if now - at >= keep_for or (not is_persons and seq <= read_by_all):
            gone.append(seq)
    return gone
