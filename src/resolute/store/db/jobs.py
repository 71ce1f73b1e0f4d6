"""Jobs."""

from sqlalchemy import Connection, delete, select, update

from resolute.domain.errors import NotFound
from resolute.domain.job import Job
from resolute.store.db import tables
from resolute.store.db.allocations import LIVE
from resolute.store.db.rows import Rows

_rows = Rows(tables.jobs, Job)
_t, _allocations = tables.jobs.c, tables.allocations.c
# The scheduler asks this on every pass: made once, because making a statement costs as much as running it.
_IN_QUEUE = (
    _rows.select().where(_t.id.in_(select(_allocations.job_id).where(_allocations.state.in_(LIVE)))).order_by(_t.id)
)


class JobTable:
    """`engine.ports.database.Jobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, job: Job) -> None:
        _rows.add(self._connection, job)

    def get(self, job_id: str) -> Job:
        job = _rows.get(self._connection, job_id)
        if job is None:
            raise NotFound(f"job not found: {job_id}")
        return job

    def save(self, job: Job) -> None:
        if not _rows.save(self._connection, job):
            raise NotFound(f"job not found: {job.id}")

    def in_queue(self) -> list[Job]:
        return _rows.all(self._connection, _IN_QUEUE)

    def follow_project(self, project_id: int, workspace_id: int) -> None:
        own = select(tables.experiments.c.job_id).where(tables.experiments.c.project_id == project_id)
        self._connection.execute(update(tables.jobs).where(_t.id.in_(own)).values(workspace_id=workspace_id))

    def remove(self, job_id: str) -> None:
        self._connection.execute(delete(tables.jobs).where(_t.id == job_id))
