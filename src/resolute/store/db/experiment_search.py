"""Lists of experiments: filters and sorting in one query, then what stands beside them in one query each."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, Text, bindparam, case, func, select, type_coerce

from resolute.domain.allocation import WAITS, AllocationState
from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import InvalidInput
from resolute.domain.experiment import Experiment
from resolute.domain.job import DEFAULT_POOL
from resolute.engine.ports.queries import ExperimentQuery, ExperimentSummary, Page
from resolute.store.db import tables
from resolute.store.db.paging import ordered, paged
from resolute.store.db.rows import Rows, Statement

_rows = Rows(tables.experiments, Experiment)
_j = tables.jobs.c
_e, _u, _p, _w = tables.experiments.c, tables.users.c, tables.projects.c, tables.workspaces.c
_trials, _checkpoints, _allocations = tables.trials.c, tables.checkpoints.c, tables.allocations.c
_JOINED: dict[str, ColumnElement[object]] = {
    "username": _u.username,
    "display_name": _u.display_name,
    "project_name": _p.name,
    "workspace_id": _w.id,
    "workspace_name": _w.name,
    "resource_pool": _j.resource_pool,
}


def search_experiments(connection: Connection, query: ExperimentQuery) -> Page[ExperimentSummary]:
    statement = _sorted(_filtered(_JOINED_ROWS, query), query)
    cut, offset, total = paged(connection, statement, query.page)
    rows = connection.execute(cut).all()
    return Page(_with_counts(connection, rows), len(rows) if total < 0 else total, offset)


_BESIDE = 8
"""How many columns `_joined` puts in front of the experiment's own."""


def _joined() -> Statement:
    place = (_p.name, _p.user_id, _w.id, _w.name, _is_parent_archived())
    beside = (_u.username, _u.display_name, *place, _j.resource_pool)
    return (
        select(*beside, *_rows.select().selected_columns)
        .select_from(tables.experiments)
        .outerjoin(tables.users, _u.id == _e.user_id)
        .outerjoin(tables.projects, _p.id == _e.project_id)
        .outerjoin(tables.workspaces, _w.id == _p.workspace_id)
        .outerjoin(tables.jobs, _j.id == _e.job_id)
    )


def _is_parent_archived() -> ColumnElement[bool]:
    return func.coalesce(_p.is_archived, False) | func.coalesce(_w.is_archived, False)


def _filtered(statement: Statement, query: ExperimentQuery) -> Statement:
    conditions: list[tuple[object, Callable[[], ColumnElement[bool]]]] = [
        (query.ids, lambda: _e.id.in_(query.ids)),
        (query.excluded_ids, lambda: _e.id.not_in(query.excluded_ids)),
        (query.hides_archived_parents, lambda: ~_is_parent_archived()),
        (query.states, lambda: _e.state.in_(query.states)),
        (query.name_contains, lambda: _contains(_e.name, query.name_contains)),
        (query.description_contains, lambda: _contains(_e.description, query.description_contains)),
        (query.archived is not None, lambda: _e.archived == query.archived),
        (query.project_id is not None, lambda: _e.project_id == query.project_id),
        (query.workspace_id is not None, lambda: _w.id == query.workspace_id),
        (query.visible_in is not None, lambda: _w.id.in_(query.visible_in or ())),
        (query.id_from is not None, lambda: _e.id >= query.id_from),
        (query.id_to is not None, lambda: _e.id <= query.id_to),
        # Names and ids are two ways to point at users, so either may match.
        (query.users or query.user_ids, lambda: _u.username.in_(query.users) | _e.user_id.in_(query.user_ids)),
    ]
    wanted = [condition() for is_set, condition in conditions if is_set]
    return statement.where(*wanted, *(_has_label(label) for label in query.labels))


def _contains(column: ColumnElement[str], part: str) -> ColumnElement[bool]:
    return func.lower(column).contains(part.lower(), autoescape=True)


def _has_label(label: str) -> ColumnElement[bool]:
    """Case-sensitive, whole label: the quoted text can stand nowhere else in the column (see `Elements`)."""
    text: ColumnElement[str] = type_coerce(_e.labels, Text)
    return func.replace(text, json.dumps(label), "") != text


def _sorted(statement: Statement, query: ExperimentQuery) -> Statement:
    if query.sort_by in _JOINED:
        return statement.order_by(ordered(_JOINED[query.sort_by], descending=query.descending), _e.id)
    if query.sort_by in _e:
        return statement.order_by(ordered(_e[query.sort_by], descending=query.descending), _e.id)
    counted = _counted(query.sort_by)
    if counted is None:
        raise InvalidInput(
            f"Experiments cannot be sorted by {query.sort_by!r}. Use id, name, start_time or num_trials."
        )
    beside, value = counted
    joined = statement.outerjoin(beside, beside.c.key == _e.id)
    return joined.order_by(ordered(value, descending=query.descending), _e.id)


