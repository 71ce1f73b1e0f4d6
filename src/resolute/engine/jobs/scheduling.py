"""The scheduling loop's one pass: who gets slots, who is asked to leave, who is given to an engine outside."""

from collections.abc import Sequence
from dataclasses import replace

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.claim import Claim, ClaimState, Decision, claims_by_pool
from resolute.domain.explanation import WITH_ENGINE
from resolute.domain.node import Node, Pool
from resolute.domain.placement import delegate, place
from resolute.domain.pool import pool_named
from resolute.domain.waiting import Wait, WaitingFor
from resolute.engine.jobs.allocation_moves import ask_to_leave
from resolute.engine.jobs.cluster import usable_nodes
from resolute.engine.jobs.fencing import allocation_token, hash_token, secret_of
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow


def schedule(platform: Platform, live: Sequence[Allocation]) -> bool:
    """Place what fits, hand over what others place, and leave behind why the rest waits.

    `live`: allocations that are not over. True when one of them was changed.
    """
    waiting: dict[str, Wait] = platform.waiting.delayed({each.id for each in live}, now=platform.clock())
    has_changed = False
    if any(allocation.waits for allocation in live):
        with platform.store.read() as tx:
            nodes = usable_nodes(platform, tx)
            # Read again, together with their jobs: one that ended meanwhile has none in the queue.
            claims = claims_by_pool(tx.jobs.in_queue(), tx.allocations.live())
        pools = platform.runner.pools()
        for name in claims:
            ready = [claim for claim in claims[name] if claim.allocation_id not in waiting]
            decision = _decide(platform, name, pools, nodes, ready)
            waiting |= decision.waiting
            has_changed |= _apply(platform, decision)
    if platform.waiting.decide(waiting):
        platform.bus.publish("queue")
    return has_changed


def _decide(platform: Platform, name: str, pools: list[Pool], nodes: list[Node], claims: list[Claim]) -> Decision:
    pool = pool_named(name, pools)
    if pool is None:
        return _all_wait(claims, Wait(reason=WaitingFor.POOL, nodes=tuple(each.name for each in pools)))
    if pool.problem:
        return _all_wait(claims, Wait(reason=WaitingFor.ANSWER, note=pool.problem))
    if pool.is_delegating:
        return delegate(claims)
    return place(
        [node for node in nodes if node.resource_pool == name],
        claims,
        can_grow=pool.can_grow,
        scheduler=platform.config.scheduler,
        preemption=platform.config.preemption,
        fitting=platform.config.fitting_policy,
    )


def _all_wait(claims: list[Claim], wait: Wait) -> Decision:
    """For one thing. What an engine has waits for that engine."""
    waits = {ClaimState.QUEUED: wait, ClaimState.SUBMITTED: WITH_ENGINE}
    return Decision(waiting={claim.allocation_id: waits[claim.state] for claim in claims if claim.state in waits})


def _apply(platform: Platform, decision: Decision) -> bool:
    if not decision.assign and not decision.preempt:
        return False
    with flow(platform) as current:
        secret = secret_of(current.tx)
        for allocation_id, shares in decision.assign:
            allocation = current.tx.allocations.get(allocation_id)
            if allocation.state is not AllocationState.QUEUED:
                continue
            # Without shares its engine places it.
            state = AllocationState.ASSIGNED if shares else AllocationState.SUBMITTED
            token = allocation_token(secret, allocation_id)
            placed = replace(allocation.moved_to(state, now=current.now), shares=shares, token_hash=hash_token(token))
            current.move(allocation, placed)
        for allocation_id in decision.preempt:
            allocation = current.tx.allocations.get(allocation_id)
            if allocation.holds_slots:
                ask_to_leave(current, allocation)
                current.tell(allocation.task_id, "Asked to checkpoint and leave: a job of higher priority needs slots.")
    return True
