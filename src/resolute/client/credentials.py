"""Tokens of past logins, in one file that only its owner can read. Knows nothing of HTTP."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resolute.domain.errors import Unavailable

_VERSION = 2


def default_path(env: Mapping[str, str]) -> Path:
    root = env.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(root) / "resolute" / "auth.json"


class TokenStore:
    """`{"version": 2, "masters": {url: {"active_user": name, "tokens": {user: token}}}}`.

    A damaged file counts as empty: the cost is one more login.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def active_user(self, master: str) -> str | None:
        user = self._of(self._read(), master).get("active_user")
        return user if isinstance(user, str) else None

    def token(self, master: str, user: str) -> str | None:
        token = self._of(self._read(), master).get("tokens", {}).get(user)
        return token if isinstance(token, str) else None

    def remember(self, master: str, user: str, token: str, *, is_active: bool) -> None:
        content = self._read()
        entry = self._of(content, master)
        entry["tokens"] = {**entry.get("tokens", {}), user: token}
        if is_active:
            entry["active_user"] = user
        content["masters"] = {**content.get("masters", {}), master: entry}
        self._write(content)

    def forget(self, master: str, user: str) -> None:
        content = self._read()
        entry = self._of(content, master)
        if entry.get("tokens", {}).pop(user, None) is None and entry.get("active_user") != user:
            return
        if entry.get("active_user") == user:
            entry["active_user"] = None
        content.setdefault("masters", {})[master] = entry
        self._write(content)

    def _of(self, content: dict[str, Any], master: str) -> dict[str, Any]:
        entry = content.get("masters", {}).get(master)
        return entry if isinstance(entry, dict) else {}

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return {"version": _VERSION, "masters": {}}
        is_ours = isinstance(content, dict) and isinstance(content.get("masters"), dict)
        return content if is_ours else {"version": _VERSION, "masters": {}}

    def _write(self, content: dict[str, Any]) -> None:
        """Whole or not at all; mkstemp makes the file readable by its owner only."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".auth-")
            with os.fdopen(handle, "w") as file:
                json.dump({**content, "version": _VERSION}, file, indent=1)
            os.replace(temporary, self.path)
        except OSError as problem:
            raise Unavailable(
                f"The login could not be saved to {self.path}: {problem.strerror}. "
                "Make the folder writable, or give a token in RESOLUTE_TOKEN."
            ) from problem
