"""Server-sent events for the web UI: "this topic changed, look again". Carries no data, so nothing can be stale."""

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from fastapi import Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from resolute.domain import needs
from resolute.domain.errors import InvalidInput
from resolute.domain.rights import Permission
from resolute.engine.platform import Platform
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.resource import Resource
from resolute.server.state import ServerState, StateOf

router = Resource(tags=["events"])

HEARTBEAT_S = 15.0
_KINDS = ("experiment/", "trial/", "allocation/", "task/", "deployment/")
_PARAMETERS = {
    "experiment": (Permission.VIEW_EXPERIMENT_METADATA, "experiment_id"),
    "trial": (Permission.VIEW_EXPERIMENT_METADATA, "trial_id"),
    "allocation": (Permission.VIEW_EXPERIMENT_METADATA, "allocation_id"),
    "task": (Permission.VIEW_EXPERIMENT_METADATA, "task_id"),
    "deployment": (Permission.VIEW_DEPLOYMENTS, "deployment_name"),
}
_WHOLE = ("experiments", "queue", "master/log", "deployments")


@router.get(
    "/api/v1/events",
    needs=needs.SIGNED_IN,
    operation_id="StreamEvents",
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream_events(
    platform: PlatformOf,
    caller: Caller,
    state: StateOf,
    topics: Annotated[str, Query(description="Comma-separated: experiments, queue, experiment/1, trial/3, ...")],
) -> StreamingResponse:
    """Each event is `{"topic": ...}`. Subscribe, then load; on an event load again."""
    wanted = [topic.strip() for topic in topics.split(",") if topic.strip()]
    for topic in wanted:
        if topic not in _WHOLE and not topic.startswith(_KINDS):
            raise InvalidInput(f"topics: {topic!r} is unknown; use {', '.join(_WHOLE)} or {'ID, '.join(_KINDS)}ID.")
    await run_in_threadpool(_check_topics, platform, caller, wanted)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(state, wanted), media_type="text/event-stream", headers=headers)


def _check_topics(platform: Platform, caller: Principal, topics: list[str]) -> None:
    """Whoever may not see a thing does not learn when it changes either."""
    with platform.store.read() as tx:
        for topic in topics:
            kind, _, value = topic.partition("/")
            if topic == "master/log":
                caller.rights.require_everywhere(Permission.VIEW_MASTER_LOGS)
            elif kind in _PARAMETERS and value:
                permission, parameter = _PARAMETERS[kind]
                caller.check(tx, permission, parameter, value)


async def _events(state: ServerState, topics: list[str]) -> AsyncIterator[bytes]:
    with state.watches.open(topics) as watch:
        yield b": listening\n\n"
        while not watch.is_stopping:
            changed = await watch.wait(HEARTBEAT_S)
            if not changed:
                yield b": still here\n\n"
                continue
            yield b"".join(b"data: " + msgspec.json.encode({"topic": topic}) + b"\n\n" for topic in sorted(changed))
