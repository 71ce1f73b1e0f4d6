"""Templates: parts of a configuration under a name."""

from sqlalchemy import Connection, delete, update

from resolute.domain.errors import AlreadyExists, NotFound
from resolute.domain.template import Template
from resolute.store.db import tables
from resolute.store.db.rows import Rows
from resolute.store.db.upsert import upsert

_templates = Rows(tables.templates, Template, key="name")


class TemplateTable:
    """`engine.ports.database.Templates`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, template: Template) -> None:
        values = {"name": template.name, "config": template.config, "workspace_id": template.workspace_id}
        upsert(self._connection, tables.templates, values)

    def get(self, name: str) -> Template:
        template = _templates.get(self._connection, name)
        if template is None:
            raise NotFound(f"template not found: {name}")
        return template

    def all(self, *, visible_in: frozenset[int] | None = None) -> list[Template]:
        statement = _templates.select().order_by(tables.templates.c.name)
        if visible_in is not None:
            statement = statement.where(tables.templates.c.workspace_id.in_(visible_in))
        return _templates.all(self._connection, statement)

    def remove(self, name: str) -> None:
        if not self._connection.execute(delete(tables.templates).where(tables.templates.c.name == name)).rowcount:
            raise NotFound(f"template not found: {name}")

    def rename(self, old: str, new: str) -> None:
        if new != old and _templates.get(self._connection, new) is not None:
            raise AlreadyExists(f"template {new!r} exists already. Choose another name.")
        renamed = update(tables.templates).where(tables.templates.c.name == old).values(name=new)
        if not self._connection.execute(renamed).rowcount:
            raise NotFound(f"template not found: {old}")
