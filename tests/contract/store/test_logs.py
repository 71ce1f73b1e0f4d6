"""`engine.ports.logs.Logs`: files that several processes append to."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.log import LogLevel, LogLine, LogStream, batch_mark, encode_line
from resolute.engine.ports.logs import LogQuery, Logs
from resolute.store.logs import FileLogs

SECOND = 1_000_000
START = 1_700_000_000 * SECOND


@pytest.fixture
def logs(tmp_path: Path) -> FileLogs:
    return FileLogs(tmp_path / "logs")


def _line(second: int, text: str = "", rank: int = 0, **fields: object) -> LogLine:
    return LogLine(START + second * SECOND, text or f"line {second}", rank, **fields)  # type: ignore[arg-type]


def _texts(logs: Logs, **query: object) -> list[str]:
    return [line.text for line in logs.read("t", LogQuery(**query))]  # type: ignore[arg-type]


class TestLogs:
    def test_lines_come_back_with_every_field_and_a_growing_id(self, logs: Logs) -> None:
        lines = [
            _line(0, "hello wörld", rank=3, stream=LogStream.STDERR, level=LogLevel.WARNING),
            _line(1, "no rank", rank=-1, stream=LogStream.PLATFORM, level=LogLevel.CRITICAL),
            _line(2, " leading and trailing \t"),
        ]

        logs.append("t", lines)

        found = logs.read("t", LogQuery())
        plain = [LogLine(line.timestamp_us, line.text, line.rank, line.stream, line.level) for line in found]
        assert plain == lines
        assert [line.id for line in found] == sorted({line.id for line in found})

    def test_a_task_that_wrote_nothing_has_an_empty_log(self, logs: Logs) -> None:
        logs.append("t", [])

        assert logs.read("t", LogQuery()) == []
        assert logs.read("t", LogQuery(newest_first=True, since_us=1, limit=3)) == []
        assert logs.size("t") == 0

    def test_the_size_grows_with_every_append(self, logs: Logs) -> None:
        sizes = []

        for second in range(3):
            logs.append("t", [_line(second)])
            sizes.append(logs.size("t"))

        assert sizes == sorted(set(sizes))

    def test_a_removed_log_is_gone_and_removing_again_is_fine(self, logs: Logs) -> None:
        logs.append("t", [_line(0)])

        logs.remove("t")
        logs.remove("t")

        assert logs.read("t", LogQuery()) == []

    @pytest.mark.parametrize("task_id", ["../../etc/passwd", "a/b", "..", "x" * 400, "sp ace", "1.abc"])
    def test_any_task_id_has_its_own_file_in_the_folder(self, logs: FileLogs, tmp_path: Path, task_id: str) -> None:
        logs.append(task_id, [_line(0)])
        logs.append(task_id.replace("/", "_") + "x", [_line(1)])

        assert logs.path(task_id).parent == tmp_path / "logs"
        assert [line.text for line in logs.read(task_id, LogQuery())] == ["line 0"]

    def test_filters_narrow_and_combine(self, logs: Logs) -> None:
        logs.append(
            "t",
            [
                _line(0, "Epoch 1", rank=0, level=LogLevel.INFO),
                _line(1, "Epoch 2", rank=1, level=LogLevel.ERROR, stream=LogStream.STDERR),
                _line(2, "ÄRGER (x)", rank=-1, level=LogLevel.DEBUG, stream=LogStream.PLATFORM),
            ],
        )

        assert _texts(logs, ranks=(0, 1)) == ["Epoch 1", "Epoch 2"]
        assert _texts(logs, ranks=(-1,)) == ["ÄRGER (x)"]
        assert _texts(logs, levels=(LogLevel.ERROR, LogLevel.DEBUG)) == ["Epoch 2", "ÄRGER (x)"]
        assert _texts(logs, streams=("o",)) == ["Epoch 1"]
        assert _texts(logs, text="epoch") == ["Epoch 1", "Epoch 2"]
        assert _texts(logs, text="ärger (X") == ["ÄRGER (x)"]
        assert _texts(logs, text=r"\d$", is_regex=True) == ["Epoch 1", "Epoch 2"]
        assert _texts(logs, text="epoch", is_regex=True) == []
        assert _texts(logs, text="Epoch", ranks=(1,)) == ["Epoch 2"]
        # The header is no text.
        assert _texts(logs, text="0001") == []

    def test_a_broken_expression_is_refused(self, logs: Logs) -> None:
        with pytest.raises(InvalidInput, match=r"'\('.* is no regular expression"):
            logs.read("t", LogQuery(text="(", is_regex=True))

    def test_an_expression_that_would_take_for_ever_is_given_up(self, logs: Logs) -> None:
        logs.append("t", [_line(0, "a" * 60 + "!")])

        with pytest.raises(InvalidInput, match=r"'\(a\|aa\)\+\$' takes too long"):
            logs.read("t", LogQuery(text="(a|aa)+$", is_regex=True))

    def test_reading_on_from_the_last_id_gives_only_what_is_new(self, logs: Logs) -> None:
        logs.append("t", [_line(0), _line(1)])
        first = logs.read("t", LogQuery())

        nothing = logs.read("t", LogQuery(after_id=first[-1].id))
        logs.append("t", [_line(2)])
        new = logs.read("t", LogQuery(after_id=first[-1].id))

        assert nothing == []
        assert [line.text for line in new] == ["line 2"]
        assert [line.text for line in logs.read("t", LogQuery(after_id=first[0].id))] == ["line 1", "line 2"]

    def test_pages_of_any_size_cover_the_log_once(self, logs: Logs) -> None:
        logs.append("t", [_line(second) for second in range(20)])
        seen: list[str] = []
        after = None

        while page := logs.read("t", LogQuery(after_id=after, limit=7)):
            seen += [line.text for line in page]
            after = page[-1].id

        assert seen == [f"line {second}" for second in range(20)]

    def test_the_newest_come_first_when_asked(self, logs: Logs) -> None:
        logs.append("t", [_line(second) for second in range(5)])

        newest = logs.read("t", LogQuery(newest_first=True, limit=2))
        oldest = logs.read("t", LogQuery())

        assert [line.text for line in newest] == ["line 4", "line 3"]
        assert logs.read("t", LogQuery(newest_first=True)) == oldest[::-1]
        assert logs.read("t", LogQuery(newest_first=True, after_id=oldest[3].id)) == [oldest[4]]
        assert logs.read("t", LogQuery(limit=0)) == []


COUNT = 40_000


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> FileLogs:
    """One line a second, about 2 MB: several blocks."""
    logs = FileLogs(tmp_path_factory.mktemp("logs"))
    logs.append("t", [_line(second, f"{second:05d} " + "x" * (second % 60)) for second in range(COUNT)])
    return logs


class TestLongLogs:
    @pytest.mark.parametrize(
        ("since", "until"), [(0, 10), (12_345, 12_350), (39_990, 50_000), (-5, 0), (50_000, 60_000)]
    )
    @pytest.mark.parametrize("newest_first", [True, False])
    def test_a_stretch_of_time_is_found_exactly(
        self, long: FileLogs, since: int, until: int, newest_first: bool
    ) -> None:
        query = LogQuery(since_us=START + since * SECOND, until_us=START + until * SECOND, newest_first=newest_first)

        found = [(line.timestamp_us - START) // SECOND for line in long.read("t", query)]

        expected = list(range(max(0, since), min(until, COUNT - 1) + 1))
        assert found == (expected[::-1] if newest_first else expected)

    def test_reading_backwards_is_the_reverse_of_forwards(self, long: FileLogs) -> None:
        assert long.read("t", LogQuery(newest_first=True)) == long.read("t", LogQuery())[::-1]

    def test_times_a_little_out_of_order_are_still_found(self, tmp_path: Path) -> None:
        """Two ranks that write side by side, one of them three seconds behind."""
        logs = FileLogs(tmp_path)
        logs.append("t", [_line(second - 3 * (second % 2), f"{second}") for second in range(COUNT)])
        at = 20_001

        found = logs.read("t", LogQuery(since_us=START + at * SECOND, until_us=START + (at + 2) * SECOND))

        expected = {str(second) for second in range(COUNT) if at <= second - 3 * (second % 2) <= at + 2}
        assert {line.text for line in found} == expected


class TestOtherWriters:
    def test_a_line_shows_only_once_it_is_complete(self, logs: FileLogs) -> None:
        logs.append("t", [_line(0)])
        record = encode_line(_line(1))

        with logs.path("t").open("ab") as file:
            file.write(record[:-5])
        torn = _texts(logs), _texts(logs, newest_first=True)
        with logs.path("t").open("ab") as file:
            file.write(record[-5:])

        assert torn == (["line 0"], ["line 0"])
        assert _texts(logs) == ["line 0", "line 1"]

    def test_a_writer_that_died_inside_a_line_does_not_spoil_the_next(self, logs: FileLogs) -> None:
        logs.append("t", [_line(0)])
        with logs.path("t").open("ab") as file:
            file.write(encode_line(_line(1, "unfinished business"))[:-9])

        logs.append("t", [_line(2)])

        assert _texts(logs) == ["line 0", "unfinished ", "line 2"]

    def test_bytes_that_are_no_records_are_shown_as_text(self, logs: FileLogs) -> None:
        logs.append("t", [_line(0)])
        with logs.path("t").open("ab") as file:
            file.write(b"plain\n" + b"1" * 16 + b" what ?? looks like a header\n" + b"\xff\xfe\n")

        found = logs.read("t", LogQuery())

        assert [line.text for line in found] == ["line 0", "plain", "1" * 16 + " what ?? looks like a header", "��"]

    def test_a_line_of_many_megabytes_is_cut_and_the_next_is_whole(self, logs: FileLogs) -> None:
        logs.append("t", [_line(0, "y" * 3_000_000), _line(1)])

        forwards, backwards = _texts(logs), _texts(logs, newest_first=True)

        assert forwards == backwards[::-1]
        assert len(forwards[0]) < 1_100_000
        assert forwards[1] == "line 1"

    def test_threads_and_processes_append_whole_lines(self, logs: FileLogs) -> None:
        script = (
            "import os, sys\n"
            "handle = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
            "for n in range(300): os.write(handle, b'%016d 0009 oI from the process %d\\n' % (n, n))\n"
        )
        process = subprocess.Popen([sys.executable, "-c", script, str(logs.path("t"))])
        threads = [
            threading.Thread(target=lambda rank=rank: [logs.append("t", [_line(n, rank=rank)] * 3) for n in range(100)])
            for rank in (1, 2)
        ]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert process.wait(60) == 0

        found = logs.read("t", LogQuery())
        assert len(found) == 300 + 2 * 100 * 3
        assert [line.text for line in found if line.rank == 9] == [f"from the process {n}" for n in range(300)]

    def test_the_end_given_to_a_line_that_was_only_being_written_is_no_line_of_its_own(self, logs: FileLogs) -> None:
        logs.append("t", [_line(0)])
        with logs.path("t").open("ab") as other:
            other.write(b"\n")
        logs.append("t", [_line(1)])

        forwards, backwards = _texts(logs), _texts(logs, newest_first=True)

        assert forwards == backwards[::-1] == ["line 0", "line 1"]

    def test_reading_leaves_no_files_open(self, logs: FileLogs) -> None:
        logs.append("t", [_line(0)])
        before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0

        for _ in range(20):
            logs.read("t", LogQuery(newest_first=True, limit=1))
            logs.append("t", [_line(1)])

        after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
        assert after == before


class TestBatchesFromElsewhere:
    RECORDS = b"".join(encode_line(_line(n, f"record {n}")) for n in range(3))

    def test_a_batch_that_is_repeated_stands_there_once(self, logs: Logs) -> None:
        logs.append("t", [_line(0, "before")])
        start = logs.size("t")

        for _ in range(3):
            logs.append_once("t", "a.0 1", self.RECORDS, start=start)
            logs.append("t", [_line(9, "between")])

        assert _texts(logs) == ["before", "record 0", "record 1", "record 2", *["between"] * 3]

    def test_batches_with_the_same_lines_and_another_name_are_all_kept(self, logs: Logs) -> None:
        for name in ("a.0 1", "a.1 1", "a.0 11", "a.0 2"):
            logs.append_once("t", name, self.RECORDS, start=0)

        assert len(_texts(logs)) == 4 * 3

    def test_the_marks_of_batches_are_seen_by_no_reader(self, logs: Logs) -> None:
        logs.append_once("t", "a.0 1", self.RECORDS, start=0)
        logs.append_once("t", "a.0 2", self.RECORDS, start=0)

        for query in (LogQuery(), LogQuery(text="a.0"), LogQuery(since_us=0), LogQuery(newest_first=True)):
            assert not any("a.0" in line.text for line in logs.read("t", query))
        assert len(logs.read("t", LogQuery(limit=4))) == 4

    @pytest.mark.parametrize("padding", [0, 1, 5000])
    def test_a_batch_that_was_torn_at_any_byte_is_completed(self, tmp_path: Path, padding: int) -> None:
        whole = batch_mark("a.0 1 0") + self.RECORDS
        for written in range(len(whole) + 1):
            logs = FileLogs(tmp_path / f"{padding}-{written}")
            logs.append("t", [_line(0, "x" * padding)])
            start = logs.size("t")
            with logs.path("t").open("ab") as file:
                file.write(whole[:written])

            logs.append_once("t", "a.0 1", self.RECORDS, start=start)

            assert _texts(logs)[1:] == ["record 0", "record 1", "record 2"], f"torn after {written} bytes"

    def test_a_record_that_was_torn_and_ended_by_another_writer_is_written_again(self, logs: FileLogs) -> None:
        whole = batch_mark("a.0 1 0") + self.RECORDS
        for written in range(len(whole) + 1):
            logs.remove("t")
            with logs.path("t").open("ab") as file:
                file.write(whole[:written])
            logs.append("t", [_line(9, "another")])

            logs.append_once("t", "a.0 1", self.RECORDS, start=0)
            logs.append_once("t", "a.0 1", self.RECORDS, start=0)
            logs.append_once("t", "a.0 1", self.RECORDS, start=0)

            texts = _texts(logs)
            assert texts.count("another") == 1
            assert [text for text in texts if re.fullmatch(r"record \d", text)] == ["record 0", "record 1", "record 2"]

    def test_threads_that_send_the_same_batch_at_once_write_it_once(self, logs: Logs) -> None:
        threads = [
            threading.Thread(target=logs.append_once, args=("t", f"a.{n % 2} 1", self.RECORDS), kwargs={"start": 0})
            for n in range(8)
        ]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(_texts(logs)) == sorted(["record 0", "record 1", "record 2"] * 2)
