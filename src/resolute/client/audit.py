"""The audit log: who did what, when and from where. For administrators."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from resolute.client.session import Session

Json = dict[str, Any]
_PAGE = 200


class Audit:
    def __init__(self, session: Session) -> None:
        self._session = session

    def entries(
        self,
        *,
        actor: str | None = None,
        kind: str | None = None,
        thing_id: str | None = None,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        everybody: bool = False,
        limit: int | None = None,
    ) -> Iterator[Json]:
        """Newest first, fetched as they are consumed. `everybody`: also what tasks and the platform itself did."""
        query: Json = {
            "actor": actor,
            "kind": kind,
            "thingId": thing_id,
            "action": action,
            "since": since and since.isoformat(),
            "until": until and until.isoformat(),
            "everybody": everybody or None,
        }
        before, left = None, limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            answer = self._session.get("/api/v1/audit", **query, before=before, limit=size)
            yield from answer["entries"]
            before = answer["next"]
            left = None if left is None else left - len(answer["entries"])
            if before is None:
                return
