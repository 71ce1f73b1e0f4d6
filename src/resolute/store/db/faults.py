"""What a database driver says when it cannot go on, as the domain's errors, with the remedy."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, TimeoutError

from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound, ResoluteError, Unavailable

_PRIMARY = 0xFF
"""The low byte of an extended SQLite result code is the primary one."""
_DISK_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise the domain's error for what the driver raised inside. `place` names the database for people."""
    try:
        yield
    except TimeoutError as error:
        raise Unavailable(f"The database {place} has no connection free: too many readers at once. Retry.") from error
    except OverflowError as error:
        raise InvalidInput(
            f"A number is too large: the database {place} holds whole numbers of 64 bits. Send a smaller one."
        ) from error
    except UnicodeEncodeError as error:
        raise InvalidInput(f"A text cannot be stored: {error}. Send valid Unicode, without lone surrogates.") from error
    except (DBAPIError, sqlite3.Error) as error:
        replacement = _domain_error(error, place)
        if replacement is None:
            raise
        raise replacement from error


def _domain_error(error: DBAPIError | sqlite3.Error, place: str) -> ResoluteError | None:
    if isinstance(error, sqlite3.Error):
        return _sqlite_error(error, place)
    if isinstance(error.orig, sqlite3.Error):
        return _sqlite_error(error.orig, place)
    return _postgres_error(error, place)


def _sqlite_error(error: sqlite3.Error, place: str) -> ResoluteError | None:
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    if code == sqlite3.SQLITE_CONSTRAINT:
        return _constraint(error, is_reference=error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY)
    if code == sqlite3.SQLITE_FULL:
        return disk_full(place)
    if code in _DISK_CODES:
        return Unavailable(f"The database {place} cannot be written ({error}). Check its disk and permissions; retry.")
    if code == sqlite3.SQLITE_CANTOPEN:
        return Unavailable(f"The database {place} cannot be opened ({error}). Check the path and its permissions.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Unavailable(f"The database {place} is held by another process ({error}). Close that one, then retry.")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Unavailable(f"The database {place} is damaged ({error}). Put a backup of the file in its place.")
    if code == sqlite3.SQLITE_TOOBIG:
        return InvalidInput(f"A value is larger than the database {place} can hold ({error}). Send less at once.")
    return None


def _postgres_error(error: DBAPIError, place: str) -> ResoluteError | None:
    state = getattr(error.orig, "sqlstate", None) or ""
    if state in ("23503", "23505"):
        return _constraint(error.orig, is_reference=state == "23503")
    if state.startswith("53"):  # insufficient resources: disk, memory, connections
        if state == "53100":
            return disk_full(place)
        return Unavailable(f"The database {place} is out of resources ({error.orig}). Retry, or raise its limits.")
    if state.startswith("22"):  # a value that no column can hold, such as text with a NUL byte
        return InvalidInput(f"The database {place} refused a value ({error.orig}). Change the value.")
    if error.connection_invalidated or state.startswith(("08", "57")) or _lost(error):
        return Unavailable(f"The database {place} cannot be reached ({error.orig}). Start it or check the URL; retry.")
    return None


def _lost(error: DBAPIError) -> bool:
    """Refused or dropped connections carry no SQL state."""
    return type(error.orig).__name__ == "OperationalError" and getattr(error.orig, "sqlstate", None) is None


def _constraint(error: object, *, is_reference: bool) -> ResoluteError:
    reason = str(error).splitlines()[0]
    if is_reference:
        return NotFound(f"What this belongs to does not exist, or something still belongs to it ({reason}).")
    return AlreadyExists(f"Something with this name or id is stored already ({reason}). Choose another.")


def disk_full(place: str) -> Unavailable:
    return Unavailable(f"The disk of the database {place} is full; nothing was changed. Free some space, then retry.")
