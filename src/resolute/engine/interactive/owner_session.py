"""The sign-in that a task has in its owner's name: whatever runs in a notebook may do what its owner may.

Derived from the allocation, so that a master that died between making it and starting the task makes the same one; it
ends with the allocation.
"""

import hashlib
import hmac
from dataclasses import replace
from datetime import timedelta

from resolute.domain.task import Task
from resolute.domain.user import Session
from resolute.engine.jobs.fencing import hash_token, secret_of
from resolute.engine.jobs.gang import Launch
from resolute.engine.jobs.task_kind import Ending, end_with_processes
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import Flow, flow

_LIFE = timedelta(days=3650)
"""Longer than any task: it is revoked when the task ends."""


def session_variables(platform: Platform, launch: Launch) -> dict[str, str]:
    """What clients, ours and Determined's, take a sign-in from."""
    with flow(platform) as current:
        token = derived(secret_of(current.tx), "session", launch.allocation.id)
        if current.tx.users.session_by_token_hash(hash_token(token)) is None:
            session = Session(
                id=0,
                user_id=launch.task.user_id or 0,
                token_hash=hash_token(token),
                created_at=current.now,
                expires_at=current.now + _LIFE,
                description=f"task {launch.task.id}",
            )
            current.tx.users.add_session(session)
    return {"RESOLUTE_TOKEN": token, "DET_USER_TOKEN": token}


def end_with_session(current: Flow, ending: Ending) -> None:
    """The end of a task whose processes are gone, and of its sign-in."""
    token = derived(secret_of(current.tx), "session", ending.allocation.id)
    session = current.tx.users.session_by_token_hash(hash_token(token))
    if session is not None and not session.is_revoked:
        current.tx.users.save_session(replace(session, is_revoked=True))
        current.publish("users")
    end_with_processes(current, ending)


def visitors_token(secret: str, task: Task) -> str:
    """What a browser shows to the task's own server, which knows nothing of users."""
    return derived(secret, "visitor", task.id)


def derived(secret: str, purpose: str, name: str) -> str:
    return hmac.new(secret.encode(), f"{purpose} {name}".encode(), hashlib.sha256).hexdigest()
