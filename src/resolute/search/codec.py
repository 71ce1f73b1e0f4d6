"""Events and actions as JSON values and back: for the queue of a custom searcher, for journals and for the API."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.search.events import (
    Action,
    CreateTrial,
    Event,
    ExitReason,
    SearchStarted,
    Shutdown,
    StopTrial,
    TrainTo,
    TrialClosed,
    TrialExitedEarly,
    TrialProgressed,
    Validated,
)

_EVENTS: dict[str, type[Event]] = {
    "search_started": SearchStarted,
    "validated": Validated,
    "trial_closed": TrialClosed,
    "trial_exited_early": TrialExitedEarly,
    "trial_progressed": TrialProgressed,
}
_ACTIONS: dict[str, type[Action]] = {
    "create_trial": CreateTrial,
    "train_to": TrainTo,
    "stop_trial": StopTrial,
    "shutdown": Shutdown,
}
_NAMES = {kind: name for name, kind in _ACTIONS.items()}


def event_to_json(event: Event) -> dict[str, Any]:
    written = {field.name: getattr(event, field.name) for field in fields(event)}
    if isinstance(event, Validated):
        # JSON has no NaN: null says that there was no usable value.
        written["metrics"] = {name: value if math.isfinite(value) else None for name, value in event.metrics.items()}
    return written


def event_from_json(written: Mapping[str, Any]) -> Event:
    given = dict(written)
    kind = _EVENTS.get(given.pop("kind", ""))
    if kind is None:
        raise InvalidInput(f"Unknown search event {written.get('kind')!r}; known are {', '.join(_EVENTS)}.")
    if kind is Validated:
        metrics = given.get("metrics", {})
        given["metrics"] = {name: math.nan if value is None else value for name, value in metrics.items()}
    if kind is TrialExitedEarly:
        given["reason"] = ExitReason(given["reason"])
    event: Event = _build(kind, given)
    return event


def action_to_json(action: Action) -> dict[str, Any]:
    written = {field.name: getattr(action, field.name) for field in fields(action)}
    return {"kind": _NAMES[type(action)], **written}


def action_from_json(written: Mapping[str, Any]) -> Action:
    given = dict(written)
    kind = _ACTIONS.get(given.pop("kind", ""))
    if kind is None:
        raise InvalidInput(f"Unknown search action {written.get('kind')!r}; known are {', '.join(_ACTIONS)}.")
    action: Action = _build(kind, given)
    return action


def _build(kind: type[Any], given: dict[str, Any]) -> Any:
    known = {field.name for field in fields(kind)}
    extra = sorted(set(given) - known)
    if extra:
        raise InvalidInput(f"{kind.__name__} has no {', '.join(extra)}; it takes {', '.join(sorted(known))}.")
    try:
        return kind(**given)
    except TypeError as fault:
        raise InvalidInput(f"{kind.__name__} is incomplete: {fault}. It takes {', '.join(sorted(known))}.") from fault
