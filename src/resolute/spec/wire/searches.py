"""Messages of a search that is driven from outside. Pure.

Events and actions are objects with a `kind` and the field names of `resolute.search.events`.
"""

from resolute.spec.wire.base import JsonObject, Request, Wire


class GetSearcherEventsResponse(Wire):
    events: list[JsonObject] = []


class PostSearcherActionsRequest(Request):
    up_to: int
    actions: list[JsonObject] = []
    progress: float | None = None
