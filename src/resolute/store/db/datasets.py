"""Dataset versions and the experiments that used them."""

from sqlalchemy import Connection


class DatasetTable:
    """`engine.registry_ports.Datasets`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
