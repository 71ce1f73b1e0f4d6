"""Tasks and allocations: what runs, and what its processes ask."""

import asyncio
import base64
import time
from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from resolute.domain import needs
from resolute.domain.allocation import Allocation
from resolute.domain.errors import Unavailable
from resolute.domain.rights import Permission
from resolute.engine.access.rights import seen_allocations
from resolute.engine.jobs import allocations as engine
from resolute.engine.jobs.cluster import cluster_nodes
from resolute.engine.jobs.kinds import title_of
from resolute.engine.jobs.nodes import nodes_of
from resolute.engine.jobs.waiting import job_names, why_it_waits
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.resource import Resource
from resolute.server.shapes.tasks import allocation_message, allocation_summary, task_message
from resolute.server.state import StateOf
from resolute.spec.wire import tasks as wire
from resolute.spec.wire.base import Empty
from resolute.spec.wire.experiments import ArchiveResponse

router = Resource(tags=["tasks"])

GATHER_TIMEOUT_S = 600.0
_GATHER_LOOK_S = 0.1
_LONGEST_POLL_S = 300


# ----------------------------------------------------------------------------------------------------------- tasks


@router.get("/api/v1/tasks", needs=needs.VIEW_EXPERIMENT.listed)
def get_tasks(platform: PlatformOf, caller: Caller) -> wire.GetTasksResponse:
    """Everything that holds or waits for slots, in workspaces that the caller may see."""
    with platform.store.read() as tx:
        live = tx.allocations.live()
        shown = seen_allocations(tx, caller.rights, live)
        live = [allocation for allocation in live if allocation.id in shown]
        jobs = {job.id: job for job in tx.jobs.in_queue()}
        waiting = _waiting(platform, tx, caller, live)
        titles = {a.task_id: title_of(tx, tx.tasks.get(a.task_id)) for a in live}
    cluster = {view.node.id: view.node for view in cluster_nodes(platform)}
    nodes = nodes_of(platform, live)
    summaries = {}
    for allocation in live:
        summaries[allocation.id] = allocation_summary(
            allocation,
            nodes[allocation.id],
            name=titles[allocation.task_id],
            priority=jobs[allocation.job_id].priority,
            scheduler=platform.config.scheduler,
            cluster=cluster,
            waiting=waiting.get(allocation.id, ""),
        )
    return wire.GetTasksResponse(allocation_id_to_summary=summaries)


@router.get("/tasks", needs=needs.VIEW_EXPERIMENT.listed, include_in_schema=False)
def get_tasks_old(platform: PlatformOf, caller: Caller) -> dict[str, wire.AllocationSummary]:
    """Where clients before 0.22 looked."""
    return get_tasks(platform, caller).allocation_id_to_summary


def _waiting(platform: Platform, tx: Transaction, caller: Principal, allocations: list[Allocation]) -> dict[str, str]:
    """Why those of them wait that do, by allocation id."""
    queued = [each for each in allocations if each.waits]
    if not queued:
        return {}
    names = job_names(tx.jobs.in_queue(), caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA))
    reasons = {each.id: why_it_waits(platform.waiting, each, names) for each in queued}
    return {allocation_id: reason.sentence for allocation_id, reason in reasons.items() if reason is not None}


@router.get("/api/v1/tasks/count", needs=needs.VIEW_TASK.listed)
def get_active_tasks_count(platform: PlatformOf, caller: Caller) -> wire.GetActiveTasksCountResponse:
    with platform.store.read() as tx:
        active = tx.tasks.search(active_only=True)
    kinds = [str(task.type) for task in active if caller.lists(Permission.VIEW_NSC, task.workspace_id)]
    return wire.GetActiveTasksCountResponse(
        commands=kinds.count("COMMAND"),
        notebooks=kinds.count("NOTEBOOK"),
        shells=kinds.count("SHELL"),
        tensorboards=kinds.count("TENSORBOARD"),
    )


