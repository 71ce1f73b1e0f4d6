"""The home folder: where it is, and that nobody but its owner may look into it."""

import contextlib
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from resolute.domain.errors import InvalidInput

log = logging.getLogger(__name__)

_MADE = ("resolute.sqlite3", "resolute.sqlite3.lock", "master.log")
_PRIVATE = (*_MADE, "resolute.sqlite3-wal", "resolute.sqlite3-shm", "master.lock")
"""Files with passwords' hashes, keys and configurations: private even if somebody opens the folder again."""

_FOLDERS = ("checkpoints", "logs", "runs")
_OPENED = frozenset({0o711, 0o1733})
"""Of what trials pass through that run as accounts of their own: others may use it and list nothing."""


def home_folder(given: Path | None = None) -> Path:
    """`given`, else `RESOLUTE_HOME`, else `~/.resolute`; created when missing."""
    home = (given or Path(os.environ.get("RESOLUTE_HOME") or "~/.resolute")).expanduser().resolve()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InvalidInput(
            f"The home folder {home} cannot be created: {error.strerror}. Choose another with --home."
        ) from error
    return home


def make_private(home: Path) -> None:
    """Only the owner may enter the folder, and read its database and logs. Trials run as the same user."""
    for name in _MADE:
        # SQLite gives the files beside a database the database's own rights.
        with contextlib.suppress(OSError):
            os.close(os.open(home / name, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    for name in _FOLDERS:
        (home / name).mkdir(mode=0o700, exist_ok=True)
    for path, rights in _wanted(home):
        try:
            path.chmod(rights)
        except OSError as error:
            log.warning("Others may read %s: its rights cannot be changed (%s).", path, error.strerror)


def _wanted(home: Path) -> Iterator[tuple[Path, int]]:
    # Passable while trials run as accounts of their own (`runners.accounts`).
    yield home, 0o711 if stat.S_IMODE(home.stat().st_mode) in _OPENED else 0o700
    for name in _PRIVATE:
        if (home / name).is_file():
            yield home / name, 0o600
    for path in home.glob("master.log.*"):
        yield path, 0o600
    for name in _FOLDERS:
        if (home / name).is_symlink():
            continue
        mode = stat.S_IMODE((home / name).stat().st_mode)
        yield home / name, mode if mode in _OPENED else 0o700
