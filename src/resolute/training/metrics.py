"""Metric values: which ones may be reported, and how they travel.

`check_metrics` runs inside the training step, so it only looks at types; whatever costs more (waiting for a GPU,
encoding) is left to `wire_metrics`, which the background thread calls.
"""

import math
from collections.abc import Mapping
from typing import Any

from resolute.domain.errors import InvalidInput

_PLAIN = frozenset({float, int, bool, str})
_STR = frozenset({str})


def check_metrics(group: str, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that later changes of the caller's mapping and tensors cannot reach. Raises InvalidInput."""
    copy = dict(metrics)
    # Two passes at the speed of C instead of one in Python: this line is what bounds the rate of reports.
    if _PLAIN.issuperset(map(type, copy.values())) and _STR.issuperset(map(type, copy)) and "" not in copy:
        return copy
    return {name: _held(group, name, value) for name, value in copy.items()}


def check_group(group: str) -> None:
    if not isinstance(group, str) or not group or "." in group:
        raise InvalidInput(
            f"Metric group {group!r} cannot be used; give a non-empty name without dots, such as 'training'."
        )


def check_steps(steps: int) -> None:
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
        raise InvalidInput(f"steps is {steps!r}; give the number of steps completed so far, a whole number from 0.")


def wire_metrics(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers JSON can carry; NaN and infinities become the strings that the protocol has for them."""
    return {name: _wired(value) for name, value in metrics.items()}


def _held(group: str, name: Any, value: Any) -> Any:
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"Group {group!r} has a metric named {name!r}; names must be non-empty strings.")
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {key: _held(group, key, item) for key, item in value.items()}
    if not hasattr(value, "item"):
        raise InvalidInput(
            f"Metric {name!r} of group {group!r} is a {type(value).__name__} ({_short(value)}); "
            "report a number, a string, or a tensor or array of one element."
        )
    return _held_scalar(group, name, value)


def _held_scalar(group: str, name: str, value: Any) -> Any:
    size = getattr(value, "numel", None)
    count = int(size()) if callable(size) else int(getattr(value, "size", 1))
    if count != 1:
        raise InvalidInput(
            f"Metric {name!r} of group {group!r} has shape {tuple(value.shape)}; "
            "report one number, for example its .mean()."
        )
    device = getattr(getattr(value, "device", None), "type", "cpu")
    if device == "cpu":
        return value.item()
    # Asking a GPU for the value now would wait for all queued work. A copy is queued instead and read later.
    return value.detach().clone()


def _wired(value: Any) -> Any:
    kind = type(value)
    if kind is int or kind is str or kind is bool or (kind is float and math.isfinite(value)):
        return value  # Nearly all of them.
    if isinstance(value, Mapping):
        return wire_metrics(value)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
