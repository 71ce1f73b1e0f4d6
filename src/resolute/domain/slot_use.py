"""Slots and how long they were held: cut to an interval, and added up by user, label and pool. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from resolute.domain.errors import InvalidInput

MOST_DAYS = 3660
"""Ten years: each day or month of an answer is a row of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotUse:
    """Slots held by one allocation, for a trial or another task."""

    start: datetime
    end: datetime
    slots: int
    pool: str
    username: str
    user_id: int
    experiment_id: int | None = None
    labels: tuple[str, ...] = ()
    allocation_id: str = ""
    task_type: str = ""
    workspace_name: str = ""

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()

    @property
    def slot_seconds(self) -> float:
        return self.seconds * self.slots

    def within(self, start: datetime, end: datetime) -> "SlotUse | None":
        """The part that lies in [start, end); None when there is none."""
        cut = replace(self, start=max(self.start, start), end=min(self.end, end))
        return cut if cut.start < cut.end else None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSums:
    """Slot-seconds of one day or month."""

    start: datetime
    seconds: float = 0.0
    by_username: dict[str, float] = field(default_factory=dict)
    by_label: dict[str, float] = field(default_factory=dict)
    by_pool: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Periods:
    """Days, or whole months, from the first to the last, both included."""

    first: datetime
    last: datetime
    is_monthly: bool = False

    @classmethod
    def of(cls, first: str, last: str, *, is_monthly: bool) -> "Periods":
        """Of dates as people write them. Raises InvalidInput."""
        start, final = _date(first), _date(last)
        if (final - start).days > MOST_DAYS:
            raise InvalidInput(f"{first} to {last} is more than ten years. Ask for less.")
        return cls(start.replace(day=1) if is_monthly else start, final, is_monthly)

    def __iter__(self) -> Iterator[tuple[datetime, datetime]]:
        start = self.first
        while start <= self.last:
            end = self._after(start)
            yield start, end
            start = end

    @property
    def end(self) -> datetime:
        """The first moment after the last of them."""
        return self._after(self.last.replace(day=1) if self.is_monthly else self.last)

    def _after(self, start: datetime) -> datetime:
        return (start.replace(day=1) + timedelta(days=32)).replace(day=1) if self.is_monthly else start + _DAY


_DAY = timedelta(days=1)


def add_up(uses: Iterable[SlotUse], start: datetime, end: datetime) -> UsageSums:
    """An experiment with two labels counts for both of them, and once in the sum."""
    by_username: dict[str, float] = defaultdict(float)
    by_label: dict[str, float] = defaultdict(float)
    by_pool: dict[str, float] = defaultdict(float)
    total = 0.0
    for use in uses:
        part = use.within(start, end)
        if part is None:
            continue
        total += part.slot_seconds
        by_username[part.username] += part.slot_seconds
        by_pool[part.pool] += part.slot_seconds
        for label in part.labels:
            by_label[label] += part.slot_seconds
    return UsageSums(
        start=start, seconds=total, by_username=dict(by_username), by_label=dict(by_label), by_pool=dict(by_pool)
    )


def _date(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text if len(text) > 7 else f"{text}-01").replace(tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is not a date such as 2026-01-31, nor a month such as 2026-01.") from error
