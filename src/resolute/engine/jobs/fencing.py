"""Who may still write: the current run of a trial, and the token of a live allocation."""

import hashlib
import hmac

from resolute.domain.errors import Fenced
from resolute.domain.trial import Trial
from resolute.engine.ports.database import Transaction

SECRET_KEY = "allocation_secret"


def allocation_token(secret: str, allocation_id: str) -> str:
    """Derived, not drawn: a master that died between starting a gang and writing it down derives the same one."""
    return hmac.new(secret.encode(), allocation_id.encode(), hashlib.sha256).hexdigest()


def hash_token(token: str) -> str:
    """What is stored in place of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def check_run(trial: Trial, run_id: int) -> None:
    """Refuse a report of an older (or unknown) run; nothing of it may be written."""
    if trial.unmanaged or trial.run_id == run_id:
        return
    raise Fenced(
        f"Trial {trial.id} is in run {trial.run_id}; this report is from run {run_id}, which has been replaced. "
        "Stop this process: its successor is running."
    )


def secret_of(tx: Transaction) -> str:
    secret = tx.settings.get(SECRET_KEY)
    if secret is None:
        raise RuntimeError("the store has no allocation secret; EngineLoop.start creates it")
    return str(secret)
