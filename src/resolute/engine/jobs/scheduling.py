"""The scheduling loop's one pass: who gets slots, who is asked to leave, and the start of what was placed."""

import logging
from dataclasses import replace

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.claim import claims_by_pool
from resolute.domain.errors import EnvironmentFailed, ResoluteError, Unavailable
from resolute.domain.log import LogLevel
from resolute.domain.node import DeviceType, Node
from resolute.domain.placement import Claim, Decision, place
from resolute.domain.pool import pool_named
from resolute.domain.verdict import Exit
from resolute.engine.jobs.allocation_moves import ask_to_leave
from resolute.engine.jobs.cluster import usable_nodes
from resolute.engine.jobs.exits import allocation_ended
from resolute.engine.jobs.fencing import allocation_token, hash_token, secret_of
from resolute.engine.jobs.gang import Launch, task_variables
from resolute.engine.jobs.kinds import kind_of, owner_of
from resolute.engine.platform import Platform
from resolute.engine.ports.runner import Gang
from resolute.engine.unit_of_work import flow

log = logging.getLogger(__name__)


def schedule(platform: Platform) -> int:
    """Place what fits and start it. Returns how many gangs were started."""
    with platform.store.read() as tx:
        allocations = tx.allocations.live()
        if not allocations:
            return 0
        nodes = usable_nodes(platform, tx)
        claims = claims_by_pool(tx.jobs.in_queue(), allocations) if _has_queue(allocations) else {}
    for pool in claims:
        decision = _decide(platform, [n for n in nodes if n.resource_pool == pool], claims[pool])
        _apply(platform, decision)
    return start_assigned(platform)


def _has_queue(allocations: list[Allocation]) -> bool:
    return any(a.state is AllocationState.QUEUED for a in allocations)


def _decide(platform: Platform, nodes: list[Node], claims: list[Claim]) -> Decision:
    return place(
        nodes,
        claims,
        scheduler=platform.config.scheduler,
        preemption=platform.config.preemption,
        fitting=platform.config.fitting_policy,
    )


def _apply(platform: Platform, decision: Decision) -> None:
    if not decision.assign and not decision.preempt:
        return
    with flow(platform) as current:
        secret = secret_of(current.tx)
        for allocation_id, shares in decision.assign:
            allocation = current.tx.allocations.get(allocation_id)
            if allocation.state is not AllocationState.QUEUED:
                continue
            token = allocation_token(secret, allocation_id)
            assigned = replace(
                allocation.moved_to(AllocationState.ASSIGNED, now=current.now),
                shares=shares,
                token_hash=hash_token(token),
            )
            current.move(allocation, assigned)
        for allocation_id in decision.preempt:
            allocation = current.tx.allocations.get(allocation_id)
            if allocation.holds_slots:
                ask_to_leave(current, allocation)
                current.tell(allocation.task_id, "Asked to checkpoint and leave: a job of higher priority needs slots.")


def start_assigned(platform: Platform) -> int:
    """Start every assigned gang. Also what a restarted master does with those its predecessor left half-way."""
    with platform.store.read() as tx:
        assigned = [a for a in tx.allocations.live() if a.state is AllocationState.ASSIGNED]
    return sum(_start(platform, allocation) for allocation in assigned)


def _start(platform: Platform, allocation: Allocation) -> bool:
    try:
        gang = build_gang(platform, allocation)
        handle = platform.runner.start(gang)
    except Unavailable as error:
        _back_to_queue(platform, allocation, str(error))
        return False
    except EnvironmentFailed as error:
        allocation_ended(platform, allocation.id, Exit(code=1, reason=str(error)), is_final=True)
        return False
    except ResoluteError as error:
        allocation_ended(platform, allocation.id, Exit(code=1, reason=str(error)))
        return False
    _started(platform, allocation, handle)
    return True


def build_gang(platform: Platform, allocation: Allocation) -> Gang:
    """The gang of an allocation, from what is stored, as the task's kind makes it."""
    with platform.store.read() as tx:
        task = tx.tasks.get(allocation.task_id)
        username = tx.users.get(owner_of(tx, task).user_id).username
        token = allocation_token(secret_of(tx), allocation.id)
    launch = Launch(
        task=task,
        allocation=allocation,
        variables=task_variables(platform.config, task, allocation, username=username, token=token),
        device=_device_of(platform, allocation),
        log_path=str(platform.logs.path(task.id)),
    )
    return kind_of(task).gang(platform, launch)


def _device_of(platform: Platform, allocation: Allocation) -> DeviceType:
    pool = pool_named(allocation.resource_pool, platform.runner.pools())
    return pool.device if pool is not None else DeviceType.CPU


def _started(platform: Platform, allocation: Allocation, handle: str) -> None:
    with flow(platform) as current:
        stored = current.tx.allocations.get(allocation.id)
        current.move(stored, replace(stored.moved_to(AllocationState.RUNNING, now=current.now), handle=handle))
        where = ", ".join(f"{share.node_id} slots {list(share.slot_ids)}" for share in allocation.shares)
        current.tell(allocation.task_id, f"Run {allocation.run_id} started on {where}.")


def _back_to_queue(platform: Platform, allocation: Allocation, reason: str) -> None:
    log.warning("allocation %s goes back to the queue: %s", allocation.id, reason)
    with flow(platform) as current:
        stored = current.tx.allocations.get(allocation.id)
        queued = replace(stored.moved_to(AllocationState.QUEUED, now=current.now), shares=(), token_hash="")
        current.move(stored, queued, reason=reason)
        current.tell(allocation.task_id, f"Could not start yet: {reason} Trying again.", LogLevel.WARNING)
