"""Templates, uploaded model definitions and the small facts of the cluster: values under a key."""

import hashlib
from typing import Any

from sqlalchemy import Connection, delete, select, update

from resolute.domain.errors import AlreadyExists, NotFound
from resolute.domain.user import Template
from resolute.store.db import tables
from resolute.store.db.rows import Rows
from resolute.store.db.upsert import upsert

_templates = Rows(tables.templates, Template, key="name")


class TemplateTable:
    """`engine.ports.Templates`."""

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

    def all(self) -> list[Template]:
        return _templates.all(self._connection, _templates.select().order_by(tables.templates.c.name))

    def remove(self, name: str) -> None:
        if not self._connection.execute(delete(tables.templates).where(tables.templates.c.name == name)).rowcount:
            raise NotFound(f"template not found: {name}")

    def rename(self, old: str, new: str) -> None:
        if new != old and _templates.get(self._connection, new) is not None:
            raise AlreadyExists(f"template {new!r} exists already. Choose another name.")
        renamed = update(tables.templates).where(tables.templates.c.name == old).values(name=new)
        if not self._connection.execute(renamed).rowcount:
            raise NotFound(f"template not found: {old}")


class ContextTable:
    """`engine.ports.Contexts`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, content: bytes) -> str:
        context_id = hashlib.sha256(content).hexdigest()
        known = select(tables.contexts.c.id).where(tables.contexts.c.id == context_id)
        if self._connection.execute(known).first() is None:
            self._connection.execute(tables.contexts.insert(), {"id": context_id, "content": content})
        return context_id

    def get(self, context_id: str) -> bytes:
        statement = select(tables.contexts.c.content).where(tables.contexts.c.id == context_id)
        content: bytes | None = self._connection.execute(statement).scalar()
        if content is None:
            raise NotFound(f"model definition not found: {context_id}")
        return content


class SettingTable:
    """`engine.ports.Settings`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, key: str) -> Any | None:
        statement = select(tables.settings.c.value).where(tables.settings.c.key == key)
        return self._connection.execute(statement).scalar()

    def put(self, key: str, value: Any) -> None:
        upsert(self._connection, tables.settings, {"key": key, "value": value})
