"""Who used slots and for how long: raw intervals, and sums by day or month."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Query
from fastapi.responses import PlainTextResponse

from resolute.domain import needs
from resolute.domain.errors import InvalidInput
from resolute.domain.rights import Permission
from resolute.engine.platform import Platform
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.resource import Resource
from resolute.spec.wire import jobs as wire
from resolute.spec.wire.base import to_rfc3339
from resolute.spec.wire.enums import AggregationPeriod

router = Resource(tags=["history"])

After = Annotated[datetime, Query(alias="timestampAfter")]
Before = Annotated[datetime, Query(alias="timestampBefore")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Slots held by one allocation, cut to the asked interval."""

    kind: str
    start: datetime
    end: datetime
    slots: int
    pool: str
    experiment_id: int
    username: str
    user_id: int
    labels: tuple[str, ...]

    @property
    def slot_seconds(self) -> float:
        return (self.end - self.start).total_seconds() * self.slots


@router.get("/api/v1/resources/allocation/raw", needs=needs.VIEW_EXPERIMENT.listed)
def resource_allocation_raw(
    platform: PlatformOf, caller: Caller, after: After, before: Before
) -> wire.ResourceAllocationRawResponse:
    entries = [
        wire.ResourceAllocationRawEntry(
            kind=use.kind,
            start_time=use.start,
            end_time=use.end,
            experiment_id=use.experiment_id,
            username=use.username,
            user_id=use.user_id,
            labels=list(use.labels),
            seconds=(use.end - use.start).total_seconds(),
            slots=use.slots,
        )
        for use in _uses(platform, caller, _aware(after), _aware(before))
    ]
    return wire.ResourceAllocationRawResponse(resource_entries=entries)


@router.get("/api/v1/resources/allocation/aggregated", needs=needs.VIEW_EXPERIMENT.listed)
def resource_allocation_aggregated(
    platform: PlatformOf,
    caller: Caller,
    start_date: Annotated[str, Query(alias="startDate", description="2026-01-31, or 2026-01 for months.")],
    end_date: Annotated[str, Query(alias="endDate", description="The last day or month, included.")],
    period: AggregationPeriod = AggregationPeriod.DAILY,
) -> wire.ResourceAllocationAggregatedResponse:
    """Slot-seconds by user, label and pool."""
    entries = [
        _aggregated(platform, caller, start, end, period) for start, end in _periods(start_date, end_date, period)
    ]
    return wire.ResourceAllocationAggregatedResponse(resource_entries=entries)


# ------------------------------------------------------------------------------------------------------ as tables

AfterTime = Annotated[datetime, Query(alias="timestamp_after")]
BeforeTime = Annotated[datetime, Query(alias="timestamp_before")]
_USE_COLUMNS = ("experiment_id", "kind", "username", "labels", "slots", "start_time", "end_time", "seconds")


@router.get(
    "/resources/allocation/allocations-csv",
    needs=needs.VIEW_EXPERIMENT.listed,
    operation_id="AllocationsCsv",
    response_class=PlainTextResponse,
)
def allocations_csv(platform: PlatformOf, caller: Caller, after: AfterTime, before: BeforeTime) -> str:
    return _use_table(platform, caller, after, before)


@router.get(
    "/resources/allocation/raw",
    needs=needs.VIEW_EXPERIMENT.listed,
    operation_id="RawAllocationCsv",
    response_class=PlainTextResponse,
)
def raw_csv(platform: PlatformOf, caller: Caller, after: AfterTime, before: BeforeTime) -> str:
    return _use_table(platform, caller, after, before)


@router.get(
    "/resources/allocation/aggregated",
    needs=needs.VIEW_EXPERIMENT.listed,
    operation_id="AggregatedAllocationCsv",
    response_class=PlainTextResponse,
)
def aggregated_csv(
    platform: PlatformOf,
    caller: Caller,
    start_date: str,
    end_date: str,
    period: AggregationPeriod = AggregationPeriod.DAILY,
) -> str:
    rows: list[tuple[object, ...]] = []
    for start, end in _periods(start_date, end_date, period):
        entry = _aggregated(platform, caller, start, end, period)
        rows.append(("total", "total", entry.period_start, entry.seconds))
        groups = {
            "username": entry.by_username,
            "experiment_label": entry.by_experiment_label,
            "resource_pool": entry.by_resource_pool,
        }
        for kind, sums in groups.items():
            rows += [(kind, key, entry.period_start, seconds) for key, seconds in sorted(sums.items())]
    return _table(("aggregation_type", "aggregation_key", "date", "seconds"), rows)


