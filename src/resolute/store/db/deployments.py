"""Deployments and their revisions."""

from sqlalchemy import Connection


class DeploymentTable:
    """`engine.registry_ports.Deployments`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
