"""Who used slots and for how long: a read model over everything that ever ran. Nothing here changes anything."""

from datetime import datetime

from resolute.domain.slot_use import Periods, SlotUse, UsageSums, add_up
from resolute.engine.platform import Platform


def slot_uses(
    platform: Platform, start: datetime, end: datetime, *, visible_in: frozenset[int] | None = None
) -> list[SlotUse]:
    """What ran in [start, end), cut to it, oldest first; what still runs is counted up to now.

    `visible_in`: workspaces that the caller may see; None: all.
    """
    now = platform.clock()
    with platform.store.read() as tx:
        found = tx.allocations.uses(start, end, now=now, visible_in=visible_in)
    return [part for use in found if (part := use.within(start, end))]


def usage_by_period(
    platform: Platform, periods: Periods, *, visible_in: frozenset[int] | None = None
) -> list[UsageSums]:
    """One sum for each period. The history is read once, however many there are."""
    uses = slot_uses(platform, periods.first, periods.end, visible_in=visible_in)
    return [add_up(uses, start, end) for start, end in periods]
