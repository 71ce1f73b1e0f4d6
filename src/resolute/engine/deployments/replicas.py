"""Replicas as tasks: reading them, queueing, restarting and ending them, and the gang that runs one.

A replica is a task of type REPLICA that lives as long as its revision wants it; each process it has had is one of its
allocations. Nothing here decides: `domain.rollout` does.
"""

import json
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.deployment import Deployment, Revision, Serving
from resolute.domain.log import LogStream
from resolute.domain.replica import Replica, ReplicaState
from resolute.domain.task import Task, TaskType
from resolute.engine.deployments.sources import is_fetched, source_folder
from resolute.engine.jobs.allocation_moves import ask_to_leave, live_allocation
from resolute.engine.jobs.gang import Launch
from resolute.engine.jobs.task_kind import Ending
from resolute.engine.jobs.task_moves import add_task, end_task, queue_task
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.logs import LogQuery
from resolute.engine.ports.runner import Gang
from resolute.engine.unit_of_work import Flow

_FRESH = timedelta(seconds=5)
"""News of the router that are older say nothing of now; it tells every second."""
COMMAND = ("python3", "-m", "resolute.serving.replica")


# -------------------------------------------------------------------------------------------------------- reading


def replicas_of_deployments(tx: Transaction) -> dict[int, list[Replica]]:
    """Deployment id to its replicas, oldest first."""
    found: dict[int, list[Replica]] = {}
    for task in tx.tasks.search(types=(TaskType.REPLICA,), active_only=True):
        config = task.config or {}
        replica = _replica(task, config, tx.allocations.of_task(task.id))
        found.setdefault(int(config.get("deployment_id", 0)), []).append(replica)
    return found


def _replica(task: Task, config: dict[str, Any], allocations: list[Allocation]) -> Replica:
    current = allocations[-1]
    state, since = _state(task, current)
    failures = 0
    for allocation in reversed(allocations):
        if allocation.is_ready:
            break
        failures += allocation.state is AllocationState.TERMINATED
    return Replica(
        task_id=task.id,
        revision=int(config.get("revision", 0)),
        state=state,
        since=since,
        allocation_id=current.id if current.state is not AllocationState.TERMINATED else "",
        address=current.proxy_address,
        failures=failures,
        reason=current.exit_reason,
    )


def _state(task: Task, current: Allocation) -> tuple[ReplicaState, datetime]:
    asked = current.preempt_requested_at or current.kill_requested_at
    if current.state is AllocationState.TERMINATED:
        return ReplicaState.RESTARTING, current.end_time or current.changed_at
    if asked is not None:
        return ReplicaState.STOPPING, asked
    if task.draining_since is not None:
        return ReplicaState.DRAINING, task.draining_since
    if current.waits:
        return ReplicaState.QUEUED, current.created_at
    since = current.start_time or current.changed_at
    is_ready = current.is_ready and bool(current.proxy_address)
    return (ReplicaState.READY if is_ready else ReplicaState.STARTING), since


def seen_by_router(platform: Platform, replica: Replica) -> Replica:
    """As the router finds it now, for one that said it was ready. Without fresh news it is believed."""
    counts, told_at = platform.traffic.counts(), platform.traffic.told_at
    why = platform.traffic.unproven.get(replica.allocation_id)
    if why and replica.state is ReplicaState.READY:
        return replica.not_proven(why)
    if replica.state is not ReplicaState.READY or counts is None or told_at is None:
        return replica
    sick = counts.sick.get(replica.allocation_id)
    if sick is None or platform.clock() - told_at > _FRESH:
        return replica
    return replica.found_sick(sick.health, sick.reason)


def with_last_line(platform: Platform, replica: Replica) -> Replica:
    """The reason of a replica that does not get ready, in its own last words."""
    query = LogQuery(newest_first=True, limit=1, streams=(LogStream.STDERR, LogStream.STDOUT))
    lines = platform.logs.read(replica.task_id, query)
    if not lines or not lines[0].text.strip():
        return replica
    return replace(replica, reason=lines[0].text.strip())


# ------------------------------------------------------------------------------------------------- coming and going


