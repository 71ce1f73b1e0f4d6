"""Starting what the scheduler placed, and handing over what an engine outside will place.

Every step may be repeated: a runner starts an allocation once however often it is asked, so a master that died half-way
does the same again after its restart.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.errors import EnvironmentFailed, ResoluteError, Unavailable
from resolute.domain.log import LogLevel
from resolute.domain.node import DeviceType
from resolute.domain.pool import pool_named
from resolute.domain.verdict import Exit
from resolute.engine.access.agent_accounts import account_of
from resolute.engine.jobs.exits import allocation_ended
from resolute.engine.jobs.fencing import allocation_token, secret_of
from resolute.engine.jobs.gang import Launch, task_variables
from resolute.engine.jobs.kinds import kind_of, owner_of
from resolute.engine.platform import Platform
from resolute.engine.ports.runner import Gang
from resolute.engine.unit_of_work import flow

log = logging.getLogger(__name__)

_SIGTERM_EXIT = 128 + 15
MOST_AT_ONCE = 8
"""Starts under way in one pool. More would only wait for the same engine."""


class Starter(Protocol):
    """How starts are carried out."""

    def run(self, allocation: Allocation, work: Callable[[], None]) -> bool:
        """False: not now; the next pass asks again."""


class InTurn:
    """One after the other, in the caller's thread."""

    def run(self, allocation: Allocation, work: Callable[[], None]) -> bool:
        work()
        return True


class SideBySide:
    """Each in a thread of its own, so that an engine that is slow to answer delays nobody else's start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, str] = {}
        """Allocation id to pool."""

    def run(self, allocation: Allocation, work: Callable[[], None]) -> bool:
        with self._lock:
            in_pool = sum(pool == allocation.resource_pool for pool in self._under_way.values())
            if allocation.id in self._under_way or in_pool >= MOST_AT_ONCE:
                return False
            self._under_way[allocation.id] = allocation.resource_pool
        threading.Thread(
            target=self._work, args=(allocation.id, work), name=f"start {allocation.id}", daemon=True
        ).start()
        return True

    def _work(self, allocation_id: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:
            log.exception("allocation %s could not be started; the next pass tries again", allocation_id)
        finally:
            with self._lock:
                del self._under_way[allocation_id]


def start_placed(platform: Platform, live: Sequence[Allocation], starter: Starter) -> bool:
    """Start every allocation that has its slots, and hand over those that an engine places. True when there was one."""
    placed = [allocation for allocation in live if _is_to_start(allocation)]
    return sum(starter.run(allocation, partial(_start, platform, allocation.id)) for allocation in placed) > 0


def _is_to_start(allocation: Allocation) -> bool:
    if allocation.state is AllocationState.SUBMITTED:
        return allocation.handle is None
    return allocation.state is AllocationState.ASSIGNED


def _start(platform: Platform, allocation_id: str) -> None:
    # Read again: a thread may come to this after another one has done it.
    with platform.store.read() as tx:
        allocation = tx.allocations.get(allocation_id)
    if not _is_to_start(allocation):
        return
    try:
        handle = platform.runner.start(build_gang(platform, allocation))
    except Unavailable as error:
        _try_again(platform, allocation, str(error))
    except EnvironmentFailed as error:
        allocation_ended(platform, allocation_id, Exit(code=1, reason=str(error)), is_final=True)
    except ResoluteError as error:
        allocation_ended(platform, allocation_id, Exit(code=1, reason=str(error)))
    else:
        _started(platform, allocation, handle)


def build_gang(platform: Platform, allocation: Allocation) -> Gang:
    """The gang of an allocation, from what is stored, as the task's kind makes it."""
    with platform.store.read() as tx:
        task = tx.tasks.get(allocation.task_id)
        owner = owner_of(tx, task)
        username = tx.users.get(owner.user_id).username
        account = account_of(platform, tx, user_id=owner.user_id, workspace_id=owner.workspace_id)
        token = allocation_token(secret_of(tx), allocation.id)
    launch = Launch(
        task=task,
        allocation=allocation,
        variables=task_variables(platform.config, task, allocation, username=username, token=token),
        device=_device_of(platform, allocation),
        log_path=str(platform.logs.path(task.id)),
        account=account,
    )
    return kind_of(task).gang(platform, launch)


def _device_of(platform: Platform, allocation: Allocation) -> DeviceType:
    pool = pool_named(allocation.resource_pool, platform.runner.pools())
    return pool.device if pool is not None else DeviceType.CPU


def _started(platform: Platform, allocation: Allocation, handle: str) -> None:
    platform.waiting.started(allocation.id)
    with flow(platform) as current:
        stored = current.tx.allocations.get(allocation.id)
        if stored.state is AllocationState.SUBMITTED:
            current.change(stored, replace(stored, handle=handle))
            current.tell(
                allocation.task_id, f"Run {allocation.run_id} is with the engine of pool {stored.resource_pool}."
            )
        else:
            running = replace(stored.moved_to(AllocationState.RUNNING, now=current.now), handle=handle)
            current.move(stored, running)
            current.tell(allocation.task_id, started_on(running))
        current.publish("engine")


def started_on(allocation: Allocation) -> str:
    """For the task's log."""
    where = ", ".join(f"{share.node_id} slots {list(share.slot_ids)}" for share in allocation.shares)
    return f"Run {allocation.run_id} started on {where}."


def _try_again(platform: Platform, allocation: Allocation, reason: str) -> None:
    """Back to the queue; whoever was told to leave meanwhile has left."""
    with platform.store.read() as tx:
        stored = tx.allocations.get(allocation.id)
    if stored.kill_requested_at is not None or stored.preempt_requested_at is not None:
        exit = Exit(code=_SIGTERM_EXIT, reason="Stopped before it started.")
        allocation_ended(platform, allocation.id, exit)
        return
    delay_s = platform.waiting.failed(allocation.id, reason, now=platform.clock())
    log.warning("allocation %s goes back to the queue for %g s: %s", allocation.id, delay_s, reason)
    with flow(platform) as current:
        stored = current.tx.allocations.get(allocation.id)
        queued = replace(stored.moved_to(AllocationState.QUEUED, now=current.now), shares=(), token_hash="")
        current.move(stored, queued, reason=reason)
        text = f"Could not start yet: {reason} Trying again in {delay_s:g} s."
        current.tell(allocation.task_id, text, LogLevel.WARNING)
