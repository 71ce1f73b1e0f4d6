"""The reaping loop's one pass: notice gangs that have ended, and make those end that must."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from resolute.domain.allocation import Allocation, AllocationState, NodeShare
from resolute.domain.gang import Phase
from resolute.domain.verdict import Exit
from resolute.engine.jobs.exits import allocation_ended
from resolute.engine.jobs.kinds import kind_of
from resolute.engine.jobs.starting import started_on
from resolute.engine.notices import tell
from resolute.engine.platform import Platform
from resolute.engine.ports.runner import Forgets, GangStatus
from resolute.engine.unit_of_work import flow

_UNDER_WAY = frozenset({Phase.PULLING, Phase.STARTING, Phase.RUNNING})
SILENT_AFTER = timedelta(seconds=75)
"""A trial that listens for preemption asks at least once a minute; one silent for longer does not listen."""


def reap(platform: Platform, live: Sequence[Allocation], *, since: datetime) -> bool:
    """True when a gang has ended. `live`: allocations that are not over; `since`: when this master started."""
    started = [a for a in live if a.handle is not None]
    if not started:
        return False
    statuses = platform.runner.poll([a.handle for a in started if a.handle])
    has_ended = False
    for allocation in started:
        # An engine that does not answer leaves its gangs out: nothing is known of them, and they stay as they are.
        status = statuses.get(allocation.handle or "")
        if status is not None:
            allocation = _follow(platform, allocation, status)
        if status is not None and status.is_over:
            _close(platform, allocation, status)
            has_ended = True
        else:
            _press(platform, allocation, since)
    _note(platform, started, statuses)
    return has_ended


def _follow(platform: Platform, allocation: Allocation, status: GangStatus) -> Allocation:
    """Write down where the engine of a delegating pool put it, once that is known."""
    shares = _shares(status)
    is_placed = allocation.state is AllocationState.SUBMITTED and (shares or status.phase in _UNDER_WAY)
    if not is_placed and shares in ((), allocation.shares):
        return allocation
    with flow(platform) as current:
        stored = current.tx.allocations.get(allocation.id)
        placed = replace(stored, shares=shares or stored.shares)
        if stored.state is AllocationState.SUBMITTED:
            placed = placed.moved_to(AllocationState.RUNNING, now=current.now)
            current.tell(allocation.task_id, started_on(placed))
        return current.move(stored, placed)


def _shares(status: GangStatus) -> tuple[NodeShare, ...]:
    addresses = (*status.addresses, *("" for _ in status.shares))
    return tuple(replace(share, address=address) for share, address in zip(status.shares, addresses, strict=False))


def _note(platform: Platform, started: Sequence[Allocation], statuses: Mapping[str, GangStatus]) -> None:
    """What engines say of those that they have not placed."""
    submitted = {a.id: a.handle or "" for a in started if a.state is AllocationState.SUBMITTED}
    notes = {key: statuses[handle].reason for key, handle in submitted.items() if handle in statuses}
    if platform.waiting.note(notes):
        platform.bus.publish("queue")


def _close(platform: Platform, allocation: Allocation, status: GangStatus) -> None:
    code = status.exit_code if status.exit_code is not None else -1
    exit = Exit(code=code, reason=status.reason, is_lost=status.is_lost)
    allocation_ended(platform, allocation.id, exit, is_final=status.is_final)
    platform.listeners.pop(allocation.id, None)
    if allocation.handle is not None and isinstance(platform.runner, Forgets):
        platform.runner.forget(allocation.handle)


def _press(platform: Platform, allocation: Allocation, since: datetime) -> None:
    """End what was told to end: at once when it was killed, by signal when it cannot hear, by force when it is late."""
    now = platform.clock()
    handle = allocation.handle
    if handle is None:
        return
    if allocation.state is AllocationState.TERMINATING:
        # Once more: the master may have died between writing this down and doing it.
        platform.runner.stop(handle, force=True)
        return
    if allocation.kill_requested_at is not None:
        platform.runner.stop(handle, force=True)
        _mark_terminating(platform, allocation)
        return
    asked = allocation.preempt_requested_at
    if asked is None:
        return
    if allocation.state is AllocationState.SUBMITTED:
        # There is nobody yet who could checkpoint and leave.
        platform.runner.stop(handle, force=False)
        return
    if now - asked > timedelta(seconds=_patience(platform, allocation)):
        tell(platform, allocation.task_id, "It did not leave in time and is killed.")
        platform.runner.stop(handle, force=True)
        _mark_terminating(platform, allocation)
    elif _must_be_signalled(platform, allocation, since, now):
        platform.runner.stop(handle, force=False)


def _patience(platform: Platform, allocation: Allocation) -> float:
    with platform.store.read() as tx:
        task = tx.tasks.get(allocation.task_id)
        patience_s = kind_of(task).patience_s(tx, task)
    return platform.config.preemption_timeout_s if patience_s is None else patience_s


def _asks_to_leave(platform: Platform, allocation: Allocation) -> bool:
    with platform.store.read() as tx:
        return kind_of(tx.tasks.get(allocation.task_id)).asks_to_leave


def _must_be_signalled(platform: Platform, allocation: Allocation, since: datetime, now: datetime) -> bool:
    """A plain script that never asks whether it should leave gets SIGTERM instead of an hour's patience."""
    if allocation.id in platform.listeners:
        return False
    if not _asks_to_leave(platform, allocation):
        return True
    started = allocation.start_time or allocation.created_at
    known_since = max(since, started)
    asked = allocation.preempt_requested_at or now
    return now - asked > timedelta(seconds=2) and (since <= started or now - known_since > SILENT_AFTER)


def _mark_terminating(platform: Platform, allocation: Allocation) -> None:
    with flow(platform) as current:
        stored = current.tx.allocations.get(allocation.id)
        if stored.state in (AllocationState.SUBMITTED, AllocationState.RUNNING):
            current.move(stored, stored.moved_to(AllocationState.TERMINATING, now=current.now))
