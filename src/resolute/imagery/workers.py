"""The same function over many tasks on several processes, results as they come.

Knows nothing of images. A function given here catches what it expects and returns it; anything it raises ends the run.
"""

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.connection import wait as wait_for
from threading import Thread
from typing import Any, TypeVar

from resolute.domain.errors import Unavailable

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[int], None]
"""Called with how many units of work were just finished."""

_AHEAD = 3
"""Tasks in flight per worker: enough that none waits, few enough that memory stays flat."""


def default_workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    function: Callable[[Task], Result], tasks: Iterable[Task], *, workers: int | None = None
) -> Iterator[tuple[int, Result]]:
    """(index of the task, its result) in order of completion. One worker runs in this process."""
    count = default_workers() if workers is None else max(1, workers)
    waiting = enumerate(tasks)
    first = list(islice(waiting, 2))
    if count == 1 or len(first) < 2:
        for index, task in _chained(first, waiting):
            yield index, function(task)
        return
    yield from _in_processes(function, _chained(first, waiting), count)


def _in_processes(
    function: Callable[[Task], Result], tasks: Iterator[tuple[int, Task]], workers: int
) -> Iterator[tuple[int, Result]]:
    running: dict[Future[Result], int] = {}
    with ProcessPoolExecutor(workers, mp_context=_context(function.__module__), initializer=_start) as pool:
        try:
            while True:
                for index, task in islice(tasks, workers * _AHEAD - len(running)):
                    running[pool.submit(function, task)] = index
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        except BrokenProcessPool as problem:
            raise Unavailable(
                "A worker process was ended from outside, most likely for want of memory. "
                "Run it again with fewer workers (--workers 1); what is done is kept."
            ) from problem
        finally:
            for future in running:
                future.cancel()


def _start() -> None:
    """Each process has one core to itself: threads inside would only get in the way."""
    import cv2

    cv2.setNumThreads(1)
    # What was imported stays: the cycle collector need not walk over it again and again.
    gc.freeze()
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A worker whose parent was killed would wait for its next task for ever."""
    wait_for([parent])
    os._exit(1)


def _context(module: str) -> Any:
    """Not fork: the progress bar and the libraries below have threads. Workers fork from a server that has imported
    what they need, once for all of them."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module])
    return context


def _chained(first: list[tuple[int, Task]], rest: Iterator[tuple[int, Task]]) -> Iterator[tuple[int, Task]]:
    yield from first
    yield from rest
