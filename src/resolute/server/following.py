"""Reading a task's log, once or for as long as the task lives. Holds no thread while it waits."""

from collections.abc import AsyncIterator
from dataclasses import replace

from starlette.concurrency import run_in_threadpool

from resolute.domain.log import LogLine
from resolute.engine.jobs.task_moves import task_topic
from resolute.engine.platform import Platform
from resolute.engine.ports.logs import LogQuery
from resolute.server.watch import Watches

LINES_A_READ = 1000
LOOK_EVERY_S = 0.15
"""Half a second is promised; a stat of a file costs microseconds."""
CHECK_END_EVERY = 10
"""Looks between two checks for the task's end, should its notice be lost."""


async def log_batches(
    platform: Platform, watches: Watches, task_id: str, query: LogQuery, *, follow: bool
) -> AsyncIterator[list[LogLine]]:
    """Lines that match, oldest first unless the query says otherwise. With `follow` it ends when the task has."""
    if query.newest_first or not follow:
        async for batch in _stored(platform, task_id, query):
            yield batch
        return
    left = query.limit
    cursor: int | None = query.after_id
    with watches.open((task_topic(task_id),)) as watch:
        seen_size = -1
        looks = 0
        while True:
            noticed = bool(await watch.wait(LOOK_EVERY_S)) if looks else True
            looks += 1
            has_ended = watch.is_stopping
            if noticed or looks % CHECK_END_EVERY == 0:
                # Asked before the last read, so that what was written until the end is still read.
                has_ended = has_ended or await run_in_threadpool(_has_ended, platform, task_id)
            size = await run_in_threadpool(platform.logs.size, task_id)
            if size != seen_size:
                seen_size = size
                async for batch in _stored(platform, task_id, replace(query, after_id=cursor, limit=left)):
                    cursor = batch[-1].id
                    left = None if left is None else left - len(batch)
                    yield batch
            if has_ended or left == 0:
                return


async def _stored(platform: Platform, task_id: str, query: LogQuery) -> AsyncIterator[list[LogLine]]:
    """What is in the log now, in batches."""
    left = query.limit
    while left is None or left > 0:
        take = LINES_A_READ if left is None or query.newest_first is False else left
        take = min(take, left) if left is not None else take
        wanted = replace(query, limit=None if query.newest_first and left is None else take)
        batch = await run_in_threadpool(platform.logs.read, task_id, wanted)
        if batch:
            yield batch
        if wanted.limit is None or len(batch) < wanted.limit or query.newest_first:
            return
        left = None if left is None else left - len(batch)
        query = replace(query, after_id=batch[-1].id)


def _has_ended(platform: Platform, task_id: str) -> bool:
    with platform.store.read() as tx:
        return tx.tasks.get(task_id).end_time is not None
