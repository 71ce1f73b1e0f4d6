"""Copies of a home, taken while its master runs: the database as of one instant, then the files that belong to it.

The database is copied first. A file that appears later belongs to nothing yet; a checkpoint that is deleted meanwhile
is found missing, as any damaged one. What only running processes need (run folders, environments, sockets) stays out.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound, Unavailable
from resolute.store.db.schema import HEAD
from resolute.version import __version__

DATABASE = "resolute.sqlite3"
MANIFEST = "backup.json"
CHECKPOINTS = "checkpoints"
_FOLDERS = ("logs", "served", "router")
"""Beside the database and the checkpoints; everything else in a home is made anew."""
_PAGES_A_STEP = 1024
"""Writers of the live database wait at most for so many pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What a backup holds. Written last: a folder without it is an unfinished backup."""

    home: str
    """Where it was taken. Restored elsewhere, the paths of its checkpoints change with it."""
    made_at: str
    version: str
    schema: str
    experiments: int
    trials: int
    checkpoints: int
    missing: tuple[str, ...]
    """Checkpoints on this machine that the database knows, and whose files were not all there."""
    files: int
    size_bytes: int
    has_checkpoint_files: bool


def make_backup(home: Path, target: Path, *, now: datetime, with_checkpoints: bool = True) -> Backup:
    """Copy `home` into the new folder `target`. Raises when that exists, or the copy does not hold together."""
    source = home / DATABASE
    if not source.is_file():
        raise NotFound(
            f"There is no database {source}. Name the home with --home; a PostgreSQL database is copied with pg_dump."
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise AlreadyExists(f"{target} exists and is not empty. Name a new folder.")
    try:
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        _copy_database(source, target / DATABASE)
        for name in (*_FOLDERS, *([CHECKPOINTS] if with_checkpoints else [])):
            _copy_folder(home / name, target / name)
        backup = _described(target, home, now, with_checkpoints)
        _write_last(target / MANIFEST, asdict(backup))
    except OSError as error:
        raise Unavailable(f"The backup in {target} could not be finished: {error.strerror or error}.") from error
    return backup


def restore_backup(source: Path, home: Path) -> Backup:
    """Make a home of a backup. Nothing that is there is overwritten."""
    backup = read_backup(source)
    if home.exists() and any(home.iterdir()):
        raise AlreadyExists(f"The home {home} is not empty. Restore into a new folder, and start with --home.")
    if backup.schema > HEAD:
        raise Unavailable(
            f"The backup was made by Resolute {backup.version} (schema {backup.schema}), which is newer than this one "
            f"({__version__}, schema {HEAD}). Install that version or a later one."
        )
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in (*_FOLDERS, CHECKPOINTS):
            _copy_folder(source / name, home / name)
        # Last: a home without a database would be taken for a new one only if nothing was restored.
        _copy_database(source / DATABASE, home / DATABASE)
        _move_storage(home / DATABASE, str(Path(backup.home) / CHECKPOINTS), str(home / CHECKPOINTS))
    except OSError as error:
        raise Unavailable(f"{source} could not be restored into {home}: {error.strerror or error}.") from error
    return backup


def read_backup(source: Path) -> Backup:
    try:
        fields = json.loads((source / MANIFEST).read_text())
        return Backup(**{**fields, "missing": tuple(fields["missing"])})
    except FileNotFoundError as error:
        raise NotFound(f"{source} is not a finished backup: it has no {MANIFEST}.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(f"{source / MANIFEST} is damaged: {error}.") from error


def _copy_database(source: Path, target: Path) -> None:
    """One instant of the source, whoever writes to it meanwhile."""
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    os.close(descriptor)
    try:
        with closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True, timeout=60)) as live:
            # One read transaction for the whole copy: otherwise it starts again at every write of a busy master.
            live.execute("BEGIN")
            live.execute("SELECT count(*) FROM sqlite_master").fetchone()
            with closing(sqlite3.connect(target)) as copy:
                live.backup(copy, pages=_PAGES_A_STEP)
                copy.execute("PRAGMA journal_mode = DELETE")
                fault = copy.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.Error as error:
        raise Unavailable(f"The database {source} could not be copied: {error}.") from error
    if fault != "ok":
        raise Unavailable(f"The copy of {source} is damaged ({fault}); the original probably is, too.")


def _move_storage(database: Path, before: str, after: str) -> None:
    """Checkpoints and configurations say where files are; those in the home move with it."""
    if before == after:
        return
    with closing(sqlite3.connect(database)) as connection, connection:
        for table, key, column in (("checkpoints", "uuid", "storage"), ("experiments", "id", "config")):
            rows = connection.execute(f"SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL").fetchall()
            for row_id, text in rows:
                document = json.loads(text)
                storage = document if column == "storage" else document.get("checkpoint_storage") or {}
                if storage.get("host_path") == before:
                    storage["host_path"] = after
                    values = (json.dumps(document), row_id)
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", values)


def _copy_folder(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, copy_function=_copy_file, dirs_exist_ok=True)


def _copy_file(source: str, target: str) -> None:
    """Files come and go while trials run; one that has gone belongs to nothing any more."""
    try:
        shutil.copy2(source, target)
    except FileNotFoundError:
        return


def _described(target: Path, home: Path, now: datetime, with_checkpoints: bool) -> Backup:
    files = [path for path in target.rglob("*") if path.is_file()]
    with closing(sqlite3.connect(target / DATABASE)) as database:
        [schema] = database.execute("SELECT version_num FROM alembic_version").fetchone()
        counts = [
            database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("experiments", "trials")
        ]
        stored = list(_completed_checkpoints(database))
    local = [(uuid, sizes) for uuid, sizes, storage in stored if storage.get("host_path") == str(home / CHECKPOINTS)]
    missing = [uuid for uuid, sizes in local if with_checkpoints and not _is_whole(target / CHECKPOINTS / uuid, sizes)]
    return Backup(
        home=str(home),
        made_at=now.isoformat(),
        version=__version__,
        schema=schema,
        experiments=counts[0],
        trials=counts[1],
        checkpoints=len(stored),
        missing=tuple(missing),
        files=len(files),
        size_bytes=sum(path.stat().st_size for path in files),
        has_checkpoint_files=with_checkpoints,
    )


def _completed_checkpoints(database: sqlite3.Connection) -> Iterator[tuple[str, dict[str, int], dict[str, object]]]:
    rows = database.execute("SELECT uuid, resources, storage FROM checkpoints WHERE state = 'COMPLETED'")
    for uuid, resources, storage in rows:
        yield uuid, json.loads(resources or "{}"), json.loads(storage or "{}")


def _is_whole(folder: Path, sizes: dict[str, int]) -> bool:
    files = {path: size for path, size in sizes.items() if not path.endswith("/")}
    return all((folder / path).is_file() and (folder / path).stat().st_size == size for path, size in files.items())


def _write_last(path: Path, fields: dict[str, object]) -> None:
    unfinished = path.with_name(path.name + "#1")
    unfinished.write_text(json.dumps(fields, indent=2) + "\n")
    unfinished.replace(path)
