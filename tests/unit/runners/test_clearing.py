"""What nobody needs any more goes: environments that were not used for long, and the beginnings of endless logs."""

import os
import subprocess
import sys
from pathlib import Path

from tests.unit.runners.test_environment_build import Builder

from resolute.runners.clearing import ENVIRONMENT_DAYS, LARGEST_LOG_BYTES, clear_environments, shorten_log

NOW = 1_800_000_000.0
DAY = 86400


def used(envs: Path, name: str, *, days_ago: float, is_complete: bool = True) -> Path:
    folder = envs / name
    folder.mkdir(parents=True)
    if is_complete:
        (folder / ".complete").touch()
        os.utime(folder / ".complete", (NOW - days_ago * DAY,) * 2)
    os.utime(folder, (NOW - days_ago * DAY,) * 2)
    return folder


def test_environments_that_were_not_used_for_long_go(tmp_path: Path) -> None:
    old = used(tmp_path, "old", days_ago=ENVIRONMENT_DAYS + 1)
    new = used(tmp_path, "new", days_ago=ENVIRONMENT_DAYS - 1)

    assert clear_environments(tmp_path, now=NOW) == 1
    assert (old.exists(), new.exists()) == (False, True)


def test_an_environment_whose_build_died_goes_after_a_day_and_one_that_is_being_built_stays(tmp_path: Path) -> None:
    dead = used(tmp_path, "dead", days_ago=2, is_complete=False)
    under_way = used(tmp_path, "under-way", days_ago=0.5, is_complete=False)

    clear_environments(tmp_path, now=NOW)

    assert (dead.exists(), under_way.exists()) == (False, True)


def test_an_environment_that_a_process_runs_in_stays(tmp_path: Path) -> None:
    busy = used(tmp_path, "busy", days_ago=100)
    command = [sys.executable, "-c", "input()", f"{busy}/bin/python"]

    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        gone = clear_environments(tmp_path, now=NOW)
        process.kill()

    assert gone == 0
    assert busy.exists()


def test_using_an_environment_keeps_it(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "env")
    builder.run()
    os.utime(tmp_path / "env/.complete", (0, 0))

    builder.build.note_use()

    assert clear_environments(tmp_path) == 0


def test_a_log_without_end_keeps_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "zygote.err"
    log.write_text("noise of a start\n" * 100_000 + "the last line\n")

    shorten_log(log)

    assert log.stat().st_size < LARGEST_LOG_BYTES / 2
    assert log.read_text().startswith("noise of a start\n")
    assert log.read_text().endswith("the last line\n")
    assert log.stat().st_mode & 0o077 == 0


def test_a_short_log_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "zygote.err"
    log.write_text("one line\n")

    shorten_log(log)
    shorten_log(tmp_path / "none")

    assert log.read_text() == "one line\n"
