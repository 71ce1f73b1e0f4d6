"""Log-ins take turns: each hashes a password, which is slow on purpose, and strangers may ask for as many as they like.

They have threads of their own, so that reports and pages never wait behind them.
"""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from resolute.domain.errors import TooManyRequests
from resolute.domain.login_limit import LoginLimit
from resolute.engine.ports.clock import Clock

_AT_ONCE = 2
_MAX_WAITING = 64
T = TypeVar("T")


class Logins:
    """For use on the event loop."""

    def __init__(self) -> None:
        self._limit = LoginLimit()
        self._threads = CapacityLimiter(_AT_ONCE)
        self._waiting = 0

    async def run(self, log_in: Callable[[], T], *, username: str, address: str, clock: Clock) -> T:
        """What `log_in` returns. Raises TooManyRequests when the user, the address or everybody has to wait."""
        if self._waiting >= _MAX_WAITING:
            raise TooManyRequests("Too many log-ins at the same time. Try again in a second.", retry_after_s=1)
        self._limit.begin(username, address, now=clock())
        self._waiting += 1
        try:
            result = await to_thread.run_sync(log_in, limiter=self._threads)
        finally:
            self._waiting -= 1
        self._limit.succeeded(username, address, now=clock())
        return result
