"""Server-sent events for the web UI: "this topic changed, look again". Carries no data, so nothing can be stale."""

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from fastapi import Query
from fastapi.responses import StreamingResponse

from resolute.domain.errors import InvalidInput
from resolute.server.resource import Resource
from resolute.server.state import ServerState, StateOf

router = Resource(tags=["events"])

HEARTBEAT_S = 15.0
_KINDS = ("experiment/", "trial/", "allocation/", "task/", "deployment/")
_WHOLE = ("experiments", "queue", "master/log", "deployments")


@router.get(
    "/api/v1/events",
    operation_id="StreamEvents",
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream_events(
    state: StateOf,
    topics: Annotated[str, Query(description="Comma-separated: experiments, queue, experiment/1, trial/3, ...")],
) -> StreamingResponse:
    """Each event is `{"topic": ...}`. Subscribe, then load; on an event load again."""
    wanted = [topic.strip() for topic in topics.split(",") if topic.strip()]
    for topic in wanted:
        if topic not in _WHOLE and not topic.startswith(_KINDS):
            raise InvalidInput(f"topics: {topic!r} is unknown; use {', '.join(_WHOLE)} or {'ID, '.join(_KINDS)}ID.")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(state, wanted), media_type="text/event-stream", headers=headers)


async def _events(state: ServerState, topics: list[str]) -> AsyncIterator[bytes]:
    with state.watches.open(topics) as watch:
        yield b": listening\n\n"
        while not watch.is_stopping:
            changed = await watch.wait(HEARTBEAT_S)
            if not changed:
                yield b": still here\n\n"
                continue
            yield b"".join(b"data: " + msgspec.json.encode({"topic": topic}) + b"\n\n" for topic in sorted(changed))
