"""Disk space of an SQLite file: pages that deleted rows leave behind are given back, a few at a time."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

log = logging.getLogger(__name__)

INCREMENTAL = 2
"""`PRAGMA auto_vacuum` of a file that can give pages back while it is in use. Decided when the file is made."""
SPARE_PAGES = 1024
"""Kept for the next rows: growing and shrinking by turns would cost more than 4 MB are worth."""
SPARE_SHARE = 0.1
_PAGES_AT_ONCE = 500
"""Writers wait for so many: about 20 ms."""
_LARGEST_REWRITE_BYTES = 1 << 30
"""A larger file is not written anew at start, which would take minutes."""


def has_spare_pages(connection: sqlite3.Connection) -> bool:
    """More than are kept, and in a file that can give them back."""
    if _number(connection, "auto_vacuum") != INCREMENTAL:
        return False
    return _number(connection, "freelist_count") > max(SPARE_PAGES, SPARE_SHARE * _number(connection, "page_count"))


def release_pages(connection: sqlite3.Connection) -> None:
    """Inside a write transaction."""
    for _ in range(_PAGES_AT_ONCE):
        # Asked for more, SQLite gives back a page a step, and Python's driver makes one step only.
        connection.execute("PRAGMA incremental_vacuum(1)")


def make_shrinkable(file: Path) -> None:
    """Write a file of an earlier release anew, once, so that it can give pages back. Nobody else may use it."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if _number(connection, "auto_vacuum") == INCREMENTAL:
            return
        size = file.stat().st_size
        if size > _LARGEST_REWRITE_BYTES:
            log.warning(
                "The database %s (%.1f GB) keeps the space of what is deleted for new rows. To make it smaller, stop "
                "the master and run: sqlite3 %s 'PRAGMA auto_vacuum = 2; VACUUM;'",
                file,
                size / 1e9,
                file,
            )
            return
        connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        try:
            connection.execute("VACUUM")
        except sqlite3.OperationalError as error:
            log.warning("The database %s cannot be made smaller now: %s.", file, error)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
