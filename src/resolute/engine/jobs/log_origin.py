"""Which try of a task, and which node of it, a line of the task's log comes from. The log itself does not say.

Tries of a task follow each other, so the time of a line tells its allocation, and its rank the node.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from resolute.domain.allocation import Allocation, node_of_rank
from resolute.domain.log import LogLine
from resolute.engine.notices import microseconds
from resolute.engine.ports.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Of these alone; empty: of all."""

    allocation_ids: tuple[str, ...] = ()
    node_ids: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        return not (self.allocation_ids or self.node_ids)


class LogOrigins:
    """Of the lines of one task."""

    def __init__(self, allocations: Sequence[Allocation]) -> None:
        """Oldest first."""
        self._allocations = allocations
        self._starts = [microseconds(allocation.created_at) for allocation in allocations]

    @classmethod
    def of_task(cls, tx: Transaction, task_id: str) -> "LogOrigins":
        return cls(tx.allocations.of_task(task_id))

    @property
    def allocation_ids(self) -> list[str]:
        return [allocation.id for allocation in self._allocations]

    @property
    def node_ids(self) -> list[str]:
        return sorted({share.node_id for allocation in self._allocations for share in allocation.shares})

    def accepts(self, line: LogLine, wanted: Wanted) -> bool:
        told = self.told(line)
        is_of_try = not wanted.allocation_ids or told.allocation_id in wanted.allocation_ids
        return is_of_try and (not wanted.node_ids or told.node_id in wanted.node_ids)

    def told(self, line: LogLine) -> LogLine:
        """The line with its allocation and its node."""
        place = bisect_right(self._starts, line.timestamp_us) - 1
        if place < 0:
            return line
        allocation = self._allocations[place]
        return replace(line, allocation_id=allocation.id, node_id=node_of_rank(allocation, line.rank))
