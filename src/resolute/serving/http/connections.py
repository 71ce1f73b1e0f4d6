"""All connections of one listener: how many there may be, and which have to go."""

import asyncio
from heapq import nsmallest

from resolute.serving.http.connection import Application, Connection
from resolute.serving.http.limits import HttpLimits

_SWEEP_S = 1.0
_MADE_ROOM = 64
"""So many leave at once when there are too many, so that the search for them is worth its while."""


class Connections:
    """The `Site` of its connections. `create_server(lambda: Connection(site), ...)`."""

    def __init__(self, application: Application, limits: HttpLimits | None = None) -> None:
        self.application = application
        self.limits = limits or HttpLimits()
        self.open: set[Connection] = set()
        self.now = asyncio.get_running_loop().time

    def admit(self, connection: Connection) -> bool:
        """False: there are too many, and each of them is owed an answer."""
        if len(self.open) >= self.limits.connections and not self._make_room():
            return False
        self.open.add(connection)
        return True

    def forget(self, connection: Connection) -> None:
        self.open.discard(connection)

    def sweep(self) -> None:
        """To be called about once a second."""
        now = self.now()
        for connection in list(self.open):
            connection.check(now)

    async def sweep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)
            self.sweep()

    def close_idle(self) -> None:
        for connection in [each for each in self.open if each.is_idle]:
            connection.close()

    def close_all(self) -> None:
        for connection in list(self.open):
            connection.close()

    def _make_room(self) -> bool:
        unowed = nsmallest(_MADE_ROOM, (each for each in self.open if not each.is_owed), key=lambda each: each.since)
        for connection in unowed:
            connection.abort()
            self.open.discard(connection)
        return bool(unowed)
