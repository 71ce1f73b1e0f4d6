"""The bus seen from a coroutine: wait for a notice without holding a thread. Ends early when the server stops."""

import asyncio
from collections.abc import Iterable

from resolute.engine.bus import Bus


class Watches:
    """All waits of one server, so that stopping can end them."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._open: set[Watch] = set()
        self.is_stopping = False

    def open(self, topics: Iterable[str]) -> "Watch":
        """Call from the event loop. Close it, or use it as a context manager."""
        watch = Watch(self, self._bus, tuple(topics))
        self._open.add(watch)
        return watch

    def closed(self, watch: "Watch") -> None:
        self._open.discard(watch)

    def stop(self) -> None:
        """End every wait, now and from now on. Call from the event loop."""
        self.is_stopping = True
        for watch in tuple(self._open):
            watch.wake()


class Watch:
    def __init__(self, owner: Watches, bus: Bus, topics: tuple[str, ...]) -> None:
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._changed: set[str] = set()
        self._unsubscribe = [bus.subscribe(topic, self._listener(topic)) for topic in topics]

    @property
    def is_stopping(self) -> bool:
        return self._owner.is_stopping

    async def wait(self, timeout_s: float) -> set[str]:
        """Topics noticed since the last call; empty after `timeout_s` or when the server stops."""
        if not self.is_stopping and not self._event.is_set():
            try:
                await asyncio.wait_for(self._event.wait(), timeout_s)
            except TimeoutError:
                return set()
        self._event.clear()
        changed, self._changed = self._changed, set()
        return changed

    def wake(self) -> None:
        self._event.set()

    def close(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._owner.closed(self)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listener(self, topic: str) -> "_Listener":
        return _Listener(self, topic)

    def notice(self, topic: str) -> None:
        """From any thread."""
        self._loop.call_soon_threadsafe(self._noticed, topic)

    def _noticed(self, topic: str) -> None:
        self._changed.add(topic)
        self._event.set()


class _Listener:
    def __init__(self, watch: Watch, topic: str) -> None:
        self._watch = watch
        self._topic = topic

    def __call__(self) -> None:
        self._watch.notice(self._topic)
