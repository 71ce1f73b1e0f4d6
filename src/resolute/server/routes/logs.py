"""Logs of trials and tasks: read, followed, filtered, and shipped by tasks that are not ours."""

import functools
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import Body, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from resolute.domain import needs
from resolute.domain.errors import InvalidInput
from resolute.domain.log import NO_RANK, LogLine, LogStream
from resolute.domain.rights import Permission
from resolute.engine.jobs.log_origin import LogOrigins, Wanted
from resolute.engine.platform import Platform
from resolute.engine.ports.logs import LogQuery
from resolute.server.auth import Caller, PlatformOf
from resolute.server.following import log_batches
from resolute.server.resource import Resource
from resolute.server.shapes.logs import domain_levels, domain_streams, posted_line, task_line, trial_line
from resolute.server.state import ServerState, StateOf
from resolute.server.streams import stream
from resolute.spec.wire import enums
from resolute.spec.wire import tasks as wire
from resolute.spec.wire.base import Empty

router = Resource(tags=["logs"])


async def _log_query(
    limit: Annotated[int, Query(description="At most this many lines; 0: all.")] = 0,
    rank_ids: Annotated[list[int], Query(alias="rankIds")] = [],  # noqa: B006
    levels: Annotated[list[enums.LogLevel], Query()] = [],  # noqa: B006
    stdtypes: Annotated[list[str], Query()] = [],  # noqa: B006
    before: Annotated[datetime | None, Query(alias="timestampBefore")] = None,
    after: Annotated[datetime | None, Query(alias="timestampAfter")] = None,
    text: Annotated[str, Query(alias="searchText")] = "",
    is_regex: Annotated[bool, Query(alias="enableRegex")] = False,
    sources: Annotated[list[str], Query(description="task: what was printed; platform or master: what we say.")] = [],  # noqa: B006
    after_id: Annotated[int | None, Query(alias="afterId", description="Only lines after this id.")] = None,
    order_by: Annotated[enums.OrderBy, Query(alias="orderBy")] = enums.OrderBy.UNSPECIFIED,
) -> LogQuery:
    if limit < 0:
        raise InvalidInput(f"limit: {limit} must not be negative.")
    return LogQuery(
        ranks=tuple(rank_ids),
        levels=domain_levels(levels),
        streams=domain_streams(stdtypes, sources),
        since_us=_microseconds(after),
        until_us=_microseconds(before),
        text=text,
        is_regex=is_regex,
        after_id=after_id,
        limit=limit or None,
        newest_first=order_by is enums.OrderBy.DESC,
    )


def _microseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1_000_000)


Filter = Annotated[LogQuery, Depends(_log_query)]


async def _wanted(
    allocation_ids: Annotated[list[str], Query(alias="allocationIds")] = [],  # noqa: B006
    agent_ids: Annotated[list[str], Query(alias="agentIds")] = [],  # noqa: B006
    container_ids: Annotated[
        list[str], Query(alias="containerIds", description="Nothing runs in containers of its own here: matches none.")
    ] = [],  # noqa: B006
) -> Wanted:
    nowhere = ("",) if container_ids else ()
    return Wanted(allocation_ids=(*allocation_ids, *nowhere), node_ids=tuple(agent_ids))


Origin = Annotated[Wanted, Depends(_wanted)]


def _told(platform: Platform, task_id: str, query: LogQuery, wanted: Wanted) -> tuple[LogQuery, LogOrigins]:
    with platform.store.read() as tx:
        origins = LogOrigins.of_task(tx, task_id)
    if wanted.is_all:
        return query, origins
    return replace(query, accepts=lambda line: origins.accepts(line, wanted)), origins


@router.get(
    "/api/v1/trials/{trial_id}/logs",
    needs=needs.VIEW_ARTIFACTS.or_own_task,
    responses={200: {"model": wire.TrialLogsResponse}},
)
async def trial_logs(
    trial_id: int, platform: PlatformOf, state: StateOf, query: Filter, wanted: Origin, follow: bool = False
) -> StreamingResponse:
    """One JSON object per line. With `follow`, until the trial ends."""
    task_id = await run_in_threadpool(_task_of, platform, trial_id)
    shape = functools.partial(trial_line, trial_id=trial_id)
    return stream(_lines(platform, state, task_id, query, wanted, follow=follow, shape=shape))


def _task_of(platform: Platform, trial_id: int) -> str:
    with platform.store.read() as tx:
        return tx.trials.get(trial_id).task_id


