"""Deployments and their revisions."""

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection, delete, func, select

from resolute.domain.deployment import Deployment, Revision, RevisionState
from resolute.domain.errors import AlreadyExists, NotFound
from resolute.store.db import tables
from resolute.store.db.rows import Rows

_rows = Rows(tables.deployments, Deployment)
_revisions = Rows(tables.revisions, Revision)
_t, _r = tables.deployments.c, tables.revisions.c
_OVER = (RevisionState.RETIRED, RevisionState.FAILED)


class DeploymentTable:
    """`engine.ports.registry.Deployments`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, deployment: Deployment) -> Deployment:
        if self.find(deployment.name, deployment.namespace) is not None:
            raise AlreadyExists(
                f"deployment {deployment.name!r} exists already in namespace {deployment.namespace!r}. "
                "Choose another name, or replace it."
            )
        return replace(deployment, id=_rows.add(self._connection, deployment))

    def get(self, deployment_id: int) -> Deployment:
        deployment = _rows.get(self._connection, deployment_id)
        if deployment is None:
            raise NotFound(f"deployment not found: {deployment_id}")
        return deployment

    def find(self, name: str, namespace: str = "default") -> Deployment | None:
        statement = _rows.select().where(_t.name == name, _t.namespace == namespace)
        return _rows.first(self._connection, statement)

    def save(self, deployment: Deployment) -> None:
        if not _rows.save(self._connection, deployment):
            raise NotFound(f"deployment not found: {deployment.id}")

    def remove(self, deployment_id: int) -> None:
        self._connection.execute(delete(tables.revisions).where(_r.deployment_id == deployment_id))
        self._connection.execute(delete(tables.deployments).where(_t.id == deployment_id))

    def all(self, *, visible_in: frozenset[int] | None = None) -> list[Deployment]:
        statement = _rows.select().order_by(_t.id)
        if visible_in is not None:
            statement = statement.where(_t.workspace_id.in_(visible_in))
        return _rows.all(self._connection, statement)

    def add_revision(self, revision: Revision) -> Revision:
        highest = select(func.max(_r.number)).where(_r.deployment_id == revision.deployment_id)
        number = (self._connection.execute(highest).scalar() or 0) + 1
        numbered = replace(revision, number=number)
        return replace(numbered, id=_revisions.add(self._connection, numbered))

    def save_revision(self, revision: Revision, *, expected: RevisionState | None = None) -> bool:
        if _revisions.save(self._connection, revision, expected=expected):
            return True
        if expected is None:
            raise NotFound(f"revision not found: {revision.number} of deployment {revision.deployment_id}")
        return False

    def revisions(self, deployment_id: int) -> list[Revision]:
        statement = _revisions.select().where(_r.deployment_id == deployment_id).order_by(_r.number.desc())
        return _revisions.all(self._connection, statement)

    def of_model_version(self, model_version_id: int) -> list[Revision]:
        statement = _revisions.select().where(_r.model_version_id == model_version_id).order_by(_r.id.desc())
        return _revisions.all(self._connection, statement)

    def of_checkpoints(self, uuids: Iterable[str]) -> list[Revision]:
        statement = _revisions.select().where(_r.checkpoint_uuid.in_(list(uuids)), _r.state.not_in(_OVER))
        return _revisions.all(self._connection, statement.order_by(_r.id))
