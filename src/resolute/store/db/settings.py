"""Small facts of the cluster under a key."""

from typing import Any

from sqlalchemy import Connection, bindparam, select

from resolute.store.db import tables
from resolute.store.db.upsert import upsert

_VALUE = select(tables.settings.c.value).where(tables.settings.c.key == bindparam("of"))


class SettingTable:
    """`engine.ports.database.Settings`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, key: str) -> Any | None:
        return self._connection.execute(_VALUE, {"of": key}).scalar()

    def put(self, key: str, value: object) -> None:
        upsert(self._connection, tables.settings, {"key": key, "value": value})