def _counted(field: str) -> tuple[Subquery, ColumnElement[object]] | None:
    """A derived field as a grouped query to join, and the value to sort by."""
    match field:
        case "num_trials":
            counts = _per_experiment(_trials, func.count())
        case "checkpoint_count":
            counts = _per_experiment(_checkpoints, func.count(), _is_kept())
        case "checkpoint_size":
            counts = _per_experiment(_checkpoints, func.sum(_checkpoints.size), _is_kept())
        case "best_metric" | "best_trial_id":
            best = _best_trials().subquery()
            return best, best.c.value if field == "best_metric" else best.c.trial_id
        case _:
            return None
    return counts, func.coalesce(counts.c.value, 0)


def _per_experiment(columns: Any, value: ColumnElement[Any], *where: ColumnElement[bool]) -> Subquery:
    return (
        select(columns.experiment_id.label("key"), value.label("value"))
        .where(*where)
        .group_by(columns.experiment_id)
        .subquery()
    )


def _is_kept() -> ColumnElement[bool]:
    return _checkpoints.state != CheckpointState.DELETED


def _best_trials(*where: ColumnElement[bool]) -> Statement:
    """One row per experiment: key, trial_id and value of the trial with the best searcher metric."""
    value = _trials.searcher_metric_value
    cost = case((_e.smaller_is_better, value), else_=-value)
    place = func.row_number().over(partition_by=_trials.experiment_id, order_by=(cost, _trials.id))
    ranked = (
        select(_trials.experiment_id.label("key"), _trials.id.label("trial_id"), value.label("value"), place.label("n"))
        .join(tables.experiments, _e.id == _trials.experiment_id)
        .where(value.is_not(None), *where)
        .subquery()
    )
    return select(ranked.c.key, ranked.c.trial_id, ranked.c.value).where(ranked.c.n == 1)


def _with_counts(connection: Connection, rows: Sequence[Any]) -> list[ExperimentSummary]:
    experiments = [_rows.read(row[_BESIDE:]) for row in rows]
    ids = [experiment.id for experiment in experiments]
    trials = {row[0]: row[1] for row in connection.execute(_TRIALS_OF_THESE, {"ids": ids})}
    kept = {row[0]: (row[1], row[2]) for row in connection.execute(_CHECKPOINTS_OF_THESE, {"ids": ids})}
    best = {row.key: row for row in connection.execute(_BEST_OF_THESE, {"ids": ids})}
    allocated = _live_allocations(connection)
    summaries = []
    for row, experiment in zip(rows, experiments, strict=True):
        count, size = kept.get(experiment.id, (0, 0))
        queued, running = allocated.get(experiment.job_id, (0, 0))
        top = best.get(experiment.id)
        summaries.append(
            ExperimentSummary(
                experiment=experiment,
                username=row[0] or "",
                display_name=row[1] or "",
                project_name=row[2] or "",
                project_user_id=row[3] or 0,
                workspace_id=row[4] or 0,
                workspace_name=row[5] or "",
                is_parent_archived=bool(row[6]),
                resource_pool=row[7] or DEFAULT_POOL,
                num_trials=trials.get(experiment.id, 0),
                best_trial_id=None if top is None else top.trial_id,
                best_metric=None if top is None else top.value,
                checkpoint_count=count,
                checkpoint_size=int(size or 0),
                running_allocations=running,
                queued_allocations=queued,
            )
        )
    return summaries


def _live_allocations(connection: Connection) -> dict[str, tuple[int, int]]:
    """Job id to (queued, running); there are never many that are not over."""
    return {job: (int(queued), int(running)) for job, queued, running in connection.execute(_LIVE_BY_JOB)}


# Pages and scripts ask for these all the time: made once, because making a statement costs more than running it.
_JOINED_ROWS = _joined()
_THESE_TRIALS = _trials.experiment_id.in_(bindparam("ids", expanding=True))
_THESE_CHECKPOINTS = _checkpoints.experiment_id.in_(bindparam("ids", expanding=True))
_TRIALS_OF_THESE = select(_trials.experiment_id, func.count()).where(_THESE_TRIALS).group_by(_trials.experiment_id)
_CHECKPOINTS_OF_THESE = (
    select(_checkpoints.experiment_id, func.count(), func.sum(_checkpoints.size))
    .where(_THESE_CHECKPOINTS, _is_kept())
    .group_by(_checkpoints.experiment_id)
)
_BEST_OF_THESE = _best_trials(_THESE_TRIALS)
_IS_QUEUED = case((_allocations.state.in_(WAITS), 1), else_=0)
_LIVE_BY_JOB = (
    select(_allocations.job_id, func.sum(_IS_QUEUED), func.sum(1 - _IS_QUEUED))
    .where(_allocations.state.in_([state for state in AllocationState if state != AllocationState.TERMINATED]))
    .group_by(_allocations.job_id)
)
