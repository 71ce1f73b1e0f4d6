"""A follower for tests: it remembers what it was given, and fails when it is told to."""

from collections.abc import Callable

from resolute.domain.change import Change
from resolute.domain.errors import Unavailable


class FakeFollower:
    def __init__(self, name: str = "fake", *, wants: Callable[[Change], bool] = lambda change: True) -> None:
        self.name = name
        self.taken: list[Change] = []
        self.refuses: Callable[[Change], bool] = lambda change: False
        """Which changes it cannot take at the moment."""
        self.attempts = 0
        self._wants = wants

    def wants(self, change: Change) -> bool:
        return self._wants(change)

    def take(self, change: Change) -> None:
        self.attempts += 1
        if self.refuses(change):
            raise Unavailable(f"{self.name} takes nothing about {change.kind} {change.thing_id} now.")
        self.taken.append(change)
