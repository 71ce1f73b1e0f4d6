"""The master's own log: a ring in memory for the API, and a file beside the database that is kept over restarts."""

import logging
import logging.handlers
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from resolute.spec.wire.enums import LogLevel

RING_LINES = 20_000
FILE_BYTES = 20 * 1024 * 1024
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


@dataclass(frozen=True, slots=True)
class LogbookLine:
    id: int
    time: datetime
    level: LogLevel
    message: str


class Logbook(logging.Handler):
    """A handler that remembers. Ids count from 0 and never repeat while the master lives."""

    def __init__(self, on_line: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._lines: deque[LogbookLine] = deque(maxlen=RING_LINES)
        self._next = 0
        self._guard = threading.Lock()
        self.on_line = on_line
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        message = self.format(record)
        with self._guard:
            moment = datetime.fromtimestamp(record.created, UTC)
            self._lines.append(LogbookLine(self._next, moment, _level(record.levelno), message))
            self._next += 1
        self.on_line()

    def since(self, line_id: int) -> list[LogbookLine]:
        with self._guard:
            return [line for line in self._lines if line.id >= line_id]

    @property
    def next_id(self) -> int:
        return self._next


def keep_log(logbook: Logbook, home: Path) -> None:
    """Send everything the platform logs to the ring, to `master.log` under `home`, and warnings to the terminal."""
    home.mkdir(parents=True, exist_ok=True)
    to_file = logging.handlers.RotatingFileHandler(home / "master.log", maxBytes=FILE_BYTES, backupCount=2)
    to_file.setFormatter(logging.Formatter(_FORMAT))
    to_terminal = logging.StreamHandler()
    to_terminal.setLevel(logging.WARNING)
    to_terminal.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    for handler in (logbook, to_file, to_terminal):
        root.addHandler(handler)


def set_level(level: LogLevel) -> None:
    """Until the master is started again."""
    number = next((floor for floor, name in _LEVELS if name is level), logging.DEBUG)
    logging.getLogger().setLevel(number)


def _level(number: int) -> LogLevel:
    for floor, level in _LEVELS:
        if number >= floor:
            return level
    return LogLevel.TRACE


_LEVELS = (
    (logging.CRITICAL, LogLevel.CRITICAL),
    (logging.ERROR, LogLevel.ERROR),
    (logging.WARNING, LogLevel.WARNING),
    (logging.INFO, LogLevel.INFO),
    (logging.DEBUG, LogLevel.DEBUG),
)
