"""A line of a task's log and its form on disk. Pure.

On disk a line is a fixed header and the text: `<16 digits microseconds> <rank or ----> <stream><level> <text>\\n`,
so that a reader can seek to any line start, filter without parsing JSON, and a writer needs one `write`.

Lines from another machine come in batches. A mark stands before each, so that one that is sent again is known; readers
pass over it.
"""

from dataclasses import dataclass
from enum import StrEnum

HEADER_LENGTH = 25
NO_RANK = -1


_MARK = b"\0"
"""No record begins with it: those begin with a digit."""


class LogLevel(StrEnum):
    TRACE = "T"
    DEBUG = "D"
    INFO = "I"
    WARNING = "W"
    ERROR = "E"
    CRITICAL = "C"


class LogStream(StrEnum):
    STDOUT = "o"
    STDERR = "e"
    PLATFORM = "p"
    """Written by the platform itself: scheduling, restarts, environments."""


@dataclass(frozen=True, slots=True)
class LogLine:
    timestamp_us: int
    text: str
    rank: int = NO_RANK
    stream: LogStream = LogStream.STDOUT
    level: LogLevel = LogLevel.INFO
    id: int = 0
    """Byte offset in the task's log; grows with time, usable as a cursor."""
    allocation_id: str = ""
    """Not in the log itself; known from the time of the line. So is the node."""
    node_id: str = ""


def encode_line(line: LogLine) -> bytes:
    """One record. A newline inside the text would start a new record, so it is written as a space."""
    rank = "----" if line.rank < 0 else f"{line.rank:04d}"
    text = line.text.replace("\n", " ")
    return f"{line.timestamp_us:016d} {rank} {line.stream}{line.level} {text}\n".encode(errors="replace")


def decode_line(record: bytes, *, offset: int) -> LogLine:
    """Inverse of `encode_line`. A record without a header (a torn write) becomes plain text."""
    text = record.rstrip(b"\n")
    if len(text) < HEADER_LENGTH or not text[:16].isdigit():
        return LogLine(timestamp_us=0, text=text.decode(errors="replace"), id=offset)
    rank = NO_RANK if text[17:21] == b"----" else int(text[17:21])
    return LogLine(
        timestamp_us=int(text[:16]),
        text=text[HEADER_LENGTH:].decode(errors="replace"),
        rank=rank,
        stream=LogStream(chr(text[22])),
        level=LogLevel(chr(text[23])),
        id=offset,
    )


def batch_mark(name: str) -> bytes:
    """What stands before a stretch of records that came together, under that name."""
    return _MARK + name.encode() + b"\n"


def is_mark(record: bytes) -> bool:
    return record.startswith(_MARK)


_LEVEL_WORDS = (
    ("CRITICAL", LogLevel.CRITICAL),
    ("FATAL", LogLevel.CRITICAL),
    ("ERROR", LogLevel.ERROR),
    ("WARNING", LogLevel.WARNING),
    ("WARN", LogLevel.WARNING),
    ("DEBUG", LogLevel.DEBUG),
    ("TRACE", LogLevel.TRACE),
)


_TRACEBACK_START = "Traceback (most recent call last):"


class TracebackWatch:
    """Which lines of one rank belong to a Python traceback: from its first line to the exception, the last of it."""

    __slots__ = ("is_open",)

    def __init__(self) -> None:
        self.is_open = False

    def is_part(self, text: str) -> bool:
        if text.lstrip(" +|").endswith(_TRACEBACK_START):
            self.is_open = True
            return True
        if not self.is_open:
            return False
        # Frames and their source are indented; what is not indented names the exception.
        self.is_open = not text or text[0] in " |+~^"
        return True


def guess_level(text: str) -> LogLevel:
    """Level named near the start of a line written by user code; INFO when none is."""
    start = text[:60]
    for word, level in _LEVEL_WORDS:
        if word in start:
            return level
    return LogLevel.INFO
