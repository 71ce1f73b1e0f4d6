"""Clocks and rows of the tables."""

import time
from collections.abc import Callable


def best(work: Callable[[], object], rounds: int, clock: Callable[[], float] = time.perf_counter) -> float:
    times = []
    for _ in range(rounds):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def both_clocks(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the wall, and of this process's processor time, which a busy machine disturbs less."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.1f} ms"


def ratio(theirs: float, ours: float) -> str:
    return f"{theirs / ours:.1f}x"