def _use_table(platform: Platform, caller: Principal, after: datetime, before: datetime) -> str:
    rows: list[tuple[object, ...]] = []
    for use in _uses(platform, caller, _aware(after), _aware(before)):
        seconds = (use.end - use.start).total_seconds()
        who = (use.experiment_id, use.kind, use.username, ",".join(use.labels), use.slots)
        rows.append((*who, to_rfc3339(use.start), to_rfc3339(use.end), seconds))
    return _table(_USE_COLUMNS, rows)


def _table(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    table = io.StringIO()
    csv.writer(table).writerows([columns, *rows])
    return table.getvalue()


# ----------------------------------------------------------------------------------------------------- the sums


def _uses(platform: Platform, caller: Principal, start: datetime, end: datetime) -> list[Use]:
    """Of what ran in workspaces that the caller may see."""
    now = platform.clock()
    with platform.store.read() as tx:
        users = {user.id: user.username for user in tx.users.all()}
        workspaces = {project.id: project.workspace_id for project in tx.workspaces.projects()}
        uses = []
        for allocation in tx.allocations.between(start, end):
            if allocation.start_time is None:
                continue
            experiment = None
            if allocation.trial_id is not None:
                experiment = tx.experiments.get(tx.trials.get(allocation.trial_id).experiment_id)
            task = tx.tasks.get(allocation.task_id)
            workspace_id = workspaces[experiment.project_id] if experiment else task.workspace_id
            if not caller.lists(Permission.VIEW_EXPERIMENT_METADATA, workspace_id):
                continue
            user_id = experiment.user_id if experiment else task.user_id or 0
            uses.append(
                Use(
                    kind="experiment" if experiment else "task",
                    start=max(allocation.start_time, start),
                    end=min(allocation.end_time or now, end),
                    slots=allocation.slots_needed,
                    pool=allocation.resource_pool,
                    experiment_id=experiment.id if experiment else 0,
                    username=users.get(user_id, ""),
                    user_id=user_id,
                    labels=experiment.labels if experiment else (),
                )
            )
    return uses


def _aggregated(
    platform: Platform, caller: Principal, start: datetime, end: datetime, period: AggregationPeriod
) -> wire.ResourceAllocationAggregatedEntry:
    by_user: dict[str, float] = defaultdict(float)
    by_label: dict[str, float] = defaultdict(float)
    by_pool: dict[str, float] = defaultdict(float)
    uses = _uses(platform, caller, start, end)
    for use in uses:
        by_user[use.username] += use.slot_seconds
        by_pool[use.pool] += use.slot_seconds
        for label in use.labels:
            by_label[label] += use.slot_seconds
    return wire.ResourceAllocationAggregatedEntry(
        period_start=f"{start:%Y-%m}" if period is AggregationPeriod.MONTHLY else f"{start:%Y-%m-%d}",
        period=period,
        seconds=sum(use.slot_seconds for use in uses),
        by_username=dict(by_user),
        by_experiment_label=dict(by_label),
        by_resource_pool=dict(by_pool),
    )


def _periods(first: str, last: str, period: AggregationPeriod) -> Iterator[tuple[datetime, datetime]]:
    start, final = _date(first), _date(last)
    if (final - start).days > 3660:
        raise InvalidInput(f"startDate {first} to endDate {last} is more than ten years. Ask for less.")
    while start <= final:
        end = _next_month(start) if period is AggregationPeriod.MONTHLY else start + timedelta(days=1)
        yield start, end
        start = end


def _date(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text if len(text) > 7 else f"{text}-01").replace(tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is not a date such as 2026-01-31, nor a month such as 2026-01.") from error


def _next_month(start: datetime) -> datetime:
    return (start.replace(day=1) + timedelta(days=32)).replace(day=1)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
