"""Reading a log file against reading it naively, whatever was written and whatever is asked."""

import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.log import LogLevel, LogLine, LogStream
from resolute.engine.ports.logs import LogQuery
from resolute.store.logs import FileLogs

START = 1_700_000_000_000_000
SECOND = 1_000_000
texts = st.text(st.sampled_from("aB ü\tx.0"), max_size=12)
lines = st.lists(
    st.builds(
        LogLine,
        st.integers(START, START + 100 * SECOND),
        texts,
        st.integers(-1, 3),
        st.sampled_from(LogStream),
        st.sampled_from(LogLevel),
    ),
    max_size=30,
).map(lambda found: sorted(found, key=lambda line: line.timestamp_us))
moments = st.none() | st.integers(START - SECOND, START + 101 * SECOND)
queries = st.builds(
    LogQuery,
    ranks=st.sets(st.integers(-1, 3), max_size=2).map(tuple),
    levels=st.sets(st.sampled_from(LogLevel), max_size=3).map(tuple),
    streams=st.sets(st.sampled_from(["o", "e", "p"]), max_size=2).map(tuple),
    since_us=moments,
    until_us=moments,
    text=st.sampled_from(["", "", "a", "b", "Ü", "."]),
    is_regex=st.booleans(),
    limit=st.none() | st.integers(0, 10),
    newest_first=st.booleans(),
)


def _matches(line: LogLine, query: LogQuery) -> bool:
    if query.text:
        is_found = re.search(query.text, line.text) if query.is_regex else query.text.lower() in line.text.lower()
        if not is_found:
            return False
    return (
        (not query.ranks or line.rank in query.ranks)
        and (not query.levels or line.level in query.levels)
        and (not query.streams or line.stream in query.streams)
        and (query.since_us is None or line.timestamp_us >= query.since_us)
        and (query.until_us is None or line.timestamp_us <= query.until_us)
    )


@settings(deadline=None, max_examples=80)
@given(lines, queries)
def test_any_query_finds_what_a_plain_filter_finds(written: list[LogLine], query: LogQuery) -> None:
    with tempfile.TemporaryDirectory() as folder:
        logs = FileLogs(Path(folder))
        logs.append("t", written)

        found = logs.read("t", query)

    expected = [line for line in written if _matches(line, query)]
    ordered = expected[::-1] if query.newest_first else expected
    assert [_without_id(line) for line in found] == ordered[: query.limit]


@settings(deadline=None, max_examples=40)
@given(lines, st.integers(0, 40))
def test_what_follows_any_line_is_the_rest(written: list[LogLine], place: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        logs = FileLogs(Path(folder))
        logs.append("t", written)
        everything = logs.read("t", LogQuery())
        if place >= len(everything):
            return

        rest = logs.read("t", LogQuery(after_id=everything[place].id))

    assert rest == everything[place + 1 :]


def _without_id(line: LogLine) -> LogLine:
    return LogLine(line.timestamp_us, line.text, line.rank, line.stream, line.level)
