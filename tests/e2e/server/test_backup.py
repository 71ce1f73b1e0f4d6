"""A backup is taken while trials report, and a home made of it goes on where the backup was taken."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCRIPT = """
import pathlib
import time
import resolute

with resolute.init() as run:
    gate = pathlib.Path(run.hparams["gate"])
    restored = run.checkpoint.restore()
    start = restored.steps if restored else 0
    print("starting at", start)
    for step in range(start + 1, 61):
        run.report("training", step, {"loss": 1 / step})
        if step % 5 == 0:
            with run.checkpoint.store(steps=step) as (folder, _):
                (folder / "weights").write_text(str(step))
            run.report("validation", step, {"loss": 1 / step})
        while step == 30 and not gate.exists():
            time.sleep(0.02)
"""
CONFIG = """
name: backed up
entrypoint: python3 train.py
searcher: {{name: single, metric: loss}}
hyperparameters: {{gate: {gate}}}
checkpoint_storage: {{save_trial_latest: 3}}
"""


def test_a_home_restored_from_a_backup_of_a_busy_master_completes_its_trial(
    masters: Callable[[Path], Any], tmp_path: Path
) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    first = masters(tmp_path / "home").start()
    experiment = first.create(CONFIG.format(gate=tmp_path / "gate"), folder)
    until(lambda: bool(first.call("GET", f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]))

    made = resolute("backup", "create", tmp_path / "copy", "--home", tmp_path / "home")
    (tmp_path / "gate").touch()
    assert first.wait(experiment) == "STATE_COMPLETED"
    first.stop()
    (tmp_path / "home").rename(tmp_path / "lost")
    resolute("backup", "restore", tmp_path / "copy", "--home", tmp_path / "again")
    second = masters(tmp_path / "again").start()

    assert made["experiments"] == 1
    assert made["missing"] == []
    assert second.wait(experiment) == "STATE_COMPLETED"
    trials = second.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"]
    assert trials[0]["restarts"] == 0
    log = second.http.get(f"{second.url}/api/v1/trials/{trials[0]['id']}/logs").text
    assert "starting at 0" in log
    assert re.search(r"starting at [1-9]", log), "it began anew instead of going on from its checkpoint"


def test_a_backup_into_a_folder_with_files_is_refused(masters: Callable[[Path], Any], tmp_path: Path) -> None:
    masters(tmp_path / "home").start().stop()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")

    refused = _run("backup", "create", tmp_path / "full", "--home", tmp_path / "home")

    assert refused.returncode != 0
    assert "is not empty" in refused.stderr
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.txt"]


def test_an_unfinished_backup_and_a_home_in_use_are_refused(masters: Callable[[Path], Any], tmp_path: Path) -> None:
    masters(tmp_path / "home").start().stop()
    resolute("backup", "create", tmp_path / "copy", "--home", tmp_path / "home")

    onto_a_home = _run("backup", "restore", tmp_path / "copy", "--home", tmp_path / "home")
    (tmp_path / "copy" / "backup.json").unlink()
    unfinished = _run("backup", "restore", tmp_path / "copy", "--home", tmp_path / "new")

    assert "is not empty" in onto_a_home.stderr
    assert "not a finished backup" in unfinished.stderr
    assert not (tmp_path / "new").exists()


def test_a_backup_is_readable_by_its_owner_only(masters: Callable[[Path], Any], tmp_path: Path) -> None:
    masters(tmp_path / "home").start().stop()

    resolute("backup", "create", tmp_path / "copy", "--home", tmp_path / "home")

    assert (tmp_path / "copy").stat().st_mode & 0o077 == 0
    assert (tmp_path / "copy" / "resolute.sqlite3").stat().st_mode & 0o077 == 0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


def resolute(*words: str | Path) -> dict[str, Any]:
    done = _run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def _run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "resolute.cli.main", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
