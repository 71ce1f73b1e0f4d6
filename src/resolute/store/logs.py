"""Task logs as append-only files of `domain.log` records, one file per task.

Other processes on this machine may append to the same files; one `write` per call keeps records whole. Reading
never loads a file: it seeks by time or cursor, reads in blocks and decodes only the lines that match.
"""

import errno
import fcntl
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from resolute.domain.errors import Unavailable
from resolute.domain.log import HEADER_LENGTH, LogLine, decode_line, encode_line, is_mark
from resolute.engine.patterns import Pattern
from resolute.engine.ports.logs import LogQuery
from resolute.store.log_batches import missing_part

_LONGEST_NAME = 200
_LONGEST_LINE = 1 << 20
"""Of a longer line the rest is not read; nobody reads a megabyte in one line."""
_BLOCK = 1 << 18
_CLOCK_SKEW_US = 5_000_000
"""Ranks write side by side, so neighbouring times may be out of order by this much."""
_EMPTY = b"\n"
"""No record: those have a header."""
_Matches = Callable[[bytes], bool]


class FileLogs:
    """`engine.ports.logs.Logs` in a folder. Thread-safe, and safe beside other writers of the same files."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(parents=True, exist_ok=True)

    def path(self, task_id: str) -> Path:
        name = quote(task_id, safe=" ,=@+")
        if len(name) > _LONGEST_NAME:
            name = name[:_LONGEST_NAME] + sha256(task_id.encode()).hexdigest()[:16]
        return self._root / f"{name}.log"

    def append(self, task_id: str, lines: Sequence[LogLine]) -> None:
        """All of `lines`, or none when the disk is full (raises Unavailable)."""
        if not lines:
            return
        with self._opened(task_id) as (handle, path):
            _append_whole(handle, path, b"".join(map(encode_line, lines)))

    def append_once(self, task_id: str, name: str, records: bytes, *, start: int) -> None:
        """Raises Unavailable when the disk is full; repeating it completes what was written."""
        with self._opened(task_id) as (handle, path):
            missing, is_torn = _missing(handle, name, records, start)
            if is_torn:
                _write_whole(handle, path, missing)
            elif missing:
                _append_whole(handle, path, missing)

    @contextmanager
    def _opened(self, task_id: str) -> Iterator[tuple[int, Path]]:
        """For appending, while no other thread does, nor the last write of a master that is being replaced."""
        path = self.path(task_id)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle, path
        finally:
            os.close(handle)

    def read(self, task_id: str, query: LogQuery) -> list[LogLine]:
        """Oldest first unless `newest_first`. `since_us` and `until_us` are inclusive; text ignores case."""
        matches = _compiled(query)
        try:
            with self.path(task_id).open("rb") as file:
                end = _end_of_last_line(file)
                start, end = _bounds(file, query, end)
                lines = _backwards(file, start, end) if query.newest_first else _forwards(file, start, end)
                return _first(lines, matches, query)
        except FileNotFoundError:
            return []

    def size(self, task_id: str) -> int:
        try:
            return self.path(task_id).stat().st_size
        except FileNotFoundError:
            return 0

    def remove(self, task_id: str) -> None:
        self.path(task_id).unlink(missing_ok=True)


# -------------------------------------------------------------------------------------------------------- writing


def _append_whole(handle: int, path: Path, content: bytes) -> None:
    start = os.fstat(handle).st_size
    if start and os.pread(handle, 1, start - 1) != b"\n":
        # A writer died inside a line: it gets an end, so that ours starts on its own. One that only was caught half
        # way (a file grows page by page) ends its line before ours starts; the empty line is passed over in reading.
        content = b"\n" + content
    _write_whole(handle, path, content)


def _write_whole(handle: int, path: Path, content: bytes) -> None:
    start = os.fstat(handle).st_size
    written = 0
    try:
        while written < len(content):
            written += os.write(handle, content[written:])
    except OSError as error:
        if os.fstat(handle).st_size == start + written:
            os.ftruncate(handle, start)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise Unavailable(
            f"The disk of the log {path} is full; nothing was appended. Free some space, then retry."
        ) from error


def _missing(handle: int, name: str, records: bytes, start: int) -> tuple[bytes, bool]:
    """`missing_part` of the log from byte `start` on, without loading it."""
    size = os.fstat(handle).st_size
    if start >= size:
        return missing_part(b"", name, records, begin=0)
    # A mapping begins at a page; its beginning is the part before `start`.
    begin = start % mmap.ALLOCATIONGRANULARITY
    with mmap.mmap(handle, size - start + begin, access=mmap.ACCESS_READ, offset=start - begin) as log:
        return missing_part(log, name, records, begin=begin)


# -------------------------------------------------------------------------------------------------------- reading


def _first(lines: Iterator[tuple[int, bytes]], matches: _Matches, query: LogQuery) -> list[LogLine]:
    found: list[LogLine] = []
    if query.limit is not None and query.limit <= 0:
        return found
    for offset, record in lines:
        if record == _EMPTY or is_mark(record) or not matches(record):
            continue
        line = _decoded(record, offset)
        if query.accepts is None or query.accepts(line):
            found.append(line)
            if len(found) == query.limit:
                break
    return found


def _decoded(record: bytes, offset: int) -> LogLine:
    try:
        return decode_line(record, offset=offset)
    except ValueError:  # bytes that only look like a header
        return LogLine(timestamp_us=0, text=record.rstrip(b"\n").decode(errors="replace"), id=offset)


def _compiled(query: LogQuery) -> _Matches:
    """One test of a raw record for all filters of the query."""
    tests: list[_Matches] = []
    if query.ranks:
        ranks = {b"----" if rank < 0 else f"{rank:04d}".encode() for rank in query.ranks}
        tests.append(lambda record: record[17:21] in ranks)
    if query.streams:
        streams = {str(stream).encode() for stream in query.streams}
        tests.append(lambda record: record[22:23] in streams)
    if query.levels:
        levels = {str(level).encode() for level in query.levels}
        tests.append(lambda record: record[23:24] in levels)
    if query.since_us is not None or query.until_us is not None:
        tests.append(_time_test(query))
    if query.text:
        tests.append(_text_test(query))
    if not tests:
        return lambda record: True
    if len(tests) == 1:
        return tests[0]
    return lambda record: all(test(record) for test in tests)


def _time_test(query: LogQuery) -> _Matches:
    # Sixteen digits compare as bytes as they do as numbers.
    since = f"{max(0, query.since_us or 0):016d}".encode()
    until = b"9" * 16 if query.until_us is None else f"{max(0, query.until_us):016d}".encode()
    return lambda record: record[:16].isdigit() and since <= record[:16] <= until


def _text_test(query: LogQuery) -> _Matches:
    if not query.is_regex:
        # Compared as text: lower-casing bytes would leave letters beyond ASCII alone.
        wanted = query.text.lower()
        return lambda record: wanted in _text_of(record).lower()
    pattern = Pattern(query.text)
    return lambda record: pattern.is_in(_text_of(record))


def _text_of(record: bytes) -> str:
    start = HEADER_LENGTH if record[:16].isdigit() else 0
    return record[start:].rstrip(b"\n").decode(errors="replace")


def _forwards(file: BinaryIO, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """(offset, record) of every line that begins in [start, end)."""
    file.seek(start)
    offset = start
    while offset < end:
        record = file.readline(_LONGEST_LINE)
        length = len(record)
        while record and not record.endswith(b"\n"):
            rest = file.readline(_LONGEST_LINE)
            length += len(rest)
            if not rest or rest.endswith(b"\n"):
                break
        yield offset, record
        offset += length


def _backwards(file: BinaryIO, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The same lines, last first. `start` is a line start, `end` the end of a line."""
    tail: list[bytes] = []  # pieces of the line that began before what was read, last first
    position = end
    while position > start:
        length = min(_BLOCK, position - start)
        position -= length
        file.seek(position)
        block = file.read(length)
        # Newlines end lines: the last byte of the range is one and starts no line of its own.
        cut = len(block)
        search_to = len(block) - 1 if not tail else len(block)
        while (newline := block.rfind(b"\n", 0, search_to)) >= 0:
            yield position + newline + 1, _line(block[newline + 1 : cut], tail)
            tail = []
            cut = newline + 1
            search_to = newline
        tail.append(block[:cut])
    if tail:
        yield start, _line(b"", tail)


