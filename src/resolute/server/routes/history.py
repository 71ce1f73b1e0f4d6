"""Who used slots and for how long: raw intervals, and sums by day or month."""

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query
from fastapi.responses import PlainTextResponse

from resolute.domain import needs
from resolute.domain.rights import Permission
from resolute.domain.slot_use import Periods, SlotUse, UsageSums
from resolute.engine import usage
from resolute.engine.platform import Platform
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.resource import Resource
from resolute.spec.wire import jobs as wire
from resolute.spec.wire.base import to_rfc3339
from resolute.spec.wire.enums import AggregationPeriod

router = Resource(tags=["history"])

After = Annotated[datetime, Query(alias="timestampAfter")]
Before = Annotated[datetime, Query(alias="timestampBefore")]


@router.get("/api/v1/resources/allocation/raw", needs=needs.VIEW_EXPERIMENT.listed)
def resource_allocation_raw(
    platform: PlatformOf, caller: Caller, after: After, before: Before
) -> wire.ResourceAllocationRawResponse:
    entries = [
        wire.ResourceAllocationRawEntry(
            kind=_kind(use),
            start_time=use.start,
            end_time=use.end,
            experiment_id=use.experiment_id or 0,
            username=use.username,
            user_id=use.user_id,
            labels=list(use.labels),
            seconds=use.seconds,
            slots=use.slots,
        )
        for use in _uses(platform, caller, after, before)
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
        wire.ResourceAllocationAggregatedEntry(
            period_start=_name_of(sums.start, period),
            period=period,
            seconds=sums.seconds,
            by_username=sums.by_username,
            by_experiment_label=sums.by_label,
            by_resource_pool=sums.by_pool,
        )
        for sums in _sums(platform, caller, start_date, end_date, period)
    ]
    return wire.ResourceAllocationAggregatedResponse(resource_entries=entries)


# ------------------------------------------------------------------------------------------------------ as tables

AfterTime = Annotated[datetime, Query(alias="timestamp_after")]
BeforeTime = Annotated[datetime, Query(alias="timestamp_before")]
_ALLOCATION_COLUMNS = (
    *("allocation_id", "task_type", "username", "workspace_name", "experiment_id", "slots"),
    *("start_time", "end_time", "imagepulling_time", "slot_hours", "resource_pool"),
)
_USE_COLUMNS = ("experiment_id", "kind", "username", "labels", "slots", "start_time", "end_time", "seconds")


@router.get(
    "/resources/allocation/allocations-csv",
    needs=needs.VIEW_EXPERIMENT.listed,
    operation_id="AllocationsCsv",
    response_class=PlainTextResponse,
)
def allocations_csv(platform: PlatformOf, caller: Caller, after: AfterTime, before: BeforeTime) -> str:
    """One row for each claim on slots that held them in that time."""
    rows: list[tuple[object, ...]] = []
    for use in _uses(platform, caller, after, before):
        what = (use.allocation_id, use.task_type, use.username, use.workspace_name, use.experiment_id or "", use.slots)
        when = (to_rfc3339(use.start), to_rfc3339(use.end), 0)
        rows.append((*what, *when, use.slot_seconds / 3600, use.pool))
    return _table(_ALLOCATION_COLUMNS, rows)


@router.get(
    "/resources/allocation/raw",
    needs=needs.VIEW_EXPERIMENT.listed,
    operation_id="RawAllocationCsv",
    response_class=PlainTextResponse,
)
def raw_csv(platform: PlatformOf, caller: Caller, after: AfterTime, before: BeforeTime) -> str:
    return _use_table(_uses(platform, caller, after, before))


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
    for sums in _sums(platform, caller, start_date, end_date, period):
        start = _name_of(sums.start, period)
        rows.append(("total", "total", start, sums.seconds))
        groups = {"username": sums.by_username, "experiment_label": sums.by_label, "resource_pool": sums.by_pool}
        for kind, parts in groups.items():
            rows += [(kind, key, start, seconds) for key, seconds in sorted(parts.items())]
    return _table(("aggregation_type", "aggregation_key", "date", "seconds"), rows)


def _use_table(uses: Iterable[SlotUse]) -> str:
    rows: list[tuple[object, ...]] = []
    for use in uses:
        who = (use.experiment_id or 0, _kind(use), use.username, ",".join(use.labels), use.slots)
        rows.append((*who, to_rfc3339(use.start), to_rfc3339(use.end), use.seconds))
    return _table(_USE_COLUMNS, rows)


def _table(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    table = io.StringIO()
    csv.writer(table).writerows([columns, *rows])
    return table.getvalue()


# ------------------------------------------------------------------------------------------------------ what is asked


def _uses(platform: Platform, caller: Principal, after: datetime, before: datetime) -> list[SlotUse]:
    return usage.slot_uses(platform, _aware(after), _aware(before), visible_in=_visible(caller))


def _sums(platform: Platform, caller: Principal, first: str, last: str, period: AggregationPeriod) -> list[UsageSums]:
    periods = Periods.of(first, last, is_monthly=period is AggregationPeriod.MONTHLY)
    return usage.usage_by_period(platform, periods, visible_in=_visible(caller))


def _visible(caller: Principal) -> frozenset[int] | None:
    return caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA)


def _kind(use: SlotUse) -> str:
    return "task" if use.experiment_id is None else "experiment"


def _name_of(start: datetime, period: AggregationPeriod) -> str:
    return f"{start:%Y-%m}" if period is AggregationPeriod.MONTHLY else f"{start:%Y-%m-%d}"


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
