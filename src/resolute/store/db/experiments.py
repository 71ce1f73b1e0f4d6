"""Experiments and their searchers' snapshots."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import Connection, bindparam, delete, or_, select

from resolute.domain.errors import NotFound
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.engine.ports.queries import ExperimentQuery, ExperimentSummary, Page, SearcherHead
from resolute.search.patch import patched
from resolute.store.db import tables
from resolute.store.db.columns import document
from resolute.store.db.experiment_search import search_experiments
from resolute.store.db.hot import HotStatement
from resolute.store.db.paging import batched
from resolute.store.db.rows import Rows
from resolute.store.db.upsert import upsert

_rows = Rows(tables.experiments, Experiment)
_t = tables.experiments.c
_snapshots, _patches = tables.searcher_snapshots.c, tables.searcher_patches.c
_PROGRESS = select(_t.id, _t.progress).where(_t.id.in_(bindparam("ids", expanding=True)))
_OWN_PATCHES = _patches.experiment_id == bindparam("experiment")
_SNAPSHOT = select(_snapshots.snapshot).where(_snapshots.experiment_id == bindparam("experiment"))
_PATCHES = select(_patches.patch).where(_OWN_PATCHES).order_by(_patches.number)
_DELETE_PATCHES = delete(tables.searcher_patches).where(_OWN_PATCHES)
_STAMP = HotStatement("SELECT stamp FROM searcher_snapshots WHERE experiment_id = :experiment")
_NEWEST_PATCH = HotStatement(
    "SELECT stamp, number FROM searcher_patches WHERE experiment_id = :experiment ORDER BY number DESC LIMIT 1"
)
_ADD_PATCH = HotStatement(
    "INSERT INTO searcher_patches (experiment_id, number, stamp, patch) VALUES (:experiment, :number, :stamp, :patch)"
)


class ExperimentTable:
    """`engine.ports.database.Experiments`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, experiment: Experiment, *, searcher_snapshot: dict[str, object] | None) -> Experiment:
        stored = replace(experiment, id=_rows.add(self._connection, experiment, **_searcher(experiment)))
        if searcher_snapshot is not None:
            self.save_searcher_snapshot(stored.id, searcher_snapshot)
        return stored

    def get(self, experiment_id: int) -> Experiment:
        experiment = _rows.get(self._connection, experiment_id)
        if experiment is None:
            raise NotFound(f"experiment not found: {experiment_id}")
        return experiment

    def save(self, experiment: Experiment, *, expected: ExperimentState | None = None) -> bool:
        return _rows.save(self._connection, experiment, expected=expected, **_searcher(experiment))

    def searcher_snapshot(self, experiment_id: int) -> dict[str, object] | None:
        snapshot = self._connection.execute(_SNAPSHOT, {"experiment": experiment_id}).scalar()
        for (patch,) in self._connection.execute(_PATCHES, {"experiment": experiment_id}):
            snapshot = patched(snapshot, patch)
        state: dict[str, object] | None = snapshot
        return state

    def searcher_head(self, experiment_id: int) -> SearcherHead | None:
        newest = _NEWEST_PATCH.first(self._connection, {"experiment": experiment_id})
        if newest is not None:
            return SearcherHead(*newest)
        whole = _STAMP.first(self._connection, {"experiment": experiment_id})
        return None if whole is None else SearcherHead(whole[0] or "", 0)

    def save_searcher_snapshot(self, experiment_id: int, snapshot: dict[str, object], *, stamp: str = "") -> None:
        values = {"experiment_id": experiment_id, "snapshot": snapshot, "stamp": stamp or None}
        upsert(self._connection, tables.searcher_snapshots, values)
        self._connection.execute(_DELETE_PATCHES, {"experiment": experiment_id})

    def add_searcher_patch(self, experiment_id: int, patch: dict[str, object], *, number: int, stamp: str) -> None:
        values = {"experiment": experiment_id, "number": number, "stamp": stamp, "patch": document(patch)}
        _ADD_PATCH.run(self._connection, values)

    def progress(self, experiment_ids: Sequence[int]) -> dict[int, float]:
        rows = self._connection.execute(_PROGRESS, {"ids": experiment_ids})
        return {row.id: row.progress for row in rows}

    def searcher_metrics(self, experiment_ids: Iterable[int]) -> dict[int, tuple[str, bool]]:
        looked_at = select(_t.id, _t.searcher_metric, _t.smaller_is_better)
        found = (self._connection.execute(looked_at.where(_t.id.in_(some))) for some in batched(list(experiment_ids)))
        return {key: (metric, smaller) for rows in found for key, metric, smaller in rows}

    def in_states(self, states: Iterable[ExperimentState]) -> list[Experiment]:
        return _rows.all(self._connection, _rows.select().where(_t.state.in_(list(states))).order_by(_t.id))

    def by_external_id(self, external_id: str) -> Experiment | None:
        return _rows.first(self._connection, _rows.select().where(_t.external_id == external_id))

    def search(self, query: ExperimentQuery) -> Page[ExperimentSummary]:
        return search_experiments(self._connection, query)

    def remove(self, experiment_id: int) -> None:
        trials = select(tables.trials.c.id).where(tables.trials.c.experiment_id == experiment_id)
        trial_tasks = select(tables.trials.c.task_id).where(tables.trials.c.experiment_id == experiment_id)
        job = self._connection.execute(select(_t.job_id).where(_t.id == experiment_id)).scalars().all()
        context = self._connection.execute(select(_t.context_id).where(_t.id == experiment_id)).scalar()
        for table in (tables.metric_chunks, tables.metric_heads, tables.metric_summaries, tables.trial_sources):
            self._connection.execute(delete(table).where(table.c.trial_id.in_(trials)))
        for table in (
            tables.checkpoints,
            tables.searcher_patches,
            tables.searcher_snapshots,
            tables.dataset_experiments,
        ):
            self._connection.execute(delete(table).where(table.c.experiment_id == experiment_id))
        allocations, tasks = tables.allocations, tables.tasks
        own_allocation = or_(allocations.c.task_id.in_(trial_tasks), allocations.c.job_id.in_(job))
        own_ids = select(allocations.c.id).where(own_allocation)
        self._connection.execute(delete(tables.gang_nodes).where(tables.gang_nodes.c.allocation_id.in_(own_ids)))
        self._connection.execute(delete(allocations).where(own_allocation))
        self._connection.execute(delete(tasks).where(or_(tasks.c.id.in_(trial_tasks), tasks.c.job_id.in_(job))))
        self._connection.execute(delete(tables.trials).where(tables.trials.c.experiment_id == experiment_id))
        self._connection.execute(delete(tables.experiments).where(_t.id == experiment_id))
        self._connection.execute(delete(tables.jobs).where(tables.jobs.c.id.in_(job)))
        if context is not None:
            self._remove_unused_context(context)

    def _remove_unused_context(self, context_id: str) -> None:
        """Experiments of the same code share one, and tasks may run it."""
        users = (
            select(table.c.id).where(table.c.context_id == context_id) for table in (tables.experiments, tables.tasks)
        )
        if not any(self._connection.execute(each.limit(1)).first() for each in users):
            self._connection.execute(delete(tables.contexts).where(tables.contexts.c.id == context_id))


def _searcher(experiment: Experiment) -> dict[str, object]:
    """Copies of two settings beside `config`; see the table."""
    if not experiment.config.get("searcher"):
        return {"searcher_metric": "", "smaller_is_better": True}
    return {"searcher_metric": experiment.searcher_metric, "smaller_is_better": experiment.smaller_is_better}
