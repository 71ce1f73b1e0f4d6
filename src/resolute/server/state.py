"""What routes reach beside the platform: facts of this process, waits, tokens, the log."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from resolute.engine.access.accounts import Whereabouts
from resolute.engine.jobs.allocations import AllGather
from resolute.server.auth import Tokens
from resolute.server.dataset_reader import DatasetReader
from resolute.server.health import HealthCheck
from resolute.server.logbook import Logbook
from resolute.server.logins import Logins
from resolute.server.proxy.origin import TaskOrigins
from resolute.server.watch import Watches

if TYPE_CHECKING:
    from resolute.server.proxy.requests import Upstreams


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    tokens: Tokens
    watches: Watches
    logbook: Logbook
    started_at: datetime
    health: HealthCheck
    whereabouts: Callable[[HTTPConnection], Whereabouts]
    """Where a log-in comes from."""
    master_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    gatherings: AllGather = field(default_factory=AllGather)
    datasets: DatasetReader = field(default_factory=DatasetReader)
    logins: Logins = field(default_factory=Logins)
    origins: TaskOrigins = field(default_factory=TaskOrigins)
    _upstreams: list["Upstreams"] = field(default_factory=list)

    def upstreams(self) -> "Upstreams":
        """Made when first asked for: a master without notebooks never loads a web client."""
        if not self._upstreams:
            from resolute.server.proxy.requests import Upstreams

            self._upstreams.append(Upstreams())
        return self._upstreams[0]

    async def close(self) -> None:
        for each in self._upstreams:
            await each.close()


async def _state(connection: HTTPConnection) -> ServerState:
    state: ServerState = connection.app.state.server
    return state


StateOf = Annotated[ServerState, Depends(_state)]
