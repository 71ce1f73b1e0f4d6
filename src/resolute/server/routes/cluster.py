"""Nodes (agents), slots, resource pools and the job queue."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from resolute.domain import needs
from resolute.domain.errors import NotFound, NotSupported
from resolute.domain.node import Slot
from resolute.domain.rights import Permission
from resolute.engine.access.rights import seen_allocations
from resolute.engine.jobs import cluster as engine
from resolute.engine.jobs.cluster import NodeView
from resolute.engine.jobs.queue import JobUpdate, JobView, list_jobs, update_jobs
from resolute.engine.platform import Platform
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.paging import Order, Paging, is_descending, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.cluster import agent_message, job_message, pool_message, slot_message
from resolute.server.state import ServerState, StateOf
from resolute.spec.wire import cluster as wire
from resolute.spec.wire import jobs as wire_jobs
from resolute.spec.wire.base import Empty
from resolute.spec.wire.enums import OrderBy
from resolute.version import __version__

router = Resource(tags=["cluster"])


# ---------------------------------------------------------------------------------------------------------- agents


@router.get("/api/v1/agents", needs=needs.SIGNED_IN)
def get_agents(
    platform: PlatformOf,
    caller: Caller,
    state: StateOf,
    page: Paging,
    exclude_slots: Annotated[bool, Query(alias="excludeSlots")] = False,
    exclude_containers: Annotated[bool, Query(alias="excludeContainers")] = False,
) -> wire.GetAgentsResponse:
    cut = page.cut(engine.cluster_nodes(platform))
    shown = _shown(platform, caller, cut.items)
    agents = [
        agent_message(
            view,
            registered=state.started_at,
            version=__version__,
            shown=shown,
            with_slots=not exclude_slots,
            with_containers=not exclude_containers,
        )
        for view in cut.items
    ]
    return wire.GetAgentsResponse(agents=agents, pagination=pagination(cut, page))


@router.get("/api/v1/agents/{agent_id}", needs=needs.SIGNED_IN)
def get_agent(agent_id: str, platform: PlatformOf, caller: Caller, state: StateOf) -> wire.AgentResponse:
    return _agent(platform, caller, state, agent_id)


@router.post("/api/v1/agents/{agent_id}/enable", needs=needs.EDIT_AGENTS)
def enable_agent(agent_id: str, platform: PlatformOf, caller: Caller, state: StateOf) -> wire.AgentResponse:
    engine.set_node_enabled(platform, agent_id, True)
    return _agent(platform, caller, state, agent_id)


@router.post("/api/v1/agents/{agent_id}/disable", needs=needs.EDIT_AGENTS)
def disable_agent(
    agent_id: str, body: wire.DisableRequest, platform: PlatformOf, caller: Caller, state: StateOf
) -> wire.AgentResponse:
    """What runs there checkpoints and goes elsewhere; with `drain` it may finish."""
    engine.set_node_enabled(platform, agent_id, False, drain=body.drain)
    return _agent(platform, caller, state, agent_id)


@router.get("/api/v1/agents/{agent_id}/slots", needs=needs.SIGNED_IN)
def get_slots(agent_id: str, platform: PlatformOf, caller: Caller) -> wire.GetSlotsResponse:
    view = _node(platform, agent_id)
    shown = _shown(platform, caller, [view])
    return wire.GetSlotsResponse(slots=[slot_message(view, slot, shown) for slot in view.node.slots])


@router.get("/api/v1/agents/{agent_id}/slots/{slot_id}", needs=needs.SIGNED_IN)
def get_slot(agent_id: str, slot_id: int, platform: PlatformOf, caller: Caller) -> wire.SlotResponse:
    return _slot(platform, caller, agent_id, slot_id)


@router.post("/api/v1/agents/{agent_id}/slots/{slot_id}/enable", needs=needs.EDIT_AGENTS)
def enable_slot(agent_id: str, slot_id: int, platform: PlatformOf, caller: Caller) -> wire.SlotResponse:
    engine.set_slot_enabled(platform, agent_id, slot_id, True)
    return _slot(platform, caller, agent_id, slot_id)


@router.post("/api/v1/agents/{agent_id}/slots/{slot_id}/disable", needs=needs.EDIT_AGENTS)
def disable_slot(
    agent_id: str, slot_id: int, body: wire.DisableRequest, platform: PlatformOf, caller: Caller
) -> wire.SlotResponse:
    engine.set_slot_enabled(platform, agent_id, slot_id, False, drain=body.drain)
    return _slot(platform, caller, agent_id, slot_id)


def _node(platform: Platform, agent_id: str) -> NodeView:
    for view in engine.cluster_nodes(platform):
        if view.node.id == agent_id:
            return view
    raise NotFound(f"agent not found: {agent_id}")


def _shown(platform: Platform, caller: Principal, views: Sequence[NodeView]) -> set[str]:
    """Allocations on these nodes that the caller may see."""
    with platform.store.read() as tx:
        return seen_allocations(tx, caller.rights, (each for view in views for each in view.allocations))


def _agent(platform: Platform, caller: Principal, state: ServerState, agent_id: str) -> wire.AgentResponse:
    view = _node(platform, agent_id)
    shown = _shown(platform, caller, [view])
    return wire.AgentResponse(agent=agent_message(view, registered=state.started_at, version=__version__, shown=shown))


def _slot(platform: Platform, caller: Principal, agent_id: str, slot_id: int) -> wire.SlotResponse:
    view = _node(platform, agent_id)
    found: Slot | None = next((slot for slot in view.node.slots if slot.id == slot_id), None)
    if found is None:
        raise NotFound(f"slot not found: {slot_id} on agent {agent_id}")
    return wire.SlotResponse(slot=slot_message(view, found, _shown(platform, caller, [view])))


# ----------------------------------------------------------------------------------------------------------- pools


@router.get("/api/v1/resource-pools", needs=needs.SIGNED_IN)
def get_resource_pools(platform: PlatformOf, page: Paging) -> wire.GetResourcePoolsResponse:
    jobs = list_jobs(platform)
    cut = page.cut(engine.resource_pools(platform))
    pools = [
        pool_message(
            view, config=platform.config, jobs=[job for job in jobs if job.job.resource_pool == view.pool.name]
        )
        for view in cut.items
    ]
    return wire.GetResourcePoolsResponse(resource_pools=pools, pagination=pagination(cut, page))


_ONE_FOR_ALL = "Resource pools of this master are open to every workspace; they cannot be bound to some."


@router.get(
    "/api/v1/resource-pools/{pool_name}/workspace-bindings",
    needs=needs.SIGNED_IN,
    operation_id="ListWorkspacesBoundToRP",
)
def list_workspaces_bound_to_pool(pool_name: str) -> wire.ListWorkspacesBoundToRPResponse:
    return wire.ListWorkspacesBoundToRPResponse()


@router.post(
    "/api/v1/resource-pools/{pool_name}/workspace-bindings", needs=needs.BIND_POOLS, operation_id="BindRPToWorkspace"
)
def bind_pool_to_workspace(pool_name: str) -> Empty:
    raise NotSupported(_ONE_FOR_ALL)


@router.put(
    "/api/v1/resource-pools/{pool_name}/workspace-bindings",
    needs=needs.BIND_POOLS,
    operation_id="OverwriteRPWorkspaceBindings",
)
def overwrite_pool_bindings(pool_name: str) -> Empty:
    raise NotSupported(_ONE_FOR_ALL)


@router.delete(
    "/api/v1/resource-pools/{pool_name}/workspace-bindings",
    needs=needs.BIND_POOLS,
    operation_id="UnbindRPFromWorkspace",
)
def unbind_pool_from_workspace(pool_name: str) -> Empty:
    raise NotSupported(_ONE_FOR_ALL)


# ----------------------------------------------------------------------------------------------------------- queue

Pool = Annotated[str, Query(alias="resourcePool", description="Empty: every pool.")]


def _jobs(platform: Platform, caller: Principal, pool: str, order: OrderBy) -> list[JobView]:
    """Those in workspaces that the caller may see."""
    visible_in = caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA)
    return list_jobs(platform, pool or None, descending=is_descending(order), visible_in=visible_in)


@router.get("/api/v1/job-queues", needs=needs.VIEW_EXPERIMENT.listed)
def get_jobs(
    platform: PlatformOf, caller: Caller, page: Paging, resource_pool: Pool = "", order_by: Order = OrderBy.UNSPECIFIED
) -> wire_jobs.GetJobsResponse:
    cut = page.cut(_jobs(platform, caller, resource_pool, order_by))
    return wire_jobs.GetJobsResponse(jobs=[job_message(job) for job in cut.items], pagination=pagination(cut, page))


@router.get("/api/v1/job-queues-v2", needs=needs.VIEW_EXPERIMENT.listed)
def get_jobs_v2(
    platform: PlatformOf, caller: Caller, page: Paging, resource_pool: Pool = "", order_by: Order = OrderBy.UNSPECIFIED
) -> wire_jobs.GetJobsV2Response:
    cut = page.cut(_jobs(platform, caller, resource_pool, order_by))
    return wire_jobs.GetJobsV2Response(
        jobs=[wire_jobs.RBACJob(full=job_message(job)) for job in cut.items], pagination=pagination(cut, page)
    )


@router.post("/api/v1/job-queues", needs=needs.EDIT_EXPERIMENT.in_body)
def update_job_queue(body: wire_jobs.UpdateJobQueueRequest, platform: PlatformOf, caller: Caller) -> Empty:
    """Move jobs ahead of or behind others, or change priority, weight or pool."""
    with platform.store.read() as tx:
        for update in body.updates:
            caller.check(tx, Permission.UPDATE_EXPERIMENT, "job_id", update.job_id)
            for anchor in filter(None, (update.ahead_of, update.behind_of)):
                caller.check(tx, Permission.VIEW_EXPERIMENT_METADATA, "job_id", anchor)
    update_jobs(platform, [JobUpdate(**update.model_dump()) for update in body.updates])
    return Empty()


@router.get("/api/v1/job-queues/stats", needs=needs.SIGNED_IN)
def get_job_queue_stats(
    platform: PlatformOf,
    resource_pools: Annotated[list[str], Query(alias="resourcePools")] = [],  # noqa: B006
) -> wire_jobs.GetJobQueueStatsResponse:
    names = [p.name for p in platform.runner.pools() if not resource_pools or p.name in resource_pools]
    results = []
    for name in names:
        jobs = list_jobs(platform, name)
        scheduled = sum(job.is_scheduled for job in jobs)
        stats = wire.QueueStats(queued_count=len(jobs) - scheduled, scheduled_count=scheduled)
        results.append(wire_jobs.RPQueueStat(resource_pool=name, stats=stats))
    return wire_jobs.GetJobQueueStatsResponse(results=results)
