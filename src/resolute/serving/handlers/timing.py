"""Times of a handler's steps, reported where the model's configuration asks for it (`handler: {profile: true}`)."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any


@dataclass(frozen=True, slots=True)
class Dimension:
    """A label on a metric."""

    name: str
    value: str


def timed(step: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(step)
    def measured(self: Any, *args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        result = step(self, *args, **kwargs)
        context = getattr(self, "context", None)
        if context is not None and (context.model_yaml_config.get("handler") or {}).get("profile"):
            context.metrics.add_time(f"ts_handler_{step.__name__}", (time.perf_counter() - started) * 1000)
        return result

    return measured