def start_replica(flow: Flow, deployment: Deployment, revision: Revision) -> str:
    task = Task(
        id=f"replica.{deployment.name}.{revision.number}.{uuid.uuid4().hex[:8]}",
        type=TaskType.REPLICA,
        job_id=deployment.job_id,
        start_time=flow.now,
        user_id=deployment.user_id,
        workspace_id=deployment.workspace_id,
        config={"deployment_id": deployment.id, "deployment": deployment.name, "revision": revision.number},
    )
    add_task(flow, task)
    _queue(flow, task, revision.serving, run_id=1)
    return task.id


def restart_replica(flow: Flow, task_id: str, revision: Revision) -> None:
    """Another process for a replica whose last one has ended."""
    allocations = flow.tx.allocations.of_task(task_id)
    if allocations[-1].state is AllocationState.TERMINATED:
        _queue(flow, flow.tx.tasks.get(task_id), revision.serving, run_id=len(allocations) + 1)


def _queue(flow: Flow, task: Task, serving: Serving, *, run_id: int) -> None:
    queue_task(
        flow,
        task,
        run_id=run_id,
        slots=serving.slots,
        resource_pool=serving.resource_pool,
        is_preemptible=False,
        single_node=True,
    )


def stop_replica(flow: Flow, task_id: str) -> None:
    """Ask it to end; its task is over when it has."""
    current = live_allocation(flow, task_id)
    if current is None or ask_to_leave(flow, current):
        end_task(flow, task_id)


def replica_ended(flow: Flow, ending: Ending) -> None:
    """Its process has ended: for good when it was asked to, else another one follows."""
    allocation = ending.allocation
    if allocation.preempt_requested_at is not None or allocation.kill_requested_at is not None:
        end_task(flow, allocation.task_id)
    flow.publish("deployments")


# ------------------------------------------------------------------------------------------------------- the gang


def model_path(platform: Platform, task: Task) -> Path | None:
    _, revision = _served(platform, task)
    return source_folder(platform.config.home, revision) if is_fetched(revision) else None


def _served(platform: Platform, task: Task) -> tuple[Deployment, Revision]:
    config = task.config or {}
    with platform.store.read() as tx:
        deployment = tx.deployments.get(int(config["deployment_id"]))
        return deployment, next(r for r in tx.deployments.revisions(deployment.id) if r.number == config["revision"])


def replica_gang(platform: Platform, launch: Launch) -> Gang:
    deployment, revision = _served(platform, launch.task)
    source = source_folder(platform.config.home, revision)
    return launch.gang(
        entrypoint=_command(deployment, revision, _address(platform, launch.allocation)),
        model_path=str(source) if is_fetched(revision) else "",
        given=revision.serving.environment,
        own={
            "RESOLUTE_DEPLOYMENT": deployment.name,
            "RESOLUTE_REVISION": str(revision.number),
            "RESOLUTE_MODEL_SOURCE": str(source),
        },
    )


def _address(platform: Platform, allocation: Allocation) -> str:
    """Where the router reaches its node. Empty: it finds out by itself, where an engine outside places it."""
    node_ids = [share.node_id for share in allocation.shares]
    addresses = [a for node in platform.runner.nodes() if node.id in node_ids for a in node.addresses]
    return addresses[0] if addresses else ""


def _command(deployment: Deployment, revision: Revision, address: str) -> tuple[str, ...]:
    serving = revision.serving
    if serving.command:
        return tuple(serving.command)
    settings = {
        "--host": address,
        "--name": deployment.name,
        "--version": str(revision.number),
        "--options": json.dumps(serving.options),
        "--max-batch-size": str(serving.max_batch_size),
        "--max-batch-delay-ms": str(serving.max_batch_delay_ms),
        "--max-queue": str(serving.max_queue),
        "--timeout-s": str(serving.timeout_s),
        "--max-body-bytes": str(serving.max_body_bytes),
        "--memory-bytes": str(serving.memory_bytes),
    }
    flags = {"--trusted": serving.trusted, "--allow-pickle": serving.allow_pickle}
    # A model that cannot be loaded is told about by its exit, not by a time-out.
    words = (*(word for pair in settings.items() for word in pair), *(flag for flag, is_set in flags.items() if is_set))
    return (*COMMAND, *words, "--fail-fast", "--no-repository")
