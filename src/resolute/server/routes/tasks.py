"""Tasks and allocations: what runs, and what its processes ask."""

import asyncio
import base64
import time
from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from resolute.domain.errors import Forbidden, Unavailable
from resolute.engine.jobs import allocations as engine
from resolute.engine.jobs.cluster import cluster_nodes
from resolute.server.auth import Caller, PlatformOf
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


@router.get("/api/v1/tasks")
def get_tasks(platform: PlatformOf) -> wire.GetTasksResponse:
    """Everything that holds or waits for slots."""
    with platform.store.read() as tx:
        live = tx.allocations.live()
        jobs = {job.id: job for job in tx.jobs.in_queue()}
        trials = {a.trial_id: tx.trials.get(a.trial_id) for a in live if a.trial_id is not None}
    nodes = {view.node.id: view.node for view in cluster_nodes(platform)}
    summaries = {}
    for allocation in live:
        trial = trials.get(allocation.trial_id or 0)
        name = f"Trial {trial.id} (Experiment {trial.experiment_id})" if trial else allocation.task_id
        summaries[allocation.id] = allocation_summary(
            allocation,
            name=name,
            priority=jobs[allocation.job_id].priority,
            scheduler=platform.config.scheduler,
            nodes=nodes,
        )
    return wire.GetTasksResponse(allocation_id_to_summary=summaries)


@router.get("/tasks", include_in_schema=False)
def get_tasks_old(platform: PlatformOf) -> dict[str, wire.AllocationSummary]:
    """Where clients before 0.22 looked."""
    return get_tasks(platform).allocation_id_to_summary


@router.get("/api/v1/tasks/count")
def get_active_tasks_count(platform: PlatformOf) -> wire.GetActiveTasksCountResponse:
    with platform.store.read() as tx:
        kinds = [str(task.type) for task in tx.tasks.search(active_only=True)]
    return wire.GetActiveTasksCountResponse(
        commands=kinds.count("COMMAND"),
        notebooks=kinds.count("NOTEBOOK"),
        shells=kinds.count("SHELL"),
        tensorboards=kinds.count("TENSORBOARD"),
    )


@router.get("/api/v1/tasks/{task_id}")
def get_task(task_id: str, platform: PlatformOf) -> wire.GetTaskResponse:
    with platform.store.read() as tx:
        return wire.GetTaskResponse(task=task_message(tx.tasks.get(task_id), tx.allocations.of_task(task_id)))


@router.get("/api/v1/tasks/{task_id}/context_directory")
def get_task_context_directory(task_id: str, platform: PlatformOf) -> ArchiveResponse:
    with platform.store.read() as tx:
        trial = tx.trials.by_task_id(task_id)
        holder = tx.experiments.get(trial.experiment_id) if trial else tx.tasks.get(task_id)
        content = tx.contexts.get(holder.context_id) if holder.context_id else b""
    return ArchiveResponse(b64_tgz=base64.b64encode(content).decode())


@router.get("/api/v1/tasks/{task_id}/acceleratorData")
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


@router.get("/api/v1/allocations/{allocation_id}")
def get_allocation(allocation_id: str, platform: PlatformOf) -> wire.GetAllocationResponse:
    with platform.store.read() as tx:
        return wire.GetAllocationResponse(allocation=allocation_message(tx.allocations.get(allocation_id)))


@router.get("/api/v1/allocations/{allocation_id}/signals/preemption")
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


@router.post("/api/v1/allocations/{allocation_id}/signals/ack_preemption")
def ack_allocation_preemption_signal(allocation_id: str, platform: PlatformOf) -> Empty:
    engine.ack_preemption(platform, allocation_id)
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/signals/pending_preemption")
def allocation_pending_preemption_signal(allocation_id: str, platform: PlatformOf) -> Empty:
    engine.pending_preemption(platform, allocation_id)
    return Empty()


@router.get("/api/v1/allocations/{allocation_id}/resources/{resources_id}/rendezvous")
def allocation_rendezvous_info(
    allocation_id: str, resources_id: str, platform: PlatformOf
) -> wire.AllocationRendezvousInfoResponse:
    met = engine.rendezvous(platform, allocation_id, resources_id)
    info = wire.RendezvousInfo(addresses=met.addresses, rank=met.rank, slots=met.slots)
    return wire.AllocationRendezvousInfoResponse(rendezvous_info=info)


@router.post("/api/v1/allocations/{allocation_id}/all_gather")
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


@router.post("/api/v1/allocations/{allocation_id}/ready")
def allocation_ready(allocation_id: str, platform: PlatformOf) -> Empty:
    engine.mark_ready(platform, allocation_id)
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/waiting")
def allocation_waiting(allocation_id: str) -> Empty:
    """Accepted: waiting for its own work is the task's business."""
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/proxy_address")
def post_allocation_proxy_address(
    allocation_id: str, body: wire.PostAllocationProxyAddressRequest, platform: PlatformOf, caller: Caller
) -> Empty:
    """Only the task itself knows where it listens: a user's token could lead requests elsewhere."""
    if caller.allocation is None:
        raise Forbidden(f"Only the token of allocation {allocation_id} may say where it listens (DET_SESSION_TOKEN).")
    engine.set_proxy_address(platform, allocation_id, body.proxy_address)
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/acceleratorData")
def post_allocation_accelerator_data(allocation_id: str, body: wire.PostAllocationAcceleratorDataRequest) -> Empty:
    """Accepted: the runner knows the slots already."""
    return Empty()


@router.post("/api/v1/allocations/{allocation_id}/notify_container_running")
def notify_container_running(allocation_id: str) -> wire.AllocationAllGatherResponse:
    return wire.AllocationAllGatherResponse()


@router.post("/api/v1/allocations/{allocation_id}/resources/{resources_id}/daemon")
def mark_allocation_resources_daemon(allocation_id: str, resources_id: str) -> Empty:
    return Empty()
