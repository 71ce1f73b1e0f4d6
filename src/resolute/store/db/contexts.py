"""Uploaded model definitions under their content hash."""

import hashlib

from sqlalchemy import Connection, select

from resolute.domain.errors import NotFound
from resolute.store.db import tables


class ContextTable:
    """`engine.ports.database.Contexts`."""

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
