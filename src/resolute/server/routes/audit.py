"""The audit log: the outbox, as administrators read it."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query

from resolute.domain import needs
from resolute.domain.change import Action
from resolute.engine.ports.changes import ChangeQuery
from resolute.server.auth import PlatformOf
from resolute.server.resource import Resource
from resolute.server.shapes.changes import change_message
from resolute.spec.wire import audit as wire

router = Resource(tags=["audit"])

_LONGEST_PAGE = 1000


@router.get("/api/v1/audit", needs=needs.ADMINISTRATE_USERS)
def get_audit(
    platform: PlatformOf,
    actor: Annotated[str, Query(description="A user's name, as it was then.")] = "",
    kind: Annotated[list[str], Query(description="Kinds of things, such as experiment or user.")] = [],  # noqa: B006
    thing_id: Annotated[str, Query(alias="thingId")] = "",
    action: Annotated[list[Action], Query()] = [],  # noqa: B006
    since: Annotated[datetime | None, Query(description="From then on; UTC when it names no zone.")] = None,
    until: Annotated[datetime | None, Query(description="Before then.")] = None,
    everybody: Annotated[bool, Query(description="Also what running tasks and the platform itself did.")] = False,
    before: Annotated[int | None, Query(ge=0, lt=2**63, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=_LONGEST_PAGE)] = 100,
) -> wire.GetAuditResponse:
    """Who did what, when and from where; newest first."""
    query = ChangeQuery(
        actor=actor,
        kinds=tuple(kind),
        thing_id=thing_id,
        actions=tuple(action),
        since=_in_utc(since),
        until=_in_utc(until),
        people_only=not everybody,
        before_seq=before,
        limit=limit + 1,
    )
    with platform.store.read() as tx:
        found = tx.changes.search(query)
    page = found[:limit]
    return wire.GetAuditResponse(
        entries=[change_message(change) for change in page], next=page[-1].seq if len(found) > limit else None
    )


def _in_utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
