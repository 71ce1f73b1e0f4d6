"""Nodes, slots, pools and jobs as messages."""

from collections import Counter
from collections.abc import Container
from datetime import datetime

from resolute.domain.allocation import Allocation
from resolute.domain.capacity import ZERO_SLOT_LIMIT
from resolute.domain.job import Job
from resolute.domain.node import Slot
from resolute.engine.jobs.cluster import NodeView, PoolView
from resolute.engine.jobs.queue import JobView
from resolute.engine.platform import MasterConfig
from resolute.spec.wire import cluster as wire
from resolute.spec.wire import jobs as wire_jobs
from resolute.spec.wire.enums import ContainerState, DeviceType, FittingPolicy, JobState, JobType, SchedulerType


def device_message(slot: Slot) -> wire.Device:
    return wire.Device(id=slot.id, brand=slot.brand, uuid=slot.uuid, type=DeviceType(f"TYPE_{slot.type}"))


HIDDEN = "********"
"""In place of the ids of work that the caller may not see: that a slot is held is no secret, by what it is."""


def slot_message(view: NodeView, slot: Slot, shown: Container[str]) -> wire.Slot:
    """`shown`: ids of the allocations that the caller may see."""
    allocation = view.used.get(slot.id)
    return wire.Slot(
        id=str(slot.id),
        device=device_message(slot),
        enabled=slot.is_enabled and view.node.is_enabled,
        draining=view.node.is_draining,
        container=container_message(allocation, view.node.id, [slot], shown) if allocation else None,
    )


def container_id(allocation: Allocation, node_id: str) -> str:
    """One node's part of an allocation. Clients join slots and tasks by it."""
    nodes = [share.node_id for share in allocation.shares]
    return f"{allocation.id}.{nodes.index(node_id) if node_id in nodes else 0}"


def container_message(allocation: Allocation, node_id: str, slots: list[Slot], shown: Container[str]) -> wire.Container:
    is_shown = allocation.id in shown
    return wire.Container(
        id=container_id(allocation, node_id) if is_shown else HIDDEN,
        parent=allocation.task_id if is_shown else HIDDEN,
        state=ContainerState.RUNNING if allocation.start_time else ContainerState.STARTING,
        devices=[device_message(slot) for slot in slots],
    )


def agent_message(
    view: NodeView,
    *,
    registered: datetime,
    version: str,
    shown: Container[str],
    with_slots: bool = True,
    with_containers: bool = True,
) -> wire.Agent:
    node = view.node
    return wire.Agent(
        id=node.id,
        registered_time=registered,
        slots={str(slot.id): slot_message(view, slot, shown) for slot in node.slots} if with_slots else {},
        containers=_containers(view, shown) if with_containers else {},
        addresses=list(node.addresses),
        enabled=node.is_enabled,
        draining=node.is_draining,
        version=version,
        resource_pools=[node.resource_pool],
        slot_stats=_slot_stats(view),
    )


def _containers(view: NodeView, shown: Container[str]) -> dict[str, wire.Container]:
    slots: dict[str, list[Slot]] = {}
    for slot in view.node.slots:
        if slot.id in view.used:
            slots.setdefault(view.used[slot.id].id, []).append(slot)
    held = {each.id: each for each in view.allocations if each.id in shown}
    messages = (container_message(a, view.node.id, slots.get(a.id, []), shown) for a in held.values())
    return {message.id: message for message in messages}


def _slot_stats(view: NodeView) -> wire.SlotStats:
    by_type: dict[str, list[Slot]] = {}
    by_brand: dict[str, list[Slot]] = {}
    for slot in view.node.slots:
        by_type.setdefault(f"TYPE_{slot.type}", []).append(slot)
        by_brand.setdefault(slot.brand, []).append(slot)
    return wire.SlotStats(
        type_stats={key: _stats(view, slots) for key, slots in by_type.items()},
        brand_stats={key: _stats(view, slots) for key, slots in by_brand.items()},
    )


def _stats(view: NodeView, slots: list[Slot]) -> wire.DeviceStats:
    states = Counter("STATE_RUNNING" for slot in slots if slot.id in view.used)
    off = sum(not slot.is_enabled or not view.node.is_enabled for slot in slots)
    return wire.DeviceStats(
        total=len(slots), disabled=off, draining=len(slots) if view.node.is_draining else 0, states=dict(states)
    )


def pool_message(view: PoolView, *, config: MasterConfig, jobs: list[JobView]) -> wire.ResourcePool:
    pool, agents = view.pool, len(view.nodes)
    scheduled = sum(job.is_scheduled for job in jobs)
    is_priority = config.scheduler == "priority"
    return wire.ResourcePool(
        name=pool.name,
        description=_described(view),
        num_agents=agents,
        slots_available=view.slots,
        slots_used=view.used,
        slot_type=DeviceType(f"TYPE_{pool.device}"),
        slots_per_agent=view.slots // agents if agents else 0,
        aux_container_capacity=ZERO_SLOT_LIMIT * agents,
        aux_containers_running=sum(len(node.zero_slot) for node in view.nodes),
        aux_container_capacity_per_agent=ZERO_SLOT_LIMIT,
        default_compute_pool=view.is_default,
        default_aux_pool=view.is_default,
        min_agents=agents,
        max_agents=agents,
        scheduler_type=SchedulerType.PRIORITY if is_priority else SchedulerType.FAIR_SHARE,
        scheduler_fitting_policy=FittingPolicy(f"FITTING_POLICY_{config.fitting_policy.upper()}"),
        location="on-prem",
        master_url=config.url,
        details=wire.ResourcePoolDetail(
            priority_scheduler=wire.PrioritySchedulerDetail(preemption=config.preemption) if is_priority else None
        ),
        cluster_name=config.cluster_name,
        stats=wire.QueueStats(queued_count=len(jobs) - scheduled, scheduled_count=scheduled),
    )


def _described(view: PoolView) -> str:
    parts = [f"{len(view.nodes)} node(s), {view.slots} slot(s)"]
    if view.pool.can_grow:
        parts.append("grows when work waits")
    if view.pool.is_delegating:
        parts.append("its engine places")
    return ", ".join(parts)


def job_message(view: JobView) -> wire_jobs.Job:
    job = view.job
    return wire_jobs.Job(
        job_id=job.id,
        entity_id=job.entity_id,
        type=_job_type(job),
        kind=job.kind,
        name=job.name,
        username=view.username,
        user_id=job.user_id,
        submission_time=job.submitted_at,
        resource_pool=job.resource_pool,
        workspace_id=job.workspace_id,
        is_preemptible=view.is_preemptible,
        requested_slots=view.requested_slots,
        allocated_slots=view.allocated_slots,
        priority=job.priority,
        weight=job.weight,
        progress=view.progress,
        summary=job_summary(view),
    )


def _job_type(job: Job) -> JobType:
    """Kinds that clients of this API have no word for are generic to them."""
    word = f"TYPE_{job.kind}"
    return JobType(word) if word in set(JobType) else JobType.GENERIC


def job_summary(job: JobView) -> wire_jobs.JobSummary:
    return wire_jobs.JobSummary(
        state=JobState.SCHEDULED if job.is_scheduled else JobState.QUEUED,
        jobs_ahead=job.jobs_ahead,
        waiting_reason=job.waiting.sentence if job.waiting else "",
        waiting_for=job.waiting.code if job.waiting else "",
    )
