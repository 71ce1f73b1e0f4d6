"""Output of a gang's processes on its way to the task's log: lines, ranks, levels, progress bars, full disks.

Whatever happens to the log, pipes are drained: a trial never waits for its log and never dies of it.
"""

import os
import re
import time
from collections.abc import Callable

from resolute.domain.log import LogLevel, LogLine, LogStream, TracebackWatch, encode_line, guess_level

LONGEST_LINE_BYTES = 64 * 1024
UNFINISHED_LINE_S = 1.0
"""A line without its end (a prompt, a progress bar) is shown after this long."""

_NEEDS_A_LOOK = re.compile(r"TRACE|Traceback|DEBUG|WARN|ERROR|FATAL|CRITICAL|\[rank=")
_RANK_PREFIX = re.compile(r"\[rank=(\d{1,4})\] ?")


def now_us() -> int:
    return time.time_ns() // 1000


class TaskLog:
    """The log file of one task, appended to by whole records. Lines that do not fit on the disk are counted."""

    def __init__(self, path: str, *, write: Callable[[int, bytes], int] = os.write) -> None:
        self._path = path
        self._write = write
        self._descriptor: int | None = None
        self._dropped_lines = 0
        self._is_torn = False

    def append(self, records: bytes) -> None:
        """Never raises and never blocks on anything but the disk."""
        if not records:
            return
        notice = self._notice()
        content = notice + records
        written = self._put(content)
        if written >= len(notice):
            self._dropped_lines = 0
        self._dropped_lines += content[max(written, len(notice)) :].count(b"\n")

    def say(self, text: str, level: LogLevel = LogLevel.INFO) -> None:
        """A line by the platform itself."""
        self.append(encode_line(LogLine(now_us(), text, stream=LogStream.PLATFORM, level=level)))

    def _notice(self) -> bytes:
        torn_end = b"\n" if self._is_torn else b""
        if not self._dropped_lines:
            return torn_end
        text = f"{self._dropped_lines} lines of output are missing here: there was no room to write them."
        return torn_end + encode_line(LogLine(now_us(), text, stream=LogStream.PLATFORM, level=LogLevel.WARNING))

    def _put(self, content: bytes) -> int:
        """How many bytes reached the file."""
        written = 0
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            while written < len(content):
                written += self._write(self._descriptor, content[written:])
        except OSError:
            pass
        if written:
            # The disk filled up within a record: it is ended when there is room again.
            self._is_torn = not content[:written].endswith(b"\n")
        return written


class OutputStream:
    """Cuts one pipe's bytes into records. Time comes in as an argument, so that tests need no waiting."""

    def __init__(self, stream: LogStream) -> None:
        self._stream = stream
        self._pending = b""
        self._pending_since = 0.0
        self._tracebacks: dict[str, TracebackWatch] = {}

    @property
    def is_pending(self) -> bool:
        return bool(self._pending)

    def feed(self, chunk: bytes, *, timestamp_us: int, now: float) -> bytes:
        """Records for all lines that `chunk` completes."""
        head, newline, tail = chunk.rpartition(b"\n")
        if not newline:
            self._hold(self._pending + chunk, now)
            return self._cut(timestamp_us, now)
        complete = self._pending + head
        self._pending = b""
        self._hold(tail, now)
        return self._encode(complete, timestamp_us) + self._cut(timestamp_us, now)

    def flush(self, *, timestamp_us: int, now: float, is_end: bool = False) -> bytes:
        """A record for a line that has been waiting for its end too long, or will not get one."""
        if not self._pending or not (is_end or now - self._pending_since >= UNFINISHED_LINE_S):
            return b""
        pending, self._pending = self._pending, b""
        return self._encode(pending, timestamp_us)

    def _hold(self, pending: bytes, now: float) -> None:
        if not self._pending:
            self._pending_since = now
        # Of a progress bar only what a terminal would still show is kept.
        if b"\r" in pending.rstrip(b"\r"):
            pending = pending.rstrip(b"\r").rpartition(b"\r")[2]
        self._pending = pending

    def _cut(self, timestamp_us: int, now: float) -> bytes:
        if len(self._pending) >= LONGEST_LINE_BYTES:
            return self.flush(timestamp_us=timestamp_us, now=now, is_end=True)
        return self.flush(timestamp_us=timestamp_us, now=now)

    def _encode(self, lines: bytes, timestamp_us: int) -> bytes:
        text = lines.decode(errors="replace")
        if "\r" in text:
            text = "\n".join(_as_shown(line) for line in text.split("\n"))
        if len(text) > LONGEST_LINE_BYTES:
            text = "\n".join(_pieces(text))
        if self._tracebacks or _NEEDS_A_LOOK.search(text):
            start = f"{timestamp_us:016d} "
            return "".join([self._record(start, line) for line in text.split("\n")]).encode(errors="replace")
        # The usual case, at the speed of one replacement: no line needs a rank or a level of its own.
        header = f"{timestamp_us:016d} 0000 {self._stream}{LogLevel.INFO} "
        return f"{header}{text}\n".replace("\n", f"\n{header}", text.count("\n")).encode(errors="replace")

    def _record(self, start: str, text: str) -> str:
        """As `encode_line` would write it, at a third of the price."""
        rank = "0000"
        if text.startswith("[rank=") and (prefix := _RANK_PREFIX.match(text)):
            rank, text = prefix[1].zfill(4), text[prefix.end() :]
        level = LogLevel.ERROR if self._is_traceback(rank, text) else guess_level(text)
        return f"{start}{rank} {self._stream.value}{level.value} {text}\n"

    def _is_traceback(self, rank: str, text: str) -> bool:
        """Ranks write in between each other: each has its own."""
        watch = self._tracebacks.get(rank)
        if watch is None:
            if "Traceback" not in text:
                return False
            watch = TracebackWatch()
        is_part = watch.is_part(text)
        if watch.is_open:
            self._tracebacks[rank] = watch
        else:
            self._tracebacks.pop(rank, None)
        return is_part


def _as_shown(line: str) -> str:
    """What a terminal shows of a line that was written over."""
    return line.rstrip("\r").rpartition("\r")[2]


def _pieces(text: str) -> list[str]:
    size = LONGEST_LINE_BYTES
    return [line[at : at + size] for line in text.split("\n") for at in range(0, max(1, len(line)), size)]
