"""Whether the router keeps up with the tables that it is handed, and what to do when it does not. Pure."""

from datetime import datetime, timedelta
from enum import StrEnum

from resolute.domain.routing import RouterCounts

HAND_OVER_AFTER = timedelta(seconds=3)
"""Its nudge and its own looks at the table take a quarter of a second; counts come every second."""
RESTART_AFTER = timedelta(seconds=20)


class Remedy(StrEnum):
    NONE = "NONE"
    HAND_OVER = "HAND_OVER"
    """Write the table again."""
    RESTART = "RESTART"


class RouterWatch:
    """Asked in each pass over the deployments, with what the router told last."""

    def __init__(self) -> None:
        self._behind_since: datetime | None = None
        self._has_handed_over = False

    def remedy(self, wanted: int, counts: RouterCounts | None, told_at: datetime | None, now: datetime) -> Remedy:
        """Each remedy is named once for a time behind; after a restart the time begins anew."""
        is_silent = told_at is None or now - told_at > HAND_OVER_AFTER
        if not is_silent and counts is not None and counts.version >= wanted:
            self._behind_since, self._has_handed_over = None, False
            return Remedy.NONE
        self._behind_since = self._behind_since or now
        age = now - self._behind_since
        if age >= RESTART_AFTER:
            self._behind_since, self._has_handed_over = now, False
            return Remedy.RESTART
        if age >= HAND_OVER_AFTER and not self._has_handed_over:
            self._has_handed_over = True
            return Remedy.HAND_OVER
        return Remedy.NONE
