"""Small facts of the cluster under a key."""

from typing import Any

from sqlalchemy import Connection, select

from resolute.store.db import tables
from resolute.store.db.upsert import upsert


class SettingTable:
    """`engine.ports.database.Settings`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, key: str) -> Any | None:
        statement = select(tables.settings.c.value).where(tables.settings.c.key == key)
        return self._connection.execute(statement).scalar()

    def put(self, key: str, value: object) -> None:
        upsert(self._connection, tables.settings, {"key": key, "value": value})
