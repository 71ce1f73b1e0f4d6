"""Registered models and their versions."""

from sqlalchemy import Connection


class ModelTable:
    """`engine.registry_ports.Models`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
