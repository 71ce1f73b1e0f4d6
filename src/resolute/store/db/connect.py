"""Connections to SQLite and PostgreSQL: how each begins a transaction, and how each makes a commit last.

SQLite: write-ahead log, one writer connection, readers that see a snapshot and block nobody.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.store.db.durability import WalSync
from resolute.store.db.ownership import FileLock, Ownership, SessionLock
from resolute.store.db.space import INCREMENTAL
from resolute.store.db.writing import EngineWriter, SqliteWriter, Writer

READERS = 40
"""As many as a server has threads; one that has to wait waits for `_POOL_TIMEOUT_S`."""
_POOL_TIMEOUT_S = 30
_BUSY_TIMEOUT_S = 10
_CACHE_KIB = 16 * 1024
"""Of the one writer."""
_READER_CACHE_KIB = 2 * 1024
"""Of each reader: 80 MB for all of them. Pages that are read often stay in the operating system's memory anyway."""
_LOG_BYTES = 64 * 1024 * 1024
# Held by the open write transaction: any number, as long as all masters of a database use the same.
_WRITER_LOCK = 7_364_855


@dataclass(frozen=True, slots=True)
class Database:
    """One writer and many readers of a database. `place` names it for people, without password."""

    writer: Writer
    reader: Engine
    place: str
    ownership: Ownership
    file: Path | None = None
    """Of SQLite: its space is given back by us. None: the database sees to it itself."""
    sync: WalSync | None = None
    """Where a commit has to wait until it is durable; None: the database sees to it itself."""

    def dispose(self) -> None:
        self.ownership.close()
        self.reader.dispose()
        self.writer.close()
        if self.sync is not None:
            self.sync.close()


def connect(url: str, *, is_durable: bool = True) -> Database:
    """Engines for `sqlite:///<path>` or `postgresql://...`; nothing is opened before the first use.

    `is_durable` False leaves out what only matters after a power cut.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InvalidInput(
            f"{url!r} is no database URL. Write sqlite:///path/to/db.sqlite3 or postgresql://user:password@host/name."
        ) from None
    match parsed.get_backend_name():
        case "sqlite":
            return _sqlite(Path(parsed.database or ""), is_durable)
        case "postgresql":
            return _postgres(url)
    raise NotSupported(
        f"Databases of kind {parsed.get_backend_name()!r} are not supported. Use sqlite:/// or postgresql://."
    )


def _sqlite(path: Path, is_durable: bool) -> Database:
    path.parent.mkdir(parents=True, exist_ok=True)
    reader = _sqlite_engine(path, readers=True)
    event.listen(reader, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    writer = SqliteWriter(_sqlite_engine(path, readers=False))
    ownership = Ownership(FileLock(path), str(path), is_checked=False)
    return Database(writer, reader, str(path), ownership, path, WalSync(path) if is_durable else None)


def _sqlite_engine(path: Path, *, readers: bool) -> Engine:
    return create_engine(
        "sqlite://",
        creator=lambda: _open_sqlite(path, query_only=readers),
        poolclass=QueuePool,
        pool_size=READERS if readers else 1,
        max_overflow=0,
        pool_timeout=_POOL_TIMEOUT_S,
        pool_reset_on_return=None,
    )


def _open_sqlite(path: Path, *, query_only: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=_BUSY_TIMEOUT_S,
        # Transactions begin and end where the store says, never by the driver's guess.
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    pragmas = [
        # First of all: it counts only before anything is in the file.
        f"PRAGMA auto_vacuum = {INCREMENTAL}",
        "PRAGMA journal_mode = WAL",
        # The log is synced by `WalSync`, for all waiting commits at once; checkpoints sync by themselves.
        "PRAGMA synchronous = NORMAL",
        "PRAGMA foreign_keys = ON",
        "PRAGMA temp_store = MEMORY",
        f"PRAGMA cache_size = -{_READER_CACHE_KIB if query_only else _CACHE_KIB}",
        # A log that a long reader made grow is cut again once it has been moved into the database.
        f"PRAGMA journal_size_limit = {_LOG_BYTES}",
    ]
    if query_only:
        pragmas = [*pragmas[2:], "PRAGMA query_only = ON"]
    try:
        for pragma in pragmas:
            connection.execute(pragma)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _postgres(url: str) -> Database:
    parsed = make_url(url).set(drivername="postgresql+psycopg")
    options: dict[str, object] = {"pool_pre_ping": True, "pool_timeout": _POOL_TIMEOUT_S, "max_overflow": 0}
    try:
        writer = create_engine(parsed, pool_size=1, **options)
    except ModuleNotFoundError:
        raise NotSupported(
            "PostgreSQL needs the psycopg driver, which is not installed. Run: pip install 'resolute[postgres]'"
        ) from None
    reader = create_engine(parsed, pool_size=READERS // 2, **options).execution_options(
        isolation_level="REPEATABLE READ", postgresql_readonly=True
    )

    @event.listens_for(writer, "begin")
    def _serialise(connection: Connection) -> None:
        # Read-modify-write in one transaction must be as safe here as behind SQLite's single writer.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITER_LOCK})")

    place = parsed.render_as_string(hide_password=True)
    ownership = Ownership(SessionLock(parsed), place, is_checked=True)
    return Database(EngineWriter(writer), reader, place, ownership)
