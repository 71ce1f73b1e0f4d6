"""Waiting for what is bound to come, and giving up with a sentence when it does not."""

import time
from collections.abc import Callable
from typing import Any

from resolute.engine.ports.runner import GangStatus, Runner

PATIENCE_S = 60.0
_TURN_S = 0.005


def until(condition: Callable[[], Any], *, patience_s: float = PATIENCE_S) -> None:
    gives_up_at = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < gives_up_at, f"it did not come true within {patience_s:g} s"
        time.sleep(_TURN_S)


def ended(runner: Runner, handle: str) -> GangStatus:
    """The status of a gang once it is over."""
    until(lambda: runner.poll([handle])[handle].is_over)
    return runner.poll([handle])[handle]
