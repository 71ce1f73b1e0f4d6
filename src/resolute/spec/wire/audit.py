"""Messages of the audit log. Pure."""

from resolute.domain.change import Action, Via
from resolute.spec.wire.base import Time, Wire


class AuditEntry(Wire):
    id: int
    """Grows with time, with gaps."""
    time: Time
    user_id: int | None = None
    username: str = ""
    """As it was then. Empty: nobody was logged in."""
    via: Via
    """How whoever acted was known."""
    address: str = ""
    user_agent: str = ""
    action: Action
    kind: str
    """Of the thing: `experiment`, `user`, `deployment` ..."""
    thing_id: str
    workspace_id: int | None = None
    from_state: str = ""
    to_state: str = ""
    detail: dict[str, object] = {}
    """`changed`: old and new value by field; `also`: other fields that changed; and what names the thing."""


class GetAuditResponse(Wire):
    entries: list[AuditEntry] = []
    """Newest first."""
    next: int | None = None
    """Give it as `before` for older entries. Null: there are none."""
