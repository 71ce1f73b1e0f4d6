"""The master on PostgreSQL: an experiment runs, and a kill -9 of the master costs nothing there either."""

import socket
import subprocess
import sys
from pathlib import Path

CONFIG = """
name: steady
entrypoint: python3 steady.py
max_restarts: 0
searcher: {{name: single, metric: loss}}
environment: {{environment_variables: [STEADY_STEPS=60, STEADY_RECORD={record}]}}
"""


def test_an_experiment_survives_the_master_on_postgresql(make_master, postgres: str, tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.mkdir()
    master = make_master(tmp_path / "home", warm=False, db=postgres)
    experiment = master.create(CONFIG.format(record=record), "steady.py")

    master.kill()
    master.start()
    state = master.wait(experiment)

    [trial] = master.trials(experiment)
    assert state == "STATE_COMPLETED"
    assert (trial["restarts"], trial["totalBatchesProcessed"]) == (0, 60)
    assert (record / "starts").read_text().split() == [f"{trial['id']}.1"]


def test_a_database_has_one_master_and_the_next_takes_over_when_it_is_gone(
    make_master, postgres: str, tmp_path: Path
) -> None:
    first = make_master(tmp_path / "first", warm=False, db=postgres)

    refused = _refusal(tmp_path / "second", postgres)
    first.kill()
    second = make_master(tmp_path / "second", warm=False, db=postgres)

    assert "has a master already" in refused
    assert f"process {first.pid} on {socket.gethostname()}" in refused
    assert second.call("GET", "/api/v1/experiments")["experiments"] == []


def _refusal(home: Path, db: str) -> str:
    command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", "0", "--home", str(home), "--no-warm"]
    done = subprocess.run([*command, "--db", db], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode not in (0, None)
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr
