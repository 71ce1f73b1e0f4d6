"""What every object of the SDK shares: the message it was made from, and reading it by one spelling."""

from datetime import datetime
from typing import Any

from resolute.client.session import Session


class Resource:
    """A thing on the master as it was when last read. `data` is the API's message."""

    def __init__(self, session: Session, data: dict[str, Any]) -> None:
        self.session = session
        self.data = data

    def _time(self, key: str) -> datetime | None:
        text = self.data.get(key)
        return datetime.fromisoformat(text) if text else None

    def _state(self) -> str:
        return bare(str(self.data.get("state") or ""))


def bare(word: str) -> str:
    """`STATE_ACTIVE` as people say it: ACTIVE."""
    return word.removeprefix("STATE_")


def part(answer: dict[str, Any], key: str) -> dict[str, Any]:
    """The message itself, however the master wrapped it."""
    inner = answer.get(key)
    return inner if isinstance(inner, dict) else answer
