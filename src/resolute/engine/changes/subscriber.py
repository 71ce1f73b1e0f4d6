"""A follower made of a subscription and of something that sends: the base of webhooks."""

from collections.abc import Callable

from resolute.domain.change import Change
from resolute.domain.subscription import Subscription

Send = Callable[[Change], None]
"""Returns when the other side has the change for good. Raises anything when it may not have it: it is sent again.

Bounds its own time: while it waits, its subscriber hears of nothing else. May be called twice with the same change.
"""


class Subscriber:
    """`engine.ports.changes.Follower`."""

    def __init__(self, subscription: Subscription, send: Send) -> None:
        self._subscription = subscription
        self._send = send

    @property
    def name(self) -> str:
        return self._subscription.name

    def wants(self, change: Change) -> bool:
        return self._subscription.wants(change)

    def take(self, change: Change) -> None:
        self._send(change)
