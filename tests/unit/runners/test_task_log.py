"""From bytes in a pipe to records in a log: lines, progress bars, levels, ranks, and disks that fill up."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.log import LogLevel, LogLine, LogStream, decode_line, encode_line, guess_level
from resolute.runners.shepherd.task_log import LONGEST_LINE_BYTES, OutputStream, TaskLog

NOW_US = 1_700_000_000_000_000
LEVELS = st.sampled_from(["", "ERROR: ", "WARN ", "[DEBUG] ", "FATAL "])
PLAIN_TEXT = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))


def fed(*chunks: bytes, now: float = 0.0) -> list[LogLine]:
    stream = OutputStream(LogStream.STDOUT)
    records = b"".join(stream.feed(chunk, timestamp_us=NOW_US, now=now) for chunk in chunks)
    records += stream.flush(timestamp_us=NOW_US, now=now, is_end=True)
    return lines_of(records)


def lines_of(records: bytes) -> list[LogLine]:
    return [decode_line(record, offset=0) for record in records.splitlines(keepends=True)]


def texts(*chunks: bytes) -> list[str]:
    return [line.text for line in fed(*chunks)]


@settings(deadline=None)
@given(st.lists(st.builds(str.__add__, LEVELS, PLAIN_TEXT)), st.integers(min_value=1, max_value=20))
def test_every_line_becomes_the_record_that_the_domain_describes(lines: list[str], size: int) -> None:
    content = "".join(f"{line}\n" for line in lines).encode()
    stream = OutputStream(LogStream.STDERR)

    chunks = [content[at : at + size] for at in range(0, len(content), size)]
    records = b"".join(stream.feed(chunk, timestamp_us=NOW_US, now=0.0) for chunk in chunks)

    expected = [LogLine(NOW_US, line, 0, LogStream.STDERR, guess_level(line)) for line in lines]
    assert records == b"".join(encode_line(line) for line in expected)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"\r 10%|#    |\r 50%|###  |\r100%|#####|\n", ["100%|#####|"]),
        (b"windows\r\nline ends\r\n", ["windows", "line ends"]),
        (b"\r 10%\r 20%", [" 20%"]),
        (b"done\r", ["done"]),
        (b"\n\n", ["", ""]),
    ],
)
def test_a_progress_bar_shows_what_a_terminal_would(written: bytes, shown: list[str]) -> None:
    assert texts(written) == shown


def test_an_unfinished_line_is_shown_after_a_second() -> None:
    stream = OutputStream(LogStream.STDOUT)

    at_once = stream.feed(b"Continue? ", timestamp_us=NOW_US, now=10.0)
    early = stream.flush(timestamp_us=NOW_US, now=10.5)
    later = stream.flush(timestamp_us=NOW_US, now=11.0)

    assert (at_once, early) == (b"", b"")
    assert [line.text for line in lines_of(later)] == ["Continue? "]
    assert not stream.is_pending


def test_a_running_progress_bar_is_shown_once_a_second() -> None:
    stream = OutputStream(LogStream.STDOUT)

    records = b"".join(stream.feed(b"\r%3d%%" % step, timestamp_us=NOW_US, now=step / 10) for step in range(1, 31))

    assert [line.text for line in lines_of(records)] == [" 11%", " 22%"]


def test_a_line_without_end_is_cut_and_does_not_grow_in_memory() -> None:
    shown = texts(*[b"x" * 50_000] * 10)

    assert "".join(shown) == "x" * 500_000
    assert max(map(len, shown)) <= LONGEST_LINE_BYTES + 50_000


def test_a_very_long_finished_line_is_cut_into_records_of_bounded_size() -> None:
    shown = texts(b"short\n" + b"y" * (3 * LONGEST_LINE_BYTES) + b"\nshort\n")

    assert [len(text) for text in shown] == [5, LONGEST_LINE_BYTES, LONGEST_LINE_BYTES, LONGEST_LINE_BYTES, 5]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert texts(b"\xff\xfe ok\n") == ["\ufffd\ufffd ok"]


@pytest.mark.parametrize(
    ("written", "rank", "text", "level"),
    [
        (b"[rank=12] loss 0.5\n", 12, "loss 0.5", LogLevel.INFO),
        (b"[rank=1] ERROR: nan\n", 1, "ERROR: nan", LogLevel.ERROR),
        (b"[rank=x] odd\n", 0, "[rank=x] odd", LogLevel.INFO),
        (b"see [rank=2] later\n", 0, "see [rank=2] later", LogLevel.INFO),
        (b"WARNING slow\n", 0, "WARNING slow", LogLevel.WARNING),
    ],
)
def test_rank_and_level_are_read_from_the_line(written: bytes, rank: int, text: str, level: LogLevel) -> None:
    (line,) = fed(written)

    assert (line.rank, line.text, line.level) == (rank, text, level)


class Disk:
    """A disk with room for so many bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, descriptor: int, content: bytes) -> int:
        if self.room <= 0:
            raise OSError(28, "No space left on device")
        written = os.write(descriptor, content[: self.room])
        self.room -= written
        return written


