"""Users, their sessions and their web UI settings."""

from dataclasses import replace

from sqlalchemy import Connection, bindparam, delete, select

from resolute.domain.errors import AlreadyExists, NotFound
from resolute.domain.user import Session, User
from resolute.store.db import tables
from resolute.store.db.rows import Rows

_rows = Rows(tables.users, User)
_sessions = Rows(tables.sessions, Session)
_t, _s, _settings = tables.users.c, tables.sessions.c, tables.user_settings.c
_ALL = _rows.select().order_by(_t.id)
_BY_TOKEN = _sessions.select().where(_s.token_hash == bindparam("token")).limit(1)


class UserTable:
    """`engine.ports.database.Users`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, user: User) -> User:
        if self.by_name(user.username) is not None:
            raise AlreadyExists(f"user {user.username!r} exists already. Choose another name.")
        return replace(user, id=_rows.add(self._connection, user))

    def get(self, user_id: int) -> User:
        user = _rows.get(self._connection, user_id)
        if user is None:
            raise NotFound(f"user not found: {user_id}")
        return user

    def by_name(self, username: str) -> User | None:
        return _rows.first(self._connection, _rows.select().where(_t.username == username))

    def save(self, user: User) -> None:
        holder = self.by_name(user.username)
        if holder is not None and holder.id != user.id:
            raise AlreadyExists(f"user {user.username!r} exists already. Choose another name.")
        if not _rows.save(self._connection, user):
            raise NotFound(f"user not found: {user.id}")

    def all(self) -> list[User]:
        return _rows.all(self._connection, _ALL)

    def add_session(self, session: Session) -> Session:
        return replace(session, id=_sessions.add(self._connection, session))

    def session_by_token_hash(self, token_hash: str) -> Session | None:
        return _sessions.find(self._connection, _BY_TOKEN, token=token_hash)

    def sessions(self, user_id: int | None = None) -> list[Session]:
        statement = _sessions.select().order_by(_s.id)
        if user_id is not None:
            statement = statement.where(_s.user_id == user_id)
        return _sessions.all(self._connection, statement)

    def save_session(self, session: Session) -> None:
        if not _sessions.save(self._connection, session):
            raise NotFound(f"session not found: {session.id}")

    def settings(self, user_id: int) -> dict[str, str]:
        statement = select(_settings.key, _settings.value).where(_settings.user_id == user_id)
        rows = self._connection.execute(statement.order_by(_settings.key))
        return {row.key: row.value for row in rows}

    def save_settings(self, user_id: int, settings: dict[str, str]) -> None:
        """Replace them all."""
        self._connection.execute(delete(tables.user_settings).where(_settings.user_id == user_id))
        rows = [{"user_id": user_id, "key": key, "value": value} for key, value in settings.items()]
        if rows:
            self._connection.execute(tables.user_settings.insert(), rows)
