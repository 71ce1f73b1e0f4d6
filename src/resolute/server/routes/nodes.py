"""What the supervisors of an allocation's nodes send, and where its processes learn of each other."""

import time
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from resolute.domain import needs
from resolute.domain.errors import Unavailable
from resolute.domain.gang import Meeting, rank_of
from resolute.engine.jobs import nodes as engine
from resolute.server.archives import path_chunks
from resolute.server.auth import PlatformOf
from resolute.server.resource import Resource
from resolute.server.state import StateOf
from resolute.spec.wire import tasks as wire
from resolute.spec.wire.base import Empty

router = Resource(tags=["tasks"])

MEETING_TIMEOUT_S = 300.0
_LOOK_S = 5.0
"""Between looks when no notice comes."""


@router.get(
    "/api/v1/allocations/{allocation_id}/context",
    needs=needs.OWN_TASK,
    response_class=Response,
    responses={200: {"content": {"application/gzip": {}}}},
)
def get_allocation_context(allocation_id: str, platform: PlatformOf) -> Response:
    """The model definition as it was uploaded: a tar.gz, whose SHA-256 is its name."""
    return Response(engine.model_definition(platform, allocation_id), media_type="application/gzip")


@router.get(
    "/api/v1/allocations/{allocation_id}/model",
    needs=needs.OWN_TASK,
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-tar": {}}}},
)
def get_allocation_model(allocation_id: str, platform: PlatformOf) -> StreamingResponse:
    """The trained model that its task works with: a tar of one file or folder."""
    return StreamingResponse(path_chunks(engine.model_path(platform, allocation_id)), media_type="application/x-tar")


@router.get("/api/v1/allocations/{allocation_id}/resources/{resources_id}/rendezvous", needs=needs.REPORT.or_own_task)
async def allocation_rendezvous_info(
    allocation_id: str, resources_id: str, platform: PlatformOf, state: StateOf
) -> wire.AllocationRendezvousInfoResponse:
    """Waits until every node has joined."""
    rank = rank_of(resources_id, allocation_id)
    ends_at = time.monotonic() + MEETING_TIMEOUT_S
    with state.watches.open((f"allocation/{allocation_id}",)) as watch:
        while True:
            try:
                meeting = await run_in_threadpool(engine.meeting, platform, allocation_id, rank)
            except Unavailable:
                if time.monotonic() > ends_at or watch.is_stopping:
                    raise
                await watch.wait(_LOOK_S)
            else:
                return wire.AllocationRendezvousInfoResponse(rendezvous_info=_info(meeting, rank))


@router.post("/api/v1/allocations/{allocation_id}/resources/{resources_id}/rendezvous", needs=needs.OWN_TASK)
def join_rendezvous(
    allocation_id: str, resources_id: str, body: wire.JoinRendezvousRequest, platform: PlatformOf
) -> wire.JoinRendezvousResponse:
    """A node says how it is reached, again and again until all have."""
    meeting = engine.join(
        platform,
        allocation_id,
        resources_id,
        node_id=body.node_id,
        address=body.address,
        slot_ids=tuple(body.slot_ids),
        ports=tuple(body.ports),
        count=body.nodes,
    )
    if meeting is None:
        return wire.JoinRendezvousResponse()
    info = _info(meeting, rank_of(resources_id, allocation_id))
    return wire.JoinRendezvousResponse(is_complete=True, rendezvous_info=info, ports=list(meeting.ports))


@router.post("/api/v1/allocations/{allocation_id}/resources/{resources_id}/phase", needs=needs.OWN_TASK)
def report_resources_phase(
    allocation_id: str, resources_id: str, body: wire.ReportPhaseRequest, platform: PlatformOf
) -> Empty:
    engine.report_phase(platform, allocation_id, resources_id, body.phase, exit_code=body.exit_code, reason=body.reason)
    return Empty()


@router.post(
    "/api/v1/allocations/{allocation_id}/resources/{resources_id}/logs",
    needs=needs.OWN_TASK,
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}}},
)
async def post_resources_logs(
    allocation_id: str,
    resources_id: str,
    request: Request,
    platform: PlatformOf,
    sequence: Annotated[int, Query(ge=1, lt=2**63, description="Number of this batch, from 1.")],
) -> Empty:
    """Records of a task's log as they stand on disk. Each batch is taken once, and only after the one before it."""
    records = await request.body()
    await run_in_threadpool(engine.take_output, platform, allocation_id, resources_id, sequence, records)
    return Empty()


def _info(meeting: Meeting, rank: int) -> wire.RendezvousInfo:
    return wire.RendezvousInfo(addresses=list(meeting.addresses), rank=rank, slots=list(meeting.slots))
