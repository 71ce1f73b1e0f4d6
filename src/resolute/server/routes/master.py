"""The master itself: who it is, how it is configured, what it logged."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from resolute.domain import needs
from resolute.domain.errors import InvalidInput, NotSupported
from resolute.domain.rights import RightsMode
from resolute.engine import cluster_message as engine
from resolute.server.auth import PlatformOf
from resolute.server.logbook import LogbookLine, set_level
from resolute.server.resource import Resource
from resolute.server.schema import schema_of
from resolute.server.state import ServerState, StateOf
from resolute.server.streams import stream
from resolute.spec.secrets import masked_storage
from resolute.spec.wire import cluster as wire
from resolute.spec.wire.base import Empty, to_rfc3339
from resolute.spec.wire.cluster import API_VERSION
from resolute.version import __version__

router = Resource(tags=["master"])


@router.get("/info", needs=needs.PUBLIC)
def info(platform: PlatformOf, state: StateOf) -> wire.Info:
    return wire.Info(
        version=API_VERSION,
        cluster_id=platform.config.cluster_id,
        master_id=state.master_id,
        cluster_name=platform.config.cluster_name,
        resolute_version=__version__,
    )


@router.get("/openapi.json", needs=needs.SIGNED_IN, include_in_schema=False)
def openapi(request: Request) -> JSONResponse:
    """This API, described for programs."""
    return JSONResponse(schema_of(request.app))


@router.get("/health", needs=needs.PUBLIC, operation_id="health")
def health(state: StateOf, response: Response) -> wire.Health:
    """503 while the database cannot be written or the disk is full; `message` then says which."""
    problem = state.health.problem()
    if not problem:
        return wire.Health()
    response.status_code = 503
    return wire.Health(status="down", database="down", message=problem)


@router.get("/api/v1/master", needs=needs.PUBLIC)
def get_master(platform: PlatformOf, state: StateOf) -> wire.GetMasterResponse:
    return wire.GetMasterResponse(
        version=API_VERSION,
        cluster_id=platform.config.cluster_id,
        cluster_name=platform.config.cluster_name,
        master_id=state.master_id,
        cluster_message=_cluster_message(platform),
        rbac_enabled=platform.config.rights is RightsMode.ROLES,
    )


@router.get("/api/v1/master/telemetry", needs=needs.PUBLIC)
def get_telemetry() -> wire.GetTelemetryResponse:
    """Always off: this master reports to nobody."""
    return wire.GetTelemetryResponse()


@router.get("/api/v1/master/config", needs=needs.VIEW_MASTER_CONFIG)
def get_master_config(platform: PlatformOf) -> wire.GetMasterConfigResponse:
    config = platform.config
    return wire.GetMasterConfigResponse(
        config={
            "resolute_version": __version__,
            "home": str(config.home),
            "url": config.url,
            "cluster_name": config.cluster_name,
            "checkpoint_storage": masked_storage(config.checkpoint_storage),
            "resource_manager": {
                "type": "agent",
                "scheduler": {
                    "type": config.scheduler,
                    "preemption": config.preemption,
                    "fitting_policy": config.fitting_policy,
                },
                "preemption_timeout": config.preemption_timeout_s,
            },
            "audit_days": config.change_retention.audit.days,
            "feature_switches": [],
        }
    )


@router.patch("/api/v1/master/config", needs=needs.EDIT_MASTER_CONFIG)
def patch_master_config(body: wire.PatchMasterConfigRequest) -> Empty:
    """The level of the master's log, until it is started again."""
    unknown = sorted(set(body.field_mask.paths if body.field_mask else ()) - {"log.level", "log.color"})
    if unknown:
        raise InvalidInput(f"fieldMask: {unknown[0]!r} cannot be changed while the master runs; log.level can.")
    log = body.config.log
    if log.color:
        raise NotSupported("log.color: lines of the master's log have no colours. Leave it off.")
    if log.level is not None:
        set_level(log.level)
    return Empty()


@router.get("/api/v1/master/cluster_message", needs=needs.SIGNED_IN)
def get_cluster_message(platform: PlatformOf) -> wire.GetClusterMessageResponse:
    return wire.GetClusterMessageResponse(cluster_message=_cluster_message(platform))


@router.put("/api/v1/master/cluster_message", needs=needs.EDIT_MASTER_CONFIG)
def set_cluster_message(body: wire.SetClusterMessageRequest, platform: PlatformOf) -> Empty:
    now = platform.clock()
    message = wire.ClusterMessage(
        message=body.message, start_time=body.start_time or now, end_time=body.end_time, created_time=now
    )
    engine.set_cluster_message(platform, message.model_dump(mode="json"))
    return Empty()


@router.delete("/api/v1/master/cluster_message", needs=needs.EDIT_MASTER_CONFIG)
def delete_cluster_message(platform: PlatformOf) -> Empty:
    engine.remove_cluster_message(platform)
    return Empty()


def _cluster_message(platform: PlatformOf) -> wire.ClusterMessage | None:
    stored = engine.cluster_message(platform)
    if stored is None:
        return None
    message = wire.ClusterMessage.model_validate(stored)
    is_over = message.end_time is not None and message.end_time < platform.clock()
    return None if is_over else message


@router.get("/api/v1/master/logs", needs=needs.VIEW_MASTER_LOGS, responses={200: {"model": wire.MasterLogsResponse}})
async def master_logs(
    state: StateOf,
    offset: Annotated[int, Query(description="First line; negative: that many from the end.")] = 0,
    limit: int = 0,
    follow: bool = False,
) -> StreamingResponse:
    """Lines of the master's own log, one JSON object per line."""
    return stream(_master_lines(state, offset, limit, follow))


async def _master_lines(
    state: ServerState, offset: int, limit: int, follow: bool
) -> AsyncIterator[list[dict[str, object]]]:
    position = max(state.logbook.next_id + offset, 0) if offset < 0 else offset
    left = limit if limit > 0 else None
    with state.watches.open(("master/log",)) as watch:
        while True:
            lines = state.logbook.since(position)[:left]
            if lines:
                yield [_entry(line) for line in lines]
                position = lines[-1].id + 1
                left = None if left is None else left - len(lines)
            if not follow or left == 0 or watch.is_stopping:
                return
            await watch.wait(10.0)


def _entry(line: LogbookLine) -> dict[str, object]:
    return {
        "logEntry": {
            "id": line.id,
            "message": line.message,
            "timestamp": to_rfc3339(line.time),
            "level": str(line.level),
        }
    }
