"""Trials."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, bindparam, case, func, select, type_coerce

from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.metric import VALIDATION
from resolute.domain.trial import FINISHED, Trial, TrialSource, TrialState
from resolute.engine.ports.queries import Page, TrialQuery
from resolute.store.db import tables
from resolute.store.db.paging import batched, ordered, paged
from resolute.store.db.rows import Rows, Statement
from resolute.store.db.upsert import upsert

_rows = Rows(tables.trials, Trial)
_t, _e, _checkpoints, _summaries = (
    tables.trials.c,
    tables.experiments.c,
    tables.checkpoints.c,
    tables.metric_summaries.c,
)
_sources = tables.trial_sources.c
_SORTS_BY_COLUMN = ("id", "start_time", "end_time", "state", "total_batches", "restarts")
_FOREVER = 1 << 62
_BY_TASK = _rows.select().where(_t.task_id == bindparam("task")).limit(1)
_BY_REQUEST = (
    _rows.select().where(_t.experiment_id == bindparam("experiment"), _t.request_id == bindparam("request")).limit(1)
)
_IDS_OF = select(_t.id).where(_t.experiment_id.in_(bindparam("experiments", expanding=True))).order_by(_t.id)


class TrialTable:
    """`engine.ports.database.Trials`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, trial: Trial) -> Trial:
        named = replace(trial, task_id=trial.task_id or f"{trial.experiment_id}.{trial.request_id}")
        return replace(named, id=_rows.add(self._connection, named))

    def get(self, trial_id: int) -> Trial:
        trial = _rows.get(self._connection, trial_id)
        if trial is None:
            raise NotFound(f"trial not found: {trial_id}")
        return trial

    def of_ids(self, trial_ids: Sequence[int]) -> list[Trial]:
        found = {
            trial.id: trial
            for some in batched(trial_ids)
            for trial in _rows.all(self._connection, _rows.select().where(_t.id.in_(some)))
        }
        return [found[trial_id] for trial_id in dict.fromkeys(trial_ids) if trial_id in found]

    def save(self, trial: Trial, *, expected: TrialState | None = None) -> bool:
        return _rows.save(self._connection, trial, expected=expected)

    def by_request_id(self, experiment_id: int, request_id: str) -> Trial | None:
        return _rows.find(self._connection, _BY_REQUEST, experiment=experiment_id, request=request_id)

    def by_task_id(self, task_id: str) -> Trial | None:
        return _rows.find(self._connection, _BY_TASK, task=task_id)

    def by_external_id(self, experiment_id: int, external_id: str) -> Trial | None:
        same = and_(_t.experiment_id == experiment_id, _t.external_id == external_id)
        return _rows.first(self._connection, _rows.select().where(same))

    def of_experiment(self, experiment_id: int, *, unfinished_only: bool = False) -> list[Trial]:
        statement = _rows.select().where(_t.experiment_id == experiment_id).order_by(_t.id)
        if unfinished_only:
            statement = statement.where(_t.state.in_([state for state in TrialState if state not in FINISHED]))
        return _rows.all(self._connection, statement)

    def ids_of(self, experiment_ids: Sequence[int]) -> list[int]:
        return list(self._connection.execute(_IDS_OF, {"experiments": experiment_ids}).scalars())

    def silent_since(self, moment: datetime) -> list[Trial]:
        said = and_(_t.state == TrialState.ACTIVE, _t.unmanaged, _t.heartbeat_at < moment)
        return _rows.all(self._connection, _rows.select().where(said).order_by(_t.id))

    def with_log_retention(self) -> list[Trial]:
        ended = and_(_t.end_time.is_not(None), _t.log_retention_days >= 0)
        return _rows.all(self._connection, _rows.select().where(ended).order_by(_t.id))

    def put_source(self, source: TrialSource) -> None:
        upsert(self._connection, tables.trial_sources, asdict(source))

    def sources(self, *, checkpoint_uuid: str | None = None, model: tuple[int, int] | None = None) -> list[TrialSource]:
        statement = select(*_sources)
        if checkpoint_uuid is not None:
            statement = statement.where(_sources.checkpoint_uuid == checkpoint_uuid)
        if model is not None:
            statement = statement.where(_sources.model_id == model[0], _sources.model_version == model[1])
        return [TrialSource(**row._mapping) for row in self._connection.execute(statement.order_by(_sources.trial_id))]

    def search(self, query: TrialQuery) -> Page[Trial]:
        statement = _rows.select()
        if query.experiment_id is not None:
            statement = statement.where(_t.experiment_id == query.experiment_id)
        if query.states:
            statement = statement.where(_t.state.in_(query.states))
        cut, offset, total = paged(self._connection, _sorted(statement, query), query.page)
        items = _rows.all(self._connection, cut)
        return Page(items, len(items) if total < 0 else total, offset)

    def checkpoint_totals(self, trial_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
        statement = (
            select(_checkpoints.trial_id, func.count(), func.sum(_checkpoints.size))
            .where(_checkpoints.trial_id.in_(trial_ids), _checkpoints.state != CheckpointState.DELETED)
            .group_by(_checkpoints.trial_id)
        )
        return {trial_id: (count, int(size)) for trial_id, count, size in self._connection.execute(statement)}


def _sorted(statement: Statement, query: TrialQuery) -> Statement:
    value: ColumnElement[Any]
    if query.sort_by in _SORTS_BY_COLUMN:
        return statement.order_by(ordered(_t[query.sort_by], descending=query.descending), _t.id)
    match query.sort_by:
        case "duration":
            # One that still runs is longer than any that ended; the clock is not asked.
            end, start = type_coerce(_t.end_time, BigInteger), type_coerce(_t.start_time, BigInteger)
            value = func.coalesce(end, _FOREVER) - start
        case "best_metric":
            statement = statement.join(tables.experiments, _e.id == _t.experiment_id)
            value = case((_e.smaller_is_better, _t.searcher_metric_value), else_=-_t.searcher_metric_value)
        case "latest_metric":
            statement, value = _with_latest_metric(statement)
        case "checkpoint_size":
            statement, value = _with_checkpoint_size(statement)
        case _:
            known = ", ".join((*_SORTS_BY_COLUMN, "duration", "best_metric", "latest_metric", "checkpoint_size"))
            raise InvalidInput(f"Trials cannot be sorted by {query.sort_by!r}. Use one of: {known}.")
    return statement.order_by(ordered(value, descending=query.descending), _t.id)


def _with_latest_metric(
    statement: Statement,
) -> tuple[Statement, ColumnElement[object]]:
    of_searcher = and_(
        _summaries.trial_id == _t.id, _summaries.group == VALIDATION, _summaries.name == _e.searcher_metric
    )
    joined = statement.join(tables.experiments, _e.id == _t.experiment_id)
    return joined.outerjoin(tables.metric_summaries, of_searcher), _summaries.last_number


def _with_checkpoint_size(
    statement: Statement,
) -> tuple[Statement, ColumnElement[object]]:
    sizes = (
        select(_checkpoints.trial_id, func.sum(_checkpoints.size).label("size"))
        .where(_checkpoints.state != CheckpointState.DELETED)
        .group_by(_checkpoints.trial_id)
        .subquery()
    )
    return statement.outerjoin(sizes, sizes.c.trial_id == _t.id), func.coalesce(sizes.c.size, 0)
