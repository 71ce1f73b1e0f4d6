"""What a machine keeps although nobody needs it: environments that were not used for long, logs without end."""

import logging
import shutil
import time
from pathlib import Path

import psutil

log = logging.getLogger(__name__)

ENVIRONMENT_DAYS = 30
"""An environment that was not used for longer is built again when it is asked for."""
LARGEST_LOG_BYTES = 1 << 20
_KEPT_LOG_BYTES = 1 << 18
_UNFINISHED_AFTER_S = 24 * 3600.0
_MARKER = ".complete"


def clear_environments(envs: Path, *, now: float | None = None) -> int:
    """Returns how many went. Those of running processes stay."""
    now = time.time() if now is None else now
    unused = [path for path in envs.glob("*") if path.is_dir() and _is_unused(path, now)]
    if not unused:
        return 0
    running = _command_lines()
    gone = [path for path in unused if not any(str(path) in line for line in running)]
    for path in gone:
        log.info("The environment %s was not used for %d days and is removed.", path, ENVIRONMENT_DAYS)
        # Without its marker it is not taken for complete while it goes.
        (path / _MARKER).unlink(missing_ok=True)
        shutil.rmtree(path, ignore_errors=True)
    return len(gone)


def shorten_log(path: Path) -> None:
    """Keep the end of a log that only grows. Processes that have it open write on into what is gone."""
    try:
        if path.stat().st_size <= LARGEST_LOG_BYTES:
            return
        with path.open("rb") as file:
            file.seek(-_KEPT_LOG_BYTES, 2)
            end = file.read().split(b"\n", 1)[-1]
        draft = path.with_name(f"{path.name}.new")
        draft.touch(mode=0o600)
        draft.write_bytes(end)
        draft.replace(path)
    except OSError as error:
        log.warning("The log %s cannot be shortened: %s.", path, error.strerror)


def _is_unused(path: Path, now: float) -> bool:
    """One that was never finished has no marker; its builder may still be at work."""
    try:
        return now - (path / _MARKER).stat().st_mtime > ENVIRONMENT_DAYS * 86400
    except OSError:
        return now - path.stat().st_mtime > _UNFINISHED_AFTER_S


def _command_lines() -> list[str]:
    return [" ".join(each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"])]
