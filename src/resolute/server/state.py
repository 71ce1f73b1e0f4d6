"""What routes reach beside the platform: facts of this process, waits, tokens, the log."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from resolute.engine.access.accounts import Whereabouts
from resolute.engine.jobs.allocations import AllGather
from resolute.server.auth import Tokens
from resolute.server.dataset_reader import DatasetReader
from resolute.server.health import HealthCheck
from resolute.server.logbook import Logbook
from resolute.server.logins import Logins
from resolute.server.watch import Watches


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


async def _state(connection: HTTPConnection) -> ServerState:
    state: ServerState = connection.app.state.server
    return state


StateOf = Annotated[ServerState, Depends(_state)]
