"""Messages about searches: one that is driven from outside, and what one with several objectives came to. Pure.

Events and actions are objects with a `kind` and the field names of `resolute.search.events`.
"""

from resolute.spec.wire.base import JsonObject, Number, Request, Wire


class GetSearcherEventsResponse(Wire):
    events: list[JsonObject] = []


class PostSearcherActionsRequest(Request):
    up_to: int
    actions: list[JsonObject] = []
    progress: float | None = None


class ParetoTrial(Wire):
    trial_id: int
    steps: int
    """Of the validation whose metrics are given: the trial's latest."""
    metrics: dict[str, Number]
    hparams: JsonObject


class GetParetoSetResponse(Wire):
    trials: list[ParetoTrial] = []