@router.get("/api/v1/tasks/{task_id}", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_task(task_id: str, platform: PlatformOf, caller: Caller) -> wire.GetTaskResponse:
    with platform.store.read() as tx:
        task, allocations = tx.tasks.get(task_id), tx.allocations.of_task(task_id)
        waiting = _waiting(platform, tx, caller, allocations)
    return wire.GetTaskResponse(task=task_message(task, allocations, nodes_of(platform, allocations), waiting=waiting))


@router.get("/api/v1/tasks/{task_id}/context_directory", needs=needs.VIEW_ARTIFACTS.or_own_task)
def get_task_context_directory(task_id: str, platform: PlatformOf) -> ArchiveResponse:
    with platform.store.read() as tx:
        task = tx.tasks.get(task_id)
        content = tx.contexts.get(task.context_id) if task.context_id else b""
    return ArchiveResponse(b64_tgz=base64.b64encode(content).decode())


@router.get("/api/v1/tasks/{task_id}/acceleratorData", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_task_accelerator_data(task_id: str, platform: PlatformOf) -> wire.GetTaskAcceleratorDataResponse:
    """From the slots that its allocations hold or held."""
    nodes = {view.node.id: view.node for view in cluster_nodes(platform)}
    with platform.store.read() as tx:
        allocations = tx.allocations.of_task(tx.tasks.get(task_id).id)
    data = []
    for allocation in allocations:
        for share in allocation.shares:
            slots = [
                s for s in (nodes[share.node_id].slots if share.node_id in nodes else ()) if s.id in share.slot_ids
            ]
            data.append(
                wire.AcceleratorData(
                    container_id=allocation.id,
                    allocation_id=allocation.id,
                    node_name=share.node_id,
                    task_id=task_id,
                    accelerator_type=slots[0].brand if slots else "",
                    accelerator_uuids=[slot.uuid for slot in slots],
                    resource_pool=allocation.resource_pool,
                )
            )
    return wire.GetTaskAcceleratorDataResponse(accelerator_data=data)


# ----------------------------------------------------------------------------------------------------- allocations


@router.get("/api/v1/allocations/{allocation_id}", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_allocation(allocation_id: str, platform: PlatformOf, caller: Caller) -> wire.GetAllocationResponse:
    with platform.store.read() as tx:
        allocation = tx.allocations.get(allocation_id)
        waiting = _waiting(platform, tx, caller, [allocation])
    nodes = nodes_of(platform, [allocation])[allocation_id]
    message = allocation_message(allocation, nodes, waiting=waiting.get(allocation_id, ""))
    return wire.GetAllocationResponse(allocation=message)


@router.get("/api/v1/allocations/{allocation_id}/signals/preemption", needs=needs.VIEW_EXPERIMENT.or_own_task)
async def allocation_preemption_signal(
    allocation_id: str,
    platform: PlatformOf,
    state: StateOf,
    timeout_seconds: Annotated[int, Query(alias="timeoutSeconds", ge=0)] = 0,
) -> wire.AllocationPreemptionSignalResponse:
    """Whether the task should checkpoint and leave; waits up to `timeoutSeconds` for it to become so."""
    ends_at = time.monotonic() + min(timeout_seconds, _LONGEST_POLL_S)
    with state.watches.open((f"allocation/{allocation_id}",)) as watch:
        while True:
            preempt = await run_in_threadpool(engine.should_preempt, platform, allocation_id)
            left = ends_at - time.monotonic()
            if preempt or left <= 0 or watch.is_stopping:
                return wire.AllocationPreemptionSignalResponse(preempt=preempt)
            await watch.wait(min(left, 20.0))


@router.post("/api/v1/allocations/{allocation_id}/signals/ack_preemption", needs=needs.REPORT.or_own_task)
def ack_allocation_preemption_signal(allocation_id: str, platform: PlatformOf) -> Empty:
    engine.ack_preemption(platform, allocation_id)
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/signals/pending_preemption", needs=needs.REPORT.or_own_task)
def allocation_pending_preemption_signal(allocation_id: str, platform: PlatformOf) -> Empty:
    engine.pending_preemption(platform, allocation_id)
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/all_gather", needs=needs.REPORT.or_own_task)
async def allocation_all_gather(
    allocation_id: str, body: wire.AllocationAllGatherRequest, state: StateOf
) -> wire.AllocationAllGatherResponse:
    """Waits until every peer has sent its value and answers with all of them."""
    gathering = state.gatherings.join(allocation_id, body.request_uuid, body.num_peers, body.data)
    ends_at = time.monotonic() + GATHER_TIMEOUT_S
    while not gathering.done.is_set():
        if time.monotonic() > ends_at or state.watches.is_stopping:
            raise Unavailable(f"Not all {body.num_peers} peers of allocation {allocation_id} have answered in time.")
        await asyncio.sleep(_GATHER_LOOK_S)
    return wire.AllocationAllGatherResponse(data=engine.gathered(gathering))


@router.post("/api/v1/allocations/{allocation_id}/ready", needs=needs.REPORT.or_own_task)
def allocation_ready(allocation_id: str, platform: PlatformOf) -> Empty:
    engine.mark_ready(platform, allocation_id)
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/waiting", needs=needs.REPORT.or_own_task)
def allocation_waiting(allocation_id: str) -> Empty:
    """Accepted: waiting for its own work is the task's business."""
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/proxy_address", needs=needs.OWN_TASK)
def post_allocation_proxy_address(
    allocation_id: str, body: wire.PostAllocationProxyAddressRequest, platform: PlatformOf
) -> Empty:
    """Only the task itself knows where it listens: a user's token could lead requests elsewhere."""
    engine.set_proxy_address(platform, allocation_id, body.proxy_address)
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/acceleratorData", needs=needs.REPORT.or_own_task)
def post_allocation_accelerator_data(allocation_id: str, body: wire.PostAllocationAcceleratorDataRequest) -> Empty:
    """Accepted: the runner knows the slots already."""
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/notify_container_running", needs=needs.REPORT.or_own_task)
def notify_container_running(allocation_id: str) -> wire.AllocationAllGatherResponse:
    return wire.AllocationAllGatherResponse()


@router.post("/api/v1/allocations/{allocation_id}/resources/{resources_id}/daemon", needs=needs.REPORT.or_own_task)
def mark_allocation_resources_daemon(allocation_id: str, resources_id: str) -> Empty:
    return Empty()
