"""Tasks."""

from collections.abc import Iterable

from sqlalchemy import Connection

from resolute.domain.errors import NotFound
from resolute.domain.task import Task
from resolute.store.db import tables
from resolute.store.db.rows import Rows

_rows = Rows(tables.tasks, Task)
_t = tables.tasks.c


class TaskTable:
    """`engine.ports.database.Tasks`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, task: Task) -> None:
        _rows.add(self._connection, task)

    def get(self, task_id: str) -> Task:
        task = _rows.get(self._connection, task_id)
        if task is None:
            raise NotFound(f"task not found: {task_id}")
        return task

    def save(self, task: Task) -> None:
        if not _rows.save(self._connection, task):
            raise NotFound(f"task not found: {task.id}")

    def search(self, *, types: Iterable[str] = (), active_only: bool = False) -> list[Task]:
        statement = _rows.select().order_by(_t.start_time, _t.id)
        wanted = list(types)
        if wanted:
            statement = statement.where(_t.type.in_(wanted))
        if active_only:
            statement = statement.where(_t.end_time.is_(None))
        return _rows.all(self._connection, statement)

    def children(self, task_id: str) -> list[Task]:
        statement = _rows.select().where(_t.parent_id == task_id).order_by(_t.start_time, _t.id)
        return _rows.all(self._connection, statement)
