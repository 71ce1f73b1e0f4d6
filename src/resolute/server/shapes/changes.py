"""Changes as they travel: in the audit log, and to those who follow them from outside. Pure."""

from resolute.domain.change import Change
from resolute.spec.wire import audit as wire
from resolute.spec.wire.base import json_safe


def change_message(change: Change) -> wire.AuditEntry:
    return wire.AuditEntry(
        id=change.seq,
        time=change.at,
        user_id=change.actor.user_id,
        username=change.actor.name,
        via=change.actor.via,
        address=change.actor.address,
        user_agent=change.actor.user_agent,
        action=change.action,
        kind=change.kind,
        thing_id=change.thing_id,
        workspace_id=change.workspace_id,
        from_state=change.from_state,
        to_state=change.to_state,
        detail=json_safe(change.detail),
    )
