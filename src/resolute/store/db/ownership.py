"""One master per database: who owns it, and what a master does that no longer does.

The owner holds a lock for as long as it lives: on PostgreSQL a session lock on a connection of its own, beside SQLite
the lock of a file. Each owner also has a number, one more than the last. On PostgreSQL every write compares it with
the stored one, so a master whose lock went with its connection cannot write once another has taken over.
"""

import fcntl
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Protocol

from sqlalchemy import Connection, Engine, create_engine, inspect
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from resolute.domain.errors import Unavailable
from resolute.store.db.settings import SettingTable

log = logging.getLogger(__name__)

OWNER = "master"
"""The setting that names the owner, for people."""
GENERATION = "master_generation"
_LOCK_CLASS = 7_364_856
"""First half of the lock's key; the second is the schema, so that each schema of a database has its own owner."""
WAIT_S = 5.0
"""How long a starting master waits for the lock: PostgreSQL may take a moment to notice that its owner was killed."""
LOOK_EVERY_S = 2.0
# A server that hears nothing from the owner's machine gives the lock back after 10 + 3 * 5 seconds.
_SESSION = (
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "
    "SET idle_session_timeout = 0"
)
_TRY_LOCK = f"SELECT pg_try_advisory_lock({_LOCK_CLASS}, hashtext(current_schema()))"
_STORED_GENERATION = f"SELECT value FROM settings WHERE key = '{GENERATION}'"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Owner:
    """A master, as another one would name it to its operator."""

    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)
    since: str = field(default_factory=_now)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


class Lock(Protocol):
    """Belongs to this process until `close`, or until what holds it breaks."""

    def take(self) -> bool:
        """True: it is ours now, or was already. Raises what the driver raises when the database is away."""

    def is_ours(self) -> bool: ...
    def close(self) -> None: ...


class FileLock:
    """Of a file beside an SQLite database; the database itself must not be opened twice by one process."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + ".lock")
        self._file: IO[str] | None = None

    def take(self) -> bool:
        opened = self._path.open("a")
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            opened.close()
            return False
        self._file = opened
        return True

    def is_ours(self) -> bool:
        return self._file is not None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class SessionLock:
    """Of a PostgreSQL session: gone with its connection, whoever closes it."""

    def __init__(self, url: URL) -> None:
        self._engine: Engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self._connection: Connection | None = None

    def take(self) -> bool:
        connection = self._engine.connect()
        try:
            is_taken = bool(connection.exec_driver_sql(_TRY_LOCK).scalar())
            if is_taken:
                connection.exec_driver_sql(_SESSION)
        except BaseException:
            connection.close()
            raise
        if not is_taken:
            connection.close()
            return False
        self._connection = connection
        return True

    def is_ours(self) -> bool:
        if self._connection is None:
            return False
        try:
            self._connection.exec_driver_sql("SELECT 1")
        except DBAPIError:
            self.close()
            return False
        return True

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # NullPool: closing ends the session, and with it the lock.
            connection.close()


class Ownership:
    """Taken before the schema is touched; `begin` numbers it once there are tables. Thread-safe after that."""

    def __init__(self, lock: Lock, place: str, *, is_checked: bool) -> None:
        """`is_checked`: writes compare the stored number, because the lock may be lost while this process lives."""
        self._lock = lock
        self._place = place
        self._is_checked = is_checked
        self._generation = 0
        self._is_superseded = False
        self._stopping = threading.Event()
        self._watcher: threading.Thread | None = None

    def take(self, current_owner: Callable[[], Any], *, wait_s: float = WAIT_S) -> None:
        """Raises Unavailable with the name of the owner when the database still has another one after `wait_s`."""
        ends_at = time.monotonic() + wait_s
        while not self._lock.take():
            if time.monotonic() >= ends_at:
                raise Unavailable(
                    f"The database {self._place} has a master already ({_described(current_owner())}). Stop that one "
                    "first, or give this one another database with --db."
                )
            time.sleep(0.1)

    def begin(self, connection: Connection, owner: Owner) -> None:
        """In a write transaction: from its commit on, earlier owners cannot write."""
        settings = SettingTable(connection)
        self._generation = int(settings.get(GENERATION) or 0) + 1
        settings.put(GENERATION, self._generation)
        settings.put(OWNER, asdict(owner))

    def check(self, connection: Connection) -> None:
        """At the start of a write transaction. Raises Unavailable when another master owns the database."""
        if self._is_checked and self._generation and not self._is_newest(connection):
            raise Unavailable(self._superseded())

    def watch(self, connect: Engine, on_superseded: Callable[[str], None]) -> None:
        """Look after the lock on a thread of its own; `on_superseded` is called once, with a sentence."""
        if not self._is_checked:
            return
        arguments = (connect, on_superseded)
        self._watcher = threading.Thread(target=self._watch, args=arguments, name="database owner", daemon=True)
        self._watcher.start()

    def look(self, engine: Engine) -> str | None:
        """One look: get a lost lock back. A sentence when another master has the database by now."""
        if self._is_superseded:
            return self._superseded()
        if self._lock.is_ours():
            return None
        with engine.connect() as connection:
            if not self._is_newest(connection):
                return self._superseded()
        # While the number is ours nobody has taken over; what still holds the lock may be our own dead session.
        if self._lock.take():
            log.warning("The lock on the database %s was lost with its connection and is held again.", self._place)
        return None

    def close(self) -> None:
        self._stopping.set()
        if self._watcher is not None and self._watcher is not threading.current_thread():
            self._watcher.join(timeout=10)
        self._lock.close()

    def _watch(self, engine: Engine, on_superseded: Callable[[str], None]) -> None:
        while not self._stopping.wait(LOOK_EVERY_S):
            try:
                sentence = self.look(engine)
            except DBAPIError as error:
                log.warning("The lock on the database %s cannot be looked after: %s", self._place, error.orig)
                continue
            if sentence:
                on_superseded(sentence)
                return

    def _is_newest(self, connection: Connection) -> bool:
        stored = connection.exec_driver_sql(_STORED_GENERATION).scalar()
        self._is_superseded = self._is_superseded or stored != str(self._generation)
        return not self._is_superseded

    def _superseded(self) -> str:
        return (
            f"Another master has taken over the database {self._place} while this one had lost its connection. "
            "This one writes nothing any more and stops; talk to the other one."
        )


def current_owner(connection: Connection) -> Any:
    """What the owner wrote about itself; None in a database without tables."""
    if not inspect(connection).has_table("settings"):
        return None
    return SettingTable(connection).get(OWNER)


def _described(owner: Any) -> str:
    try:
        return str(Owner(**owner))
    except TypeError:
        return "it has not said yet who it is"
