"""One contestant, one task, one repeat: workers on a fake clock, and the regret of the incumbent over spent epochs."""

import heapq
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from benchmarks.search.task import MAX_EPOCHS, Point, Task


class Contestant(Protocol):
    def suggest(self) -> tuple[Any, Point] | None:
        """A trial for a free worker, with a handle; None: wait."""

    def report(self, handle: Any, epoch: int, loss: float) -> bool:
        """True: train on."""


@dataclass
class Race:
    regrets: list[tuple[int, float]] = field(default_factory=list)
    """(epochs spent by all workers, regret of the best so far), whenever it changed."""
    epochs: int = 0
    decisions: int = 0
    seconds: float = 0.0
    """Processor time spent inside the contestant; a busy machine does not change it."""

    def regret_at(self, epochs: int) -> float:
        value = 1.0
        for spent, regret in self.regrets:
            if spent > epochs:
                break
            value = regret
        return value

    def epochs_to(self, regret: float) -> int | None:
        """When the incumbent was that good for the first time."""
        return next((spent for spent, value in self.regrets if value <= regret), None)


def race(contestant: Contestant, task: Task, *, repeat: int, budget: int, workers: int) -> Race:
    result = Race()
    best = float("inf")
    running: list[tuple[float, int, Any, Point, int]] = []
    started = idle = 0
    while result.epochs < budget:
        while len(running) + idle < workers:
            chosen = _timed(result, contestant.suggest)
            if chosen is None:
                idle += 1
                continue
            started += 1
            now = running[0][0] - 1 if running else 0.0
            heapq.heappush(running, (now + 1, started, *chosen, 1))
        if not running:
            break
        now, number, handle, point, epoch = heapq.heappop(running)
        idle = 0
        result.epochs += 1
        loss = task.loss(point, epoch, repeat)
        if loss < best:
            best = loss
            result.regrets.append((result.epochs, task.regret(point)))
        goes_on = _timed(result, contestant.report, handle, epoch, loss)
        if goes_on and epoch < MAX_EPOCHS:
            heapq.heappush(running, (now + 1, number, handle, point, epoch + 1))
    return result


def _timed(result: Race, call: Any, *arguments: Any) -> Any:
    before = time.thread_time()
    answer = call(*arguments)
    result.seconds += time.thread_time() - before
    result.decisions += 1
    return answer
