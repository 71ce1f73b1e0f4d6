"""The end of a gang: its allocation is closed, and its kind of task says what that means. One transaction."""

from dataclasses import replace

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.verdict import Exit
from resolute.engine.jobs.kinds import kind_of
from resolute.engine.jobs.task_kind import Ending
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import Flow, flow


def allocation_ended(platform: Platform, allocation_id: str, exit: Exit, *, is_final: bool = False) -> None:
    """Record that the processes of an allocation have ended. Repeating it changes nothing.

    `is_final`: another try would fail the same way (an environment that cannot be built).
    """
    with platform.store.read() as tx:
        allocation = tx.allocations.get(allocation_id)
        task = tx.tasks.get(allocation.task_id)
    kind = kind_of(task)
    kind.examine(platform, allocation, exit)
    with flow(platform) as current:
        allocation = current.tx.allocations.get(allocation_id)
        if allocation.state is AllocationState.TERMINATED:
            return
        ending = Ending(
            task=current.tx.tasks.get(task.id),
            allocation=_close(current, allocation, exit),
            exit=exit,
            is_final=is_final,
        )
        kind.ended(current, ending)


def _close(current: Flow, allocation: Allocation, exit: Exit) -> Allocation:
    ended = replace(
        allocation.moved_to(AllocationState.TERMINATED, now=current.now), exit_code=exit.code, exit_reason=exit.reason
    )
    current.publish("engine")
    return current.move(allocation, ended)
