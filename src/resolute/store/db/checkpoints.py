"""Checkpoints' rows, and the views that join them with the metrics reported at their step."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, select

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.deployment import RevisionState
from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound
from resolute.domain.metric import TRAINING, VALIDATION
from resolute.engine.ports.queries import CheckpointQuery, CheckpointView, Page
from resolute.store.db import tables
from resolute.store.db.metrics import MetricTable
from resolute.store.db.paging import batched, ordered, paged, window
from resolute.store.db.rows import Rows, Statement
from resolute.store.metrics.summary import finite

_rows = Rows(tables.checkpoints, Checkpoint, key="uuid")
_t, _e, _trials = tables.checkpoints.c, tables.experiments.c, tables.trials.c
_revisions = tables.revisions.c
_is_served = _revisions.checkpoint_uuid.is_not(None) & _revisions.state.not_in(
    (RevisionState.RETIRED, RevisionState.FAILED)
)
_SORTS_BY_COLUMN = ("uuid", "trial_id", "steps_completed", "report_time", "state")


class CheckpointTable:
    """`engine.ports.database.Checkpoints`."""

    def __init__(self, connection: Connection, metrics: MetricTable) -> None:
        self._connection = connection
        self._metrics = metrics

    def add(self, checkpoint: Checkpoint) -> bool:
        known = _rows.get(self._connection, checkpoint.uuid)
        if known is None:
            _rows.add(self._connection, checkpoint, **self._derived(checkpoint))
            return True
        if known.trial_id != checkpoint.trial_id or known.task_id != checkpoint.task_id:
            raise AlreadyExists(
                f"checkpoint {checkpoint.uuid} exists already and belongs to trial {known.trial_id}. "
                "Write under a new uuid."
            )
        if known.resources != checkpoint.resources or known.steps_completed != checkpoint.steps_completed:
            raise AlreadyExists(
                f"checkpoint {checkpoint.uuid} exists already with other files. Write under a new uuid."
            )
        return False

    def get(self, uuid: str) -> Checkpoint:
        checkpoint = _rows.get(self._connection, uuid)
        if checkpoint is None:
            raise NotFound(f"checkpoint not found: {uuid}")
        return checkpoint

    def save(self, checkpoint: Checkpoint, *, expected: CheckpointState | None = None) -> bool:
        return _rows.save(self._connection, checkpoint, expected=expected, **self._derived(checkpoint))

    def view(self, uuid: str) -> CheckpointView:
        return self._views([self.get(uuid)])[0]

    def search(self, query: CheckpointQuery) -> Page[CheckpointView]:
        statement = _rows.select()
        if query.experiment_id is not None:
            statement = statement.where(_t.experiment_id == query.experiment_id)
        if query.trial_id is not None:
            statement = statement.where(_t.trial_id == query.trial_id)
        if query.states:
            statement = statement.where(_t.state.in_(query.states))
        if query.sort_by == "metric":
            return self._by_metric(statement, query)
        cut, offset, total = paged(self._connection, _sorted(statement, query), query.page)
        found = _rows.all(self._connection, cut)
        return Page(self._views(found), len(found) if total < 0 else total, offset)

    def of_trial(self, trial_id: int) -> list[Checkpoint]:
        newest_first = (_t.steps_completed.desc(), _t.report_time.desc(), _t.uuid)
        return _rows.all(self._connection, _rows.select().where(_t.trial_id == trial_id).order_by(*newest_first))

    def of_experiment(self, experiment_id: int) -> list[Checkpoint]:
        statement = _rows.select().where(_t.experiment_id == experiment_id)
        return _rows.all(self._connection, statement.order_by(_t.report_time, _t.uuid))

    def best_of(self, trial_ids: Sequence[int]) -> dict[int, Checkpoint]:
        found: dict[int, Checkpoint] = {}
        for some in batched(trial_ids):
            ranked = (
                select(_t.uuid, func.row_number().over(partition_by=_t.trial_id, order_by=_best_first()).label("place"))
                .outerjoin(tables.experiments, _e.id == _t.experiment_id)
                .where(_t.trial_id.in_(some), _t.state == CheckpointState.COMPLETED)
                .subquery()
            )
            statement = _rows.select().join(ranked, ranked.c.uuid == _t.uuid).where(ranked.c.place == 1)
            found |= {item.trial_id: item for item in _rows.all(self._connection, statement) if item.trial_id}
        return found

    def in_use(self, experiment_id: int) -> set[str]:
        begun_from = select(_trials.warm_start_checkpoint).where(_trials.warm_start_checkpoint.is_not(None))
        registered = select(tables.model_versions.c.checkpoint_uuid)
        served = select(_revisions.checkpoint_uuid).where(_is_served)
        is_held = _t.uuid.in_(begun_from) | _t.uuid.in_(registered) | _t.uuid.in_(served)
        statement = select(_t.uuid).where(_t.experiment_id == experiment_id, is_held)
        return set(self._connection.execute(statement).scalars())

    def _derived(self, checkpoint: Checkpoint) -> dict[str, object]:
        return {"size": checkpoint.size, "searcher_metric": self._searcher_metric(checkpoint)}

    def _searcher_metric(self, checkpoint: Checkpoint) -> float | None:
        if checkpoint.trial_id is None:
            return None
        report = self._metrics.at_steps(checkpoint.trial_id, VALIDATION, checkpoint.steps_completed)
        if report is None:
            return None
        return finite(report.metrics.get(self._metrics.searcher_metric_of(checkpoint.trial_id)))

    def _by_metric(self, statement: Statement, query: CheckpointQuery) -> Page[CheckpointView]:
        """Any other metric is looked up in the reports; the values are sorted here."""
        found = _rows.all(self._connection, statement.order_by(_t.report_time, _t.uuid))
        reported = self._metrics.at_checkpoints([item.uuid for item in found])
        sign = -1.0 if query.descending else 1.0

        def place(checkpoint: Checkpoint) -> tuple[bool, float]:
            validation = reported.get((checkpoint.uuid, VALIDATION), {})
            training = reported.get((checkpoint.uuid, TRAINING), {})
            value = finite(validation.get(query.sort_metric, training.get(query.sort_metric)))
            return value is None, sign * (value or 0.0)

        found.sort(key=place)
        offset, limit = window(query.page, len(found))
        kept = found[offset:] if limit is None else found[offset : offset + limit]
        return Page(self._views(kept), len(found), offset)

    def _views(self, found: Sequence[Checkpoint]) -> list[CheckpointView]:
        experiments = self._by_id(_e.id, _e.config, {item.experiment_id for item in found})
        hparams = self._by_id(_trials.id, _trials.hparams, {item.trial_id for item in found})
        values = self._by_id(_t.uuid, _t.searcher_metric, {item.uuid for item in found})
        reported = self._metrics.at_checkpoints([item.uuid for item in found])
        return [
            CheckpointView(
                checkpoint=item,
                experiment_config=experiments.get(item.experiment_id),
                hparams=hparams.get(item.trial_id),
                searcher_metric=values.get(item.uuid),
                training_metrics=reported.get((item.uuid, TRAINING), {}),
                validation_metrics=reported.get((item.uuid, VALIDATION), {}),
            )
            for item in found
        ]

    def _by_id(
        self, key: ColumnElement[object], value: ColumnElement[object], keys: Iterable[object]
    ) -> dict[Any, Any]:
        wanted = [item for item in keys if item is not None]
        found: dict[Any, Any] = {}
        for some in batched(wanted):
            found |= {row[0]: row[1] for row in self._connection.execute(select(key, value).where(key.in_(some)))}
        return found


def _sorted(statement: Statement, query: CheckpointQuery) -> Statement:
    if query.sort_by in _SORTS_BY_COLUMN:
        return statement.order_by(ordered(_t[query.sort_by], descending=bool(query.descending)), _t.uuid)
    if query.sort_by != "searcher_metric":
        known = ", ".join((*_SORTS_BY_COLUMN, "searcher_metric", "metric"))
        raise InvalidInput(f"Checkpoints cannot be sorted by {query.sort_by!r}. Use one of: {known}.")
    if query.descending is not None:
        return statement.order_by(ordered(_t.searcher_metric, descending=query.descending), _t.report_time, _t.uuid)
    return statement.outerjoin(tables.experiments, _e.id == _t.experiment_id).order_by(*_best_first())


def _best_first() -> tuple[ColumnElement[object], ...]:
    """By the searcher's metric, in the direction of the joined experiment."""
    cost = case((_e.smaller_is_better, _t.searcher_metric), else_=-_t.searcher_metric)
    return ordered(cost, descending=False), _t.report_time, _t.uuid
