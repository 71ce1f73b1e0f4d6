"""How long nothing has happened. Time comes in; whoever asks acts on the answer."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Idleness:
    """Thread-safe: a reading replaces one number. `timeout_s` None: never idle for too long."""

    timeout_s: float | None
    clock: Callable[[], float] = time.monotonic
    _active_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._active_at = self.clock()

    def active(self) -> None:
        self._active_at = self.clock()

    @property
    def is_too_long(self) -> bool:
        return self.timeout_s is not None and self.clock() - self._active_at > self.timeout_s
