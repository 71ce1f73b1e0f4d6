"""Dataset versions and the experiments that used them."""

from dataclasses import replace

from sqlalchemy import Connection, Text, delete, func, insert, select, type_coerce

from resolute.domain.dataset import DatasetVersion
from resolute.domain.errors import NotFound
from resolute.store.db import tables
from resolute.store.db.rows import Rows
from resolute.store.db.settings import SettingTable

_rows = Rows(tables.datasets, DatasetVersion)
_t, _links = tables.datasets.c, tables.dataset_experiments.c


class DatasetTable:
    """`engine.ports.registry.Datasets`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, dataset: DatasetVersion) -> DatasetVersion:
        same = _rows.select().where(_t.name == dataset.name, _t.content_hash == dataset.content_hash)
        known = _rows.first(self._connection, same)
        if known is not None:
            return known
        numbered = replace(dataset, version=self._last_number(dataset.name) + 1)
        return replace(numbered, id=_rows.add(self._connection, numbered))

    def get(self, dataset_id: int) -> DatasetVersion:
        dataset = _rows.get(self._connection, dataset_id)
        if dataset is None:
            raise NotFound(f"dataset not found: {dataset_id}")
        return dataset

    def find(self, name: str, version: int | None = None) -> DatasetVersion | None:
        statement = _rows.select().where(_t.name == name).order_by(_t.version.desc())
        if version is not None:
            statement = statement.where(_t.version == version)
        return _rows.first(self._connection, statement)

    def save(self, dataset: DatasetVersion) -> None:
        if not _rows.save(self._connection, dataset):
            raise NotFound(f"dataset not found: {dataset.id}")

    def remove(self, dataset_id: int) -> None:
        dataset = _rows.get(self._connection, dataset_id)
        if dataset is None:
            return
        # Its number is remembered: `name:3` must never come to mean other files.
        SettingTable(self._connection).put(_number_key(dataset.name), self._last_number(dataset.name))
        self._connection.execute(delete(tables.dataset_experiments).where(_links.dataset_id == dataset_id))
        self._connection.execute(delete(tables.datasets).where(_t.id == dataset_id))

    def search(
        self, *, name_contains: str = "", workspace_id: int | None = None, visible_in: frozenset[int] | None = None
    ) -> list[DatasetVersion]:
        statement = _rows.select().order_by(_t.id.desc())
        if name_contains:
            statement = statement.where(func.lower(_t.name).contains(name_contains.lower(), autoescape=True))
        if workspace_id is not None:
            statement = statement.where(_t.workspace_id == workspace_id)
        if visible_in is not None:
            statement = statement.where(_t.workspace_id.in_(visible_in))
        return _rows.all(self._connection, statement)

    def link(self, experiment_id: int, dataset_id: int) -> None:
        known = select(_links.dataset_id).where(_links.experiment_id == experiment_id, _links.dataset_id == dataset_id)
        if self._connection.execute(known).first() is None:
            values = {"experiment_id": experiment_id, "dataset_id": dataset_id}
            self._connection.execute(insert(tables.dataset_experiments), values)

    def of_experiment(self, experiment_id: int) -> list[DatasetVersion]:
        statement = _rows.select().join(tables.dataset_experiments, _links.dataset_id == _t.id)
        statement = statement.where(_links.experiment_id == experiment_id)
        return _rows.all(self._connection, statement.order_by(_t.id))

    def experiments(self, dataset_id: int) -> list[int]:
        statement = select(_links.experiment_id).where(_links.dataset_id == dataset_id)
        return list(self._connection.execute(statement.order_by(_links.experiment_id.desc())).scalars())

    def children(self, dataset_id: int) -> list[DatasetVersion]:
        # The text of the column finds few rows; the elements themselves decide.
        candidates = _rows.select().where(type_coerce(_t.parents, Text).contains(str(dataset_id)))
        found = _rows.all(self._connection, candidates.order_by(_t.id))
        return [dataset for dataset in found if dataset_id in dataset.parents]

    def _last_number(self, name: str) -> int:
        """The highest ever given, also to versions that are gone."""
        stored = self._connection.execute(select(func.max(_t.version)).where(_t.name == name)).scalar()
        return max(stored or 0, SettingTable(self._connection).get(_number_key(name)) or 0)


def _number_key(name: str) -> str:
    return f"dataset/{name}/last_version"
