"""Who is calling: finding a token, and logging in when there is none."""

import hashlib
from collections.abc import Mapping

from resolute.client.credentials import TokenStore
from resolute.client.session import Session
from resolute.domain.errors import Forbidden, ResoluteError, Unauthenticated

DEFAULT_USER = "determined"
_SALT = "GubPEmmotfiK9TMD6Zdw"


def hashed(password: str) -> str:
    """What travels instead of a password. The empty password travels as it is."""
    return hashlib.sha512((_SALT + password).encode()).hexdigest() if password else ""


def log_in(session: Session, user: str, password: str) -> str:
    """A fresh token. Raises Unauthenticated or Forbidden with the master's sentence."""
    body = {"username": user, "password": hashed(password), "isHashed": True}
    try:
        return str(session.call("POST", "/api/v1/auth/login", body=body, is_open=True)["token"])
    except (Forbidden, Unauthenticated) as problem:
        raise type(problem)(
            f"{session.master} refused user {user!r}: {problem}. Check the name and the password."
        ) from problem


class Credentials:
    """Answers "which token?" for a session, trying in turn what was given, the environment, the store, a login."""

    def __init__(
        self,
        env: Mapping[str, str],
        store: TokenStore,
        *,
        user: str | None = None,
        password: str | None = None,
        token: str | None = None,
    ) -> None:
        self._env = env
        self._store = store
        self._password = password
        self._given_user = user
        self._token = token or (env.get("RESOLUTE_TOKEN") if user is None else None)
        self._was_asked = False

    def user(self, master: str) -> str:
        return self._given_user or self._env.get("DET_USER") or self._store.active_user(master) or DEFAULT_USER

    def __call__(self, session: Session) -> str:
        """Called again after the first answer was refused: then what was stored is thrown away."""
        is_refused, self._was_asked = self._was_asked, True
        if self._token:
            if is_refused:
                raise Unauthenticated(
                    f"{session.master} refused the token. Check RESOLUTE_TOKEN, or log in: resolute user login NAME"
                )
            return self._token
        user = self.user(session.master)
        if is_refused:
            self._store.forget(session.master, user)
        stored = self._store.token(session.master, user) if self._password is None else None
        return stored or self._fresh(session, user)

    def _fresh(self, session: Session, user: str) -> str:
        password = self._password if self._password is not None else self._env.get("DET_PASS", "")
        try:
            token = log_in(session, user, password)
        except ResoluteError as problem:
            if self._password is None and problem.code in ("unauthenticated", "forbidden"):
                raise Unauthenticated(
                    f"You are not logged in to {session.master} as {user}. Log in with: resolute user login {user}"
                ) from problem
            raise
        self._store.remember(session.master, user, token, is_active=False)
        return token