def test_lines_that_do_not_fit_are_counted_and_the_count_is_written_once_there_is_room(tmp_path: Path) -> None:
    disk = Disk(room=10_000)
    log = TaskLog(str(tmp_path / "log"), write=disk.write)
    line = encode_line(LogLine(NOW_US, "x"))

    log.append(line)
    disk.room = 0
    for _ in range(3):
        log.append(line + line)
    disk.room = 10_000
    log.append(line)

    shown = [decoded.text for decoded in lines_of((tmp_path / "log").read_bytes())]
    assert shown == ["x", "6 lines of output are missing here: there was no room to write them.", "x"]


def test_a_record_torn_by_a_full_disk_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    line = encode_line(LogLine(NOW_US, "abcdef"))
    disk = Disk(room=len(line) + 28)
    log = TaskLog(str(tmp_path / "log"), write=disk.write)

    log.append(line + line)
    disk.room = 10_000
    log.append(line)

    lines = lines_of((tmp_path / "log").read_bytes())
    assert [decoded.text for decoded in lines if decoded.stream is LogStream.STDOUT] == ["abcdef", "abc", "abcdef"]
    assert "1 lines of output are missing" in lines[2].text


def test_a_log_that_cannot_be_opened_harms_nobody(tmp_path: Path) -> None:
    log = TaskLog(str(tmp_path / "missing/log"))

    log.append(encode_line(LogLine(NOW_US, "lost")))
    (tmp_path / "missing").mkdir()
    log.say("here again")

    assert [line.text for line in lines_of((tmp_path / "missing/log").read_bytes())] == [
        "1 lines of output are missing here: there was no room to write them.",
        "here again",
    ]


@pytest.mark.parametrize("line", [b"step 7 loss 0.12345 lr 1e-3\n", b"[rank=3] step 7 loss 0.1\n", b"WARNING step 7\n"])
def test_a_second_of_processor_time_is_enough_for_a_hundred_thousand_lines(line: bytes) -> None:
    stream = OutputStream(LogStream.STDOUT)
    began = time.process_time()

    for _ in range(20):
        stream.feed(line * 5000, timestamp_us=NOW_US, now=0.0)

    assert time.process_time() - began < 1.0


BOOM = """\
starting
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
    ~~~~^^
RuntimeError: boom
after it
"""


def test_a_traceback_is_an_error_from_its_first_line_to_the_exception() -> None:
    written = OutputStream(LogStream.STDERR)

    records = written.feed(BOOM.encode(), timestamp_us=NOW_US, now=0.0)

    levels = [decode_line(record, offset=0).level for record in records.splitlines()]
    assert levels == [LogLevel.INFO, *[LogLevel.ERROR] * 5, LogLevel.INFO]


def test_a_traceback_that_arrives_in_pieces_is_told_by_rank() -> None:
    written = OutputStream(LogStream.STDERR)
    pieces = [
        "[rank=0] Traceback (most recent call last):\n",
        "[rank=1] loss 0.5\n",
        '[rank=0]   File "train.py", line 3\n',
        "[rank=0] ValueError: no\n[rank=0] after\n",
    ]

    records = b"".join(written.feed(piece.encode(), timestamp_us=NOW_US, now=0.0) for piece in pieces)

    lines = [decode_line(record, offset=0) for record in records.splitlines()]
    assert [(line.rank, line.level) for line in lines] == [
        (0, LogLevel.ERROR),
        (1, LogLevel.INFO),
        (0, LogLevel.ERROR),
        (0, LogLevel.ERROR),
        (0, LogLevel.INFO),
    ]
