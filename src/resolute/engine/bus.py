"""In-process notices: "something about this topic changed, look again". Carries no data and may be lost.

Topics: `engine` (the loops should look), `allocation/<id>`, `trial/<id>`, `experiment/<id>`, `experiments`, `queue`.
"""

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)


class Bus:
    """Thread-safe. Callbacks run in the publisher's thread and must return at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: dict[str, dict[int, Callable[[], None]]] = {}
        self._next = 0

    def publish(self, *topics: str) -> None:
        with self._lock:
            callbacks = [c for topic in topics for c in self._callbacks.get(topic, {}).values()]
        for callback in callbacks:
            try:
                callback()
            except Exception:
                log.exception("a listener of %s failed", topics)

    def subscribe(self, topic: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` on every notice of `topic` until the returned function is called."""
        with self._lock:
            self._next += 1
            key = self._next
            self._callbacks.setdefault(topic, {})[key] = callback

        def unsubscribe() -> None:
            with self._lock:
                listeners = self._callbacks.get(topic, {})
                listeners.pop(key, None)
                if not listeners:
                    self._callbacks.pop(topic, None)

        return unsubscribe
