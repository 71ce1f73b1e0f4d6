"""How often log-ins may fail before the next try has to wait. Pure: callers pass `now` in.

An attempt counts as failed from its start, so that guesses sent side by side count like guesses in a row. Whoever has
logged in from an address before is not kept out by what strangers try elsewhere.
"""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from resolute.domain.errors import TooManyRequests

WINDOW = timedelta(minutes=5)
FAILURES_OF_USER_AT_ADDRESS = 10
FAILURES_AT_ADDRESS = 50
FAILURES_OF_USER = 100
"""From all addresses together: slows down guesses that come from many machines."""
_MAX_KEYS = 10_000
_LONGEST_NAME = 128

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Tally:
    since: datetime
    failures: int = 0


class LoginLimit:
    """Attempts of the last minutes, by user and by address. For use by one thread."""

    def __init__(self) -> None:
        self._tallies: dict[Key, Tally] = {}
        self._known: dict[Key, None] = {}

    def begin(self, username: str, address: str, *, now: datetime) -> None:
        """Count an attempt. Raises TooManyRequests, and counts nothing, when it has to wait."""
        limits = self._limits(username[:_LONGEST_NAME], address)
        for key, limit in limits.items():
            tally = self._tally(key, now)
            if tally.failures >= limit:
                raise _refusal(tally.since + WINDOW - now)
        for key in limits:
            tally = self._tally(key, now)
            self._tallies[key] = replace(tally, failures=tally.failures + 1)
        _shorten(self._tallies)

    def succeeded(self, username: str, address: str, *, now: datetime) -> None:
        """The attempt begun last with these was right: it does not count, nor do the slips before it."""
        username = username[:_LONGEST_NAME]
        for key in self._limits(username, address):
            tally = self._tally(key, now)
            self._tallies[key] = replace(tally, failures=max(0, tally.failures - 1))
        self._tallies.pop((username, address), None)
        self._known[username, address] = None
        _shorten(self._known)

    def _limits(self, username: str, address: str) -> dict[Key, int]:
        own = {(username, address): FAILURES_OF_USER_AT_ADDRESS}
        if (username, address) in self._known:
            return own
        return {**own, ("", address): FAILURES_AT_ADDRESS, (username, ""): FAILURES_OF_USER}

    def _tally(self, key: Key, now: datetime) -> Tally:
        tally = self._tallies.get(key)
        # A clock that was set back must not keep anybody waiting.
        if tally is None or not tally.since <= now < tally.since + WINDOW:
            return Tally(now)
        return tally


def _refusal(wait: timedelta) -> TooManyRequests:
    seconds = max(1, math.ceil(wait.total_seconds()))
    return TooManyRequests(f"Too many failed log-ins. Try again in {seconds} seconds.", retry_after_s=seconds)


def _shorten(entries: dict[Key, Tally] | dict[Key, None]) -> None:
    """Forget the oldest, so that a stranger cannot fill the memory."""
    while len(entries) > _MAX_KEYS:
        del entries[next(iter(entries))]