def _line(head: bytes, tail: list[bytes]) -> bytes:
    return b"".join([head, *reversed(tail)])[:_LONGEST_LINE]


def _bounds(file: BinaryIO, query: LogQuery, end: int) -> tuple[int, int]:
    """The stretch of the file that can match, cut at line starts."""
    start = 0
    if query.since_us is not None:
        start = _first_at(file, query.since_us - _CLOCK_SKEW_US, 0, end)
    if query.after_id is not None:
        start = max(start, _next_line_start(file, query.after_id, end))
    if query.until_us is not None:
        end = _first_at(file, query.until_us + 1 + _CLOCK_SKEW_US, start, end)
    return min(start, end), end


def _first_at(file: BinaryIO, time_us: int, low: int, high: int) -> int:
    """Start of the first line at or after `time_us`, by halving the bytes between `low` and `high`."""
    end = high
    while high - low > _BLOCK:
        middle = _next_line_start(file, (low + high) // 2, high)
        time = _time_at(file, middle, high)
        if time is None or time >= time_us:
            high = (low + high) // 2
        else:
            low = middle
    for offset, record in _forwards(file, low, end):
        if record[:16].isdigit() and int(record[:16]) >= time_us:
            return offset
    return end


def _time_at(file: BinaryIO, offset: int, end: int) -> int | None:
    for _, record in _forwards(file, offset, end):
        if record[:16].isdigit():
            return int(record[:16])
    return None


def _next_line_start(file: BinaryIO, offset: int, end: int) -> int:
    """Start of the first line after the one that holds byte `offset`."""
    if offset >= end:
        return end
    file.seek(max(0, offset))
    while True:
        piece = file.readline(_LONGEST_LINE)
        if not piece or piece.endswith(b"\n"):
            return min(file.tell(), end)


def _end_of_last_line(file: BinaryIO) -> int:
    """Where the last whole line ends; what follows is still being written."""
    position = file.seek(0, os.SEEK_END)
    while position > 0:
        length = min(_BLOCK, position)
        position -= length
        file.seek(position)
        newline = file.read(length).rfind(b"\n")
        if newline >= 0:
            return position + newline + 1
    return 0
