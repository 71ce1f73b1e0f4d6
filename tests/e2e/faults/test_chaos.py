"""A short storm: one process of every kind is killed, and more at random, while a process stops and the disk is full.

`make chaos` has the long ones, with a database, a store and hosts that go away.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.timeout(900)
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_whatever_is_killed_nothing_acknowledged_is_lost_and_nothing_runs_twice() -> None:
    command = [sys.executable, "-m", "benchmarks.chaos.run", "--kills", "12", "--faults", "2"]
    command += ["--pause", "0.3", "--steps", "30", "--json"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert (found["lost"], found["twice"]) == ([], [])
    assert sum(found["kills"].values()) >= 12
    assert found["reports_acknowledged"] > 0