async def _lines(
    platform: Platform,
    state: ServerState,
    task_id: str,
    query: LogQuery,
    wanted: Wanted,
    *,
    follow: bool,
    shape: Callable[[LogLine], dict[str, object]],
) -> AsyncIterator[list[dict[str, object]]]:
    narrowed, origins = await run_in_threadpool(_told, platform, task_id, query, wanted)
    async for batch in log_batches(platform, state.watches, task_id, narrowed, follow=follow):
        if follow:  # a restart while somebody listens is another try
            _, origins = await run_in_threadpool(_told, platform, task_id, query, wanted)
        yield [shape(origins.told(line)) for line in batch]


@router.get(
    "/api/v1/tasks/{task_id}/logs",
    needs=needs.VIEW_ARTIFACTS.or_own_task,
    responses={200: {"model": wire.TaskLogsResponse}},
)
async def task_logs(
    task_id: str, platform: PlatformOf, state: StateOf, query: Filter, wanted: Origin, follow: bool = False
) -> StreamingResponse:
    await run_in_threadpool(_require_task, platform, task_id)
    shape = functools.partial(task_line, task_id=task_id)
    return stream(_lines(platform, state, task_id, query, wanted, follow=follow, shape=shape))


def _require_task(platform: Platform, task_id: str) -> None:
    with platform.store.read() as tx:
        tx.tasks.get(task_id)


@router.get(
    "/api/v1/trials/{trial_id}/logs/fields",
    needs=needs.VIEW_ARTIFACTS.or_own_task,
    responses={200: {"model": wire.LogFieldsResponse}},
)
async def trial_logs_fields(trial_id: int, platform: PlatformOf) -> StreamingResponse:
    """What the lines can be filtered by."""
    task_id = await run_in_threadpool(_task_of, platform, trial_id)
    return stream(_fields(platform, task_id))


@router.get(
    "/api/v1/tasks/{task_id}/logs/fields",
    needs=needs.VIEW_ARTIFACTS.or_own_task,
    responses={200: {"model": wire.LogFieldsResponse}},
)
async def task_logs_fields(task_id: str, platform: PlatformOf) -> StreamingResponse:
    await run_in_threadpool(_require_task, platform, task_id)
    return stream(_fields(platform, task_id))


async def _fields(platform: Platform, task_id: str) -> AsyncIterator[list[dict[str, object]]]:
    newest = await run_in_threadpool(platform.logs.read, task_id, LogQuery(limit=10_000, newest_first=True))
    ranks = sorted({line.rank for line in newest if line.rank != NO_RANK})
    names = {LogStream.STDOUT: "stdout", LogStream.STDERR: "stderr"}
    _, origins = await run_in_threadpool(_told, platform, task_id, LogQuery(), Wanted())
    yield [
        {
            "agentIds": origins.node_ids,
            "allocationIds": origins.allocation_ids,
            "containerIds": [],
            "rankIds": ranks,
            "sources": ["platform", "task"],
            "stdtypes": sorted({names[line.stream] for line in newest if line.stream in names}),
        }
    ]


# --------------------------------------------------------------------------------------------------------- shipped


@router.post("/api/v1/task/logs", needs=needs.REPORT.in_body.or_any_task)
def post_task_logs(body: wire.PostTaskLogsRequest, platform: PlatformOf, caller: Caller) -> Empty:
    _append(platform, caller, body.logs)
    return Empty()


@router.post("/task-logs", needs=needs.REPORT.in_body.or_any_task, operation_id="PostTaskLogsArray")
def post_task_logs_array(body: Annotated[Any, Body()], platform: PlatformOf, caller: Caller) -> Empty:
    """As above, from the shipper of scripts that run outside the platform: a bare list."""
    if not isinstance(body, list) and body:
        raise InvalidInput(f"Send a list of {{task_id, timestamp, log}}, not {body!r:.80}.")
    try:
        logs = [wire.PostedLog.model_validate(each) for each in body or ()]
    except ValidationError as error:
        raise InvalidInput(
            f"Send a list of {{task_id, timestamp, log}}: {error.error_count()} entries are none."
        ) from error
    _append(platform, caller, logs)
    return Empty()


def _append(platform: Platform, caller: Caller, logs: list[wire.PostedLog]) -> None:
    by_task: dict[str, list[wire.PostedLog]] = {}
    for each in logs:
        by_task.setdefault(each.task_id, []).append(each)
    for task_id in by_task:
        caller.require("task_id", task_id)
        with platform.store.read() as tx:
            caller.check(tx, Permission.REPORT_FOR_TASK, "task_id", tx.tasks.get(task_id).id)
    now = platform.clock()
    for task_id, lines in by_task.items():
        platform.logs.append(task_id, [posted_line(line, now) for line in lines])
