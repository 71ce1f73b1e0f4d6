"""What is left after a kill, on a full disk, with a broken file or without a server."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from resolute.domain.errors import InvalidInput, NotSupported, Unavailable
from resolute.domain.log import LogLine
from resolute.domain.metric import TRAINING, MetricReport
from resolute.engine.ports.blobs import Blobs
from resolute.engine.ports.database import Store
from resolute.engine.ports.logs import LogQuery
from resolute.store.blobs import open_blobs
from resolute.store.db import open_store
from resolute.store.logs import FileLogs

# Several threads commit numbers and say each one once it is acknowledged.
WRITER = """
import sys, threading
from datetime import UTC, datetime
from resolute.domain.metric import MetricReport
from resolute.store.db import open_store

store = open_store(sys.argv[1])
said = threading.Lock()

def write(thread):
    for number in range(100_000):
        report = MetricReport(trial_id=thread, run_id=1, group="training", steps_completed=number,
                              report_time=datetime.now(UTC), metrics={"loss": float(number)})
        with store.write() as transaction:
            transaction.metrics.append([report])
            transaction.settings.put(f"thread {thread}", number)
        with said:
            print(thread, number, flush=True)

for thread in range(1, 4):
    threading.Thread(target=write, args=(thread,)).start()
"""


class TestKill:
    @pytest.mark.parametrize("lines", [1, 40, 200])
    def test_every_acknowledged_write_survives_a_kill(self, tmp_path: Path, lines: int) -> None:
        url = f"sqlite:///{tmp_path}/db.sqlite3"
        process = subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        heard = [process.stdout.readline().split() for _ in range(lines)]

        process.send_signal(signal.SIGKILL)
        heard += [line.split() for line in process.stdout.read().splitlines() if line.count(" ") == 1]
        process.wait(30)
        process.stdout.close()

        acknowledged = {int(thread): int(number) for thread, number in heard}
        store = open_store(url)
        with store.read() as transaction:
            for thread, number in acknowledged.items():
                stored = transaction.settings.get(f"thread {thread}")
                series = transaction.metrics.series(thread, TRAINING, "loss", max_points=10**6)
                assert stored >= number
                # The two were one transaction.
                assert series.steps == list(range(stored + 1))
                assert transaction.metrics.summaries(thread)[0].count == stored + 1
        store.close()
        with sqlite3.connect(tmp_path / "db.sqlite3") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode:
        pytest.skip(f"mounting is not permitted here: {done.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


class TestFullDisk:
    def test_the_database_refuses_keeps_what_it_has_and_goes_on_when_there_is_space(self, small_disk: Path) -> None:
        store = open_store(f"sqlite:///{small_disk}/db.sqlite3")
        _put(store, "before", 1)
        _fill(small_disk / "filler")

        with pytest.raises(
            Unavailable, match=r"disk of the database .* is full; nothing was changed\. Free some space"
        ):
            _put(store, "large", "x" * 3_000_000)

        assert (_get(store, "before"), _get(store, "large")) == (1, None)
        (small_disk / "filler").unlink()
        _put(store, "after", 2)
        store.close()
        again = open_store(f"sqlite:///{small_disk}/db.sqlite3")
        assert (_get(again, "before"), _get(again, "after"), _get(again, "large")) == (1, 2, None)
        again.close()
        connection = sqlite3.connect(small_disk / "db.sqlite3")
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()

    def test_metrics_of_a_refused_report_are_not_half_there(self, small_disk: Path) -> None:
        store = open_store(f"sqlite:///{small_disk}/db.sqlite3")
        _fill(small_disk / "filler")
        reports = [_report(step) for step in range(50_000)]

        with pytest.raises(Unavailable, match="is full"):
            _append(store, reports)

        with store.read() as transaction:
            assert transaction.metrics.summaries(1) == []
            assert transaction.metrics.series(1, TRAINING, "loss").total_points == 0
        (small_disk / "filler").unlink()
        assert _append(store, reports[:100]) == 100
        store.close()

    def test_a_log_takes_all_lines_or_none(self, small_disk: Path) -> None:
        logs = FileLogs(small_disk)
        logs.append("t", [LogLine(1, "before")])
        _fill(small_disk / "filler", leave=20_000)

        with pytest.raises(Unavailable, match=r"disk of the log .* is full; nothing was appended"):
            logs.append("t", [LogLine(2, "x" * 10_000)] * 20)

        assert [line.text for line in logs.read("t", LogQuery())] == ["before"]
        (small_disk / "filler").unlink()
        logs.append("t", [LogLine(3, "after")])
        assert [line.text for line in logs.read("t", LogQuery())] == ["before", "after"]

    def test_a_checkpoint_file_is_whole_or_not_there(self, small_disk: Path) -> None:
        blobs = open_blobs({"type": "directory", "container_path": str(small_disk / "c")})
        blobs.write("u1", "small", b"1")

        with pytest.raises(Unavailable, match=r"disk of folder .* is full; u1/large was not written"):
            blobs.write("u1", "large", b"x" * 20_000_000)

        assert blobs.files("u1") == {"small": 1}
        _write_once_there_is_room(blobs, small_disk, b"x" * 1_000_000)
        assert blobs.files("u1") == {"large": 1_000_000, "small": 1}


def _write_once_there_is_room(blobs: Blobs, disk: Path, content: bytes) -> None:
    """The object store removes what it could not finish in the background, a moment after it said so."""
    ends_at = time.monotonic() + 20
    while shutil.disk_usage(disk).free < 2 * len(content):
        assert time.monotonic() < ends_at, "the unfinished file was never removed"
        time.sleep(0.01)
    blobs.write("u1", "large", content)


class TestBrokenDatabases:
    def test_a_file_that_is_no_database_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "db.sqlite3").write_bytes(b"this is something else entirely, and long enough\n" * 100)

        with pytest.raises(Unavailable, match=r"db\.sqlite3 is damaged .*Put a backup"):
            open_store(f"sqlite:///{tmp_path}/db.sqlite3")

    def test_a_folder_in_its_place_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "db.sqlite3").mkdir()

        with pytest.raises(Unavailable, match=r"db\.sqlite3 cannot be opened"):
            open_store(f"sqlite:///{tmp_path}/db.sqlite3")

    def test_a_server_that_is_away_is_named_without_the_password(self) -> None:
        with pytest.raises(Unavailable, match="cannot be reached") as caught:
            open_store("postgresql://me:geheim@127.0.0.1:1/nowhere?connect_timeout=2")

        assert "geheim" not in str(caught.value)

    @pytest.mark.parametrize("url", ["", "nonsense", "/just/a/path"])
    def test_what_is_no_url_is_refused(self, url: str) -> None:
        with pytest.raises(InvalidInput, match="is no database URL"):
            open_store(url)

    def test_other_databases_are_refused(self) -> None:
        with pytest.raises(NotSupported, match="'mysql' are not supported"):
            open_store("mysql://localhost/x")


class TestDurability:
    def test_many_threads_share_syncs_and_all_are_answered(self, tmp_path: Path) -> None:
        store = open_store(f"sqlite:///{tmp_path}/db.sqlite3")
        threads = [threading.Thread(target=_put, args=(store, f"k{n}", n)) for n in range(20)]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

        assert [_get(store, f"k{n}") for n in range(20)] == list(range(20))
        store.close()

    def test_an_in_memory_store_leaves_nothing_behind(self) -> None:
        store = open_store("sqlite://")
        folder = Path(store._database.place).parent
        assert folder.exists()

        store.close()

        assert not folder.exists()

    def test_a_closed_store_leaves_no_files_open(self, tmp_path: Path) -> None:
        def opened() -> int:
            return sum(str(tmp_path) in os.readlink(f"/proc/self/fd/{n}") for n in _handles())

        store = open_store(f"sqlite:///{tmp_path}/db.sqlite3")
        _put(store, "a", 1)
        _get(store, "a")
        was = opened()

        store.close()
        (tmp_path / "broken").write_bytes(b"no database\n" * 1000)
        with pytest.raises(Unavailable):
            open_store(f"sqlite:///{tmp_path}/broken")

        assert was > 0
        assert opened() == 0


def _handles() -> list[str]:
    if not Path("/proc/self/fd").exists():
        pytest.skip("there is no /proc here")
    return [name for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")]


def _put(store: Store, key: str, value: object) -> None:
    with store.write() as transaction:
        transaction.settings.put(key, value)


def _get(store: Store, key: str) -> object:
    with store.read() as transaction:
        return transaction.settings.get(key)


def _append(store: Store, reports: list[MetricReport]) -> int:
    with store.write() as transaction:
        return transaction.metrics.append(reports)


def _report(step: int) -> MetricReport:
    metrics = {"loss": float(step), "lr": 0.1, "accuracy": 0.5}
    return MetricReport(
        trial_id=1, run_id=1, group=TRAINING, steps_completed=step, report_time=datetime.now(UTC), metrics=metrics
    )


def _fill(path: Path, *, leave: int = 0) -> None:
    """Write until the disk is full, then give `leave` bytes back."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            file.truncate(max(0, file.tell() - leave))
