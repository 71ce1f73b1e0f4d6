"""Registered models and their versions."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, Text, delete, func, select, type_coerce, update

from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound
from resolute.domain.model import Model, ModelVersion, Stage
from resolute.engine.ports.queries import PageRequest
from resolute.engine.ports.registry import ModelQuery
from resolute.store.db import tables
from resolute.store.db.paging import batched, ordered, paged
from resolute.store.db.rows import Rows, Statement

_rows = Rows(tables.models, Model)
_versions = Rows(tables.model_versions, ModelVersion, state="stage")
_t, _v, _u, _w = tables.models.c, tables.model_versions.c, tables.users.c, tables.workspaces.c
_VERSION_COUNT = (
    select(func.count()).where(_v.model_id == _t.id).correlate(tables.models).scalar_subquery().label("num_versions")
)
_SORTS: dict[str, ColumnElement[object]] = {
    "id": _t.id,
    "name": _t.name,
    "description": _t.description,
    "creation_time": _t.creation_time,
    "last_updated_time": _t.last_updated_time,
    "num_versions": _VERSION_COUNT,
    "workspace": _w.name,
}


class ModelTable:
    """`engine.ports.registry.Models`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, model: Model) -> Model:
        self._refuse_taken_name(model)
        return replace(model, id=_rows.add(self._connection, model))

    def get(self, model_id: int) -> Model:
        model = _rows.get(self._connection, model_id)
        if model is None:
            raise NotFound(f"model not found: {model_id}")
        return model

    def by_name(self, name: str) -> Model | None:
        return _rows.first(self._connection, _rows.select().where(_t.name == name))

    def save(self, model: Model) -> None:
        self._refuse_taken_name(model)
        if not _rows.save(self._connection, model):
            raise NotFound(f"model not found: {model.id}")

    def remove(self, model_id: int) -> None:
        self._connection.execute(delete(tables.model_versions).where(_v.model_id == model_id))
        self._connection.execute(delete(tables.models).where(_t.id == model_id))

    def search(self, query: ModelQuery) -> tuple[list[Model], int]:
        if query.sort_by not in _SORTS:
            raise InvalidInput(f"Models cannot be sorted by {query.sort_by!r}. Use one of: {', '.join(_SORTS)}.")
        order = (ordered(_SORTS[query.sort_by], descending=query.descending), _t.id)
        statement = _filtered(_joined(), query).order_by(*order)
        cut, _, total = paged(self._connection, statement, PageRequest(offset=query.offset, limit=query.limit))
        found = _rows.all(self._connection, cut)
        return found, len(found) if total < 0 else total

    def version_counts(self, model_ids: Iterable[int]) -> dict[int, int]:
        """Models without any are left out."""
        counts: dict[int, int] = {}
        for some in batched(list(model_ids)):
            statement = select(_v.model_id, func.count()).where(_v.model_id.in_(some)).group_by(_v.model_id)
            counts |= {row[0]: row[1] for row in self._connection.execute(statement)}
        return counts

    def labels(self, workspace_id: int | None = None, *, visible_in: frozenset[int] | None = None) -> list[str]:
        statement = select(_t.labels)
        if workspace_id is not None:
            statement = statement.where(_t.workspace_id == workspace_id)
        if visible_in is not None:
            statement = statement.where(_t.workspace_id.in_(visible_in))
        counts = Counter(label for labels in self._connection.execute(statement).scalars() for label in labels)
        return sorted(counts, key=lambda label: (-counts[label], label))

    # ---------------------------------------------------------------------------------------------------- versions

    def add_version(self, version: ModelVersion) -> ModelVersion:
        raised = update(tables.models).where(_t.id == version.model_id).values(last_version=_t.last_version + 1)
        number = self._connection.execute(raised.returning(_t.last_version)).scalar()
        if number is None:
            raise NotFound(f"model not found: {version.model_id}")
        numbered = replace(version, version=number)
        return replace(numbered, id=_versions.add(self._connection, numbered))

    def version(self, model_id: int, number: int) -> ModelVersion:
        statement = _versions.select().where(_v.model_id == model_id, _v.version == number)
        version = _versions.first(self._connection, statement)
        if version is None:
            raise NotFound(f"model version not found: version {number} of model {model_id}")
        return version

    def version_by_id(self, version_id: int) -> ModelVersion:
        version = _versions.get(self._connection, version_id)
        if version is None:
            raise NotFound(f"model version not found: {version_id}")
        return version

    def save_version(self, version: ModelVersion, *, expected: Stage | None = None) -> bool:
        if _versions.save(self._connection, version, expected=expected):
            return True
        if expected is None:
            raise NotFound(f"model version not found: {version.id}")
        return False

    def remove_version(self, version_id: int) -> None:
        self._connection.execute(delete(tables.model_versions).where(_v.id == version_id))

    def versions(self, model_id: int) -> list[ModelVersion]:
        statement = _versions.select().where(_v.model_id == model_id)
        return _versions.all(self._connection, statement.order_by(_v.version.desc()))

    def versions_of_checkpoints(self, uuids: Iterable[str]) -> list[ModelVersion]:
        found: list[ModelVersion] = []
        for some in batched(list(uuids)):
            found += _versions.all(self._connection, _versions.select().where(_v.checkpoint_uuid.in_(some)))
        return sorted(found, key=lambda version: version.id)

    def _refuse_taken_name(self, model: Model) -> None:
        holder = self.by_name(model.name)
        if holder is not None and holder.id != model.id:
            raise AlreadyExists(f"model {model.name!r} exists already (id {holder.id}). Choose another name.")


def _joined() -> Statement:
    return (
        _rows.select()
        .select_from(tables.models)
        .outerjoin(tables.users, _u.id == _t.user_id)
        .outerjoin(tables.workspaces, _w.id == _t.workspace_id)
    )


def _filtered(statement: Statement, query: ModelQuery) -> Statement:
    conditions: list[tuple[object, Callable[[], ColumnElement[bool]]]] = [
        (query.id is not None, lambda: _t.id == query.id),
        (query.name_contains, lambda: _contains(_t.name, query.name_contains)),
        (query.description_contains, lambda: _contains(_t.description, query.description_contains)),
        (query.visible_in is not None, lambda: _t.workspace_id.in_(query.visible_in or ())),
        (query.archived is not None, lambda: _t.archived == query.archived),
        # Names and ids are two ways to point at the same thing, so either may match.
        (query.users or query.user_ids, lambda: _u.username.in_(query.users) | _t.user_id.in_(query.user_ids)),
        (
            query.workspace_ids or query.workspace_names,
            lambda: _w.name.in_(query.workspace_names) | _t.workspace_id.in_(query.workspace_ids),
        ),
    ]
    wanted = [condition() for is_set, condition in conditions if is_set]
    return statement.where(*wanted, *(_has_label(label) for label in query.labels))


def _contains(column: ColumnElement[str], part: str) -> ColumnElement[bool]:
    return func.lower(column).contains(part.lower(), autoescape=True)


def _has_label(label: str) -> ColumnElement[bool]:
    """Case-sensitive, whole label: the quoted text can stand nowhere else in the column (see `Elements`)."""
    text: ColumnElement[str] = type_coerce(_t.labels, Text)
    return func.replace(text, json.dumps(label), "") != text
