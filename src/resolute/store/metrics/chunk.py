"""A chunk: reports of one (trial, run, group) as columns, and its form in the database. Pure.

Numbers lie in packed 64-bit columns, whole numbers apart from real ones so that they come back as they were
written. What is no number (strings, flags, nested objects, per-batch metrics) is rare and kept as JSON beside them.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from resolute.domain.metric import MetricReport
from resolute.store.moment import from_microseconds, to_microseconds

Int64 = NDArray[np.int64]
_INT64_LIMIT = 1 << 63
_Found = dict[str, tuple[list[int] | None, list[object]]]
"""Name to (rows that have it, or None for all; values)."""


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Values of one metric. `rows` names the reports that have it; None: all do."""

    values: NDArray[Any]
    rows: NDArray[np.int32] | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows are sorted by step; within a step by id."""

    ids: Int64
    steps: Int64
    times_us: Int64
    columns: dict[str, NumberColumn]
    other: dict[int, dict[str, object]] = field(default_factory=dict)
    """Row to metrics that are no numbers."""
    batches: dict[int, list[dict[str, object]]] = field(default_factory=dict)
    """Row to `batch_metrics`."""

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class Entry:
    """One report inside a chunk, with the id it was given when it arrived."""

    id: int
    steps: int
    time_us: int
    metrics: dict[str, object]
    batch_metrics: list[dict[str, object]] | None = None


def entry_of(report: MetricReport, entry_id: int) -> Entry:
    return Entry(
        entry_id, report.steps_completed, to_microseconds(report.report_time), report.metrics, report.batch_metrics
    )


def report_of(entry: Entry, *, trial_id: int, run_id: int, group: str) -> MetricReport:
    return MetricReport(
        trial_id=trial_id,
        run_id=run_id,
        group=group,
        steps_completed=entry.steps,
        report_time=from_microseconds(entry.time_us),
        metrics=entry.metrics,
        batch_metrics=entry.batch_metrics,
    )


def build(entries: Sequence[Entry]) -> Chunk:
    """Columns from reports, which are sorted by (steps, id)."""
    columns, other = _split([entry.metrics for entry in entries])
    return Chunk(
        ids=np.array([entry.id for entry in entries], dtype=np.int64),
        steps=np.array([entry.steps for entry in entries], dtype=np.int64),
        times_us=np.array([entry.time_us for entry in entries], dtype=np.int64),
        columns=columns,
        other=other,
        batches={row: entry.batch_metrics for row, entry in enumerate(entries) if entry.batch_metrics is not None},
    )


def entries(chunk: Chunk) -> list[Entry]:
    """Inverse of `build`, but for the order of the names."""
    metrics: list[dict[str, object]] = [{} for _ in range(len(chunk))]
    for name, column in chunk.columns.items():
        rows: Iterable[int] = range(len(chunk)) if column.rows is None else column.rows.tolist()
        for row, value in zip(rows, column.values.tolist(), strict=True):
            metrics[row][name] = value
    for row, values in chunk.other.items():
        metrics[row].update(values)
    places = zip(chunk.ids.tolist(), chunk.steps.tolist(), chunk.times_us.tolist(), strict=True)
    return [Entry(*place, metrics[row], chunk.batches.get(row)) for row, place in enumerate(places)]


def entry_at(chunk: Chunk, steps: int) -> Entry | None:
    """The report at a step, without unpacking the others."""
    row = int(np.searchsorted(chunk.steps, steps))
    if row == len(chunk) or chunk.steps[row] != steps:
        return None
    metrics: dict[str, object] = {}
    for name, column in chunk.columns.items():
        place = row if column.rows is None else int(np.searchsorted(column.rows, row))
        if column.rows is None or (place < len(column.rows) and column.rows[place] == row):
            metrics[name] = column.values[place].item()
    metrics |= chunk.other.get(row, {})
    return Entry(int(chunk.ids[row]), steps, int(chunk.times_us[row]), metrics, chunk.batches.get(row))


def join(chunks: Sequence[Chunk]) -> Chunk:
    """One chunk with the rows of all."""
    rows = [entry for chunk in chunks for entry in entries(chunk)]
    return build(sorted(rows, key=lambda entry: (entry.steps, entry.id)))


def before(chunk: Chunk, steps: int) -> Chunk:
    """The rows below a step."""
    end = int(np.searchsorted(chunk.steps, steps, side="left"))
    if end == len(chunk):
        return chunk
    return build(entries(chunk)[:end])


# ------------------------------------------------------------------------------------------------------- building


def _split(reports: Sequence[dict[str, object]]) -> tuple[dict[str, NumberColumn], dict[int, dict[str, object]]]:
    if len(reports) <= 1:
        return _split_one(reports[0] if reports else {})
    names = reports[0].keys()
    if all(report.keys() == names for report in reports):
        found: _Found = {name: (None, [report[name] for report in reports]) for name in names}
    else:
        found = _gathered(reports)
    columns: dict[str, NumberColumn] = {}
    other: dict[int, dict[str, object]] = {}
    for name, (rows, values) in found.items():
        packed = _packed(values)
        if packed is not None:
            columns[name] = NumberColumn(packed, None if rows is None else np.array(rows, dtype=np.int32))
            continue
        _split_mixed(name, range(len(reports)) if rows is None else rows, values, columns, other)
    return columns, other


def _split_one(report: dict[str, object]) -> tuple[dict[str, NumberColumn], dict[int, dict[str, object]]]:
    """One report is the most frequent chunk of all, so it takes no detour."""
    columns: dict[str, NumberColumn] = {}
    rest: dict[str, object] = {}
    for name, value in report.items():
        if is_number(value):
            columns[name] = NumberColumn(np.array([value]))
        else:
            rest[name] = value
    return columns, {0: rest} if rest else {}


def _gathered(reports: Sequence[dict[str, object]]) -> _Found:
    found: dict[str, tuple[list[int], list[object]]] = {}
    for row, report in enumerate(reports):
        for name, value in report.items():
            rows, values = found.setdefault(name, ([], []))
            rows.append(row)
            values.append(value)
    return {name: (None if len(values) == len(reports) else rows, values) for name, (rows, values) in found.items()}


def _packed(values: list[object]) -> NDArray[Any] | None:
    """A packed column, or None when not every value is a number."""
    kinds = set(map(type, values))
    if kinds == {float}:
        return np.array(values, dtype=np.float64)
    if kinds <= {int, float} and all(map(is_number, values)):
        return np.array(values, dtype=np.int64 if kinds == {int} else np.float64)
    return None


def _split_mixed(
    name: str,
    rows: Iterable[int],
    values: list[object],
    columns: dict[str, NumberColumn],
    other: dict[int, dict[str, object]],
) -> None:
    numbers: list[tuple[int, object]] = []
    for row, value in zip(rows, values, strict=True):
        if is_number(value):
            numbers.append((row, value))
        else:
            other.setdefault(row, {})[name] = value
    packed = _packed([value for _, value in numbers]) if numbers else None
    if packed is not None:
        columns[name] = NumberColumn(packed, np.array([row for row, _ in numbers], dtype=np.int32))


def is_number(value: Any) -> bool:
    """A real or whole number that a 64-bit column can hold; True and False are flags, not numbers."""
    kind = type(value)
    return kind is float or (kind is int and -_INT64_LIMIT <= value < _INT64_LIMIT)


# ---------------------------------------------------------------------------------------------------- on the disk


class _Payload(msgspec.Struct, array_like=True, frozen=True):
    version: int
    ids: bytes
    steps: bytes
    times_us: bytes
    columns: dict[str, tuple[str, bytes, bytes | None]]
    """Name to (numpy type, values, rows)."""
    other: str
    """JSON of `other` and `batches`; empty when there is neither."""


class _OneColumn(msgspec.Struct, array_like=True, frozen=True):
    """The same bytes, read for the sake of one metric: the other columns are left alone."""

    version: int
    ids: bytes
    steps: bytes
    times_us: bytes
    columns: dict[str, msgspec.Raw]


_VERSION = 1
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Payload).decode
_decode_one = msgspec.msgpack.Decoder(_OneColumn).decode
_decode_column = msgspec.msgpack.Decoder(tuple[str, bytes, bytes | None]).decode


def encode(chunk: Chunk) -> bytes:
    packed = {
        name: (column.values.dtype.str, column.values.tobytes(), None if column.rows is None else column.rows.tobytes())
        for name, column in chunk.columns.items()
    }
    rest = json.dumps([chunk.other, chunk.batches]) if chunk.other or chunk.batches else ""
    return _encode(
        _Payload(_VERSION, chunk.ids.tobytes(), chunk.steps.tobytes(), chunk.times_us.tobytes(), packed, rest)
    )


def decode(payload: bytes) -> Chunk:
    stored = _decode(payload)
    other, batches = json.loads(stored.other) if stored.other else ({}, {})
    return Chunk(
        ids=np.frombuffer(stored.ids, dtype=np.int64),
        steps=np.frombuffer(stored.steps, dtype=np.int64),
        times_us=np.frombuffer(stored.times_us, dtype=np.int64),
        columns={name: _column(*parts) for name, parts in stored.columns.items()},
        other={int(row): values for row, values in other.items()},
        batches={int(row): values for row, values in batches.items()},
    )


def decode_points(payload: bytes, name: str) -> tuple[Int64, Int64, Int64, NDArray[np.float64]] | None:
    """(ids, steps, times, values) of one metric; None when the chunk has no number under that name."""
    stored = _decode_one(payload)
    raw = stored.columns.get(name)
    if raw is None:
        return None
    column = _column(*_decode_column(raw))
    ids = np.frombuffer(stored.ids, dtype=np.int64)
    steps = np.frombuffer(stored.steps, dtype=np.int64)
    times = np.frombuffer(stored.times_us, dtype=np.int64)
    values = column.values.astype(np.float64, copy=False)
    if column.rows is None:
        return ids, steps, times, values
    return ids[column.rows], steps[column.rows], times[column.rows], values


def _column(kind: str, values: bytes, rows: bytes | None) -> NumberColumn:
    return NumberColumn(np.frombuffer(values, dtype=kind), None if rows is None else np.frombuffer(rows, np.int32))
