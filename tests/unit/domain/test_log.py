"""The form of a log line on disk."""

from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.log import HEADER_LENGTH, LogLevel, LogLine, LogStream, decode_line, encode_line, guess_level

TEXT = st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=("Cs",)))


@given(
    text=TEXT,
    time=st.integers(0, 10**16 - 1),
    rank=st.integers(-1, 9999),
    stream=st.sampled_from(LogStream),
    level=st.sampled_from(LogLevel),
)
def test_a_line_comes_back_as_it_was_written(
    text: str, time: int, rank: int, stream: LogStream, level: LogLevel
) -> None:
    line = LogLine(timestamp_us=time, text=text, rank=rank, stream=stream, level=level, id=7)

    assert decode_line(encode_line(line), offset=7) == line


def test_a_newline_in_the_text_does_not_start_a_second_record() -> None:
    record = encode_line(LogLine(timestamp_us=1, text="a\nb"))

    assert record.count(b"\n") == 1


def test_a_torn_record_becomes_plain_text() -> None:
    assert decode_line(b"half a li", offset=3).text == "half a li"


def test_the_header_has_the_length_readers_rely_on() -> None:
    assert encode_line(LogLine(timestamp_us=1, text="x"))[HEADER_LENGTH:] == b"x\n"


def test_a_level_named_at_the_start_is_found() -> None:
    assert guess_level("2026-01-01 ERROR: no such file") is LogLevel.ERROR
    assert guess_level("WARNING: slow") is LogLevel.WARNING
    assert guess_level("epoch 1 loss 0.2") is LogLevel.INFO
