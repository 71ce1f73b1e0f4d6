"""A master of root says so, and runs trials as somebody else where it is told to."""

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes of others")

CONFIG = """
name: who
entrypoint: id -un; id -u; cat {database} 2>&1 | head -c 400
searcher: {{name: single, metric: loss}}
max_restarts: 0
"""


@pytest.fixture
def start(tmp_path: Path, live_master: Any) -> Iterator[Callable[..., Any]]:
    """start(*options): a master over a home to which others may pass."""
    for folder in (tmp_path, *tmp_path.parents):
        if "pytest" in str(folder):
            folder.chmod(folder.stat().st_mode | 0o011)
    made: list[Any] = []

    def begin(*options: str) -> Any:
        made.append(type(live_master)(tmp_path / "home", "--slots", "1", "--no-warm", *options).start())
        return made[-1]

    yield begin
    for master in made:
        master.stop()
        master.http.close()


def output_of_a_trial(master: Any, database: Path) -> str:
    master.login()
    body = {"config": CONFIG.format(database=database), "modelDefinition": [], "activate": True, "projectId": 1}
    experiment_id = master.call("POST", "/api/v1/experiments", json=body)["experiment"]["id"]
    master.wait(experiment_id)
    trial = master.call("GET", f"/api/v1/experiments/{experiment_id}/trials")["trials"][0]
    return str(master.http.get(f"{master.url}/api/v1/trials/{trial['id']}/logs").text)


def test_trials_run_as_the_account_that_was_named(start: Callable[..., Any], tmp_path: Path) -> None:
    home = tmp_path / "home"
    master = start("--run-as", "nobody")

    said = output_of_a_trial(master, home / "resolute.sqlite3")
    master.stop()
    again = output_of_a_trial(start("--run-as", "nobody"), home / "resolute.sqlite3")

    for log in (said, again):
        assert "nobody" in log
        assert "65534" in log
        assert "Permission denied" in log
    assert "Trials run as root" not in master.output.read_text()
    assert stat.S_IMODE((home / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE(home.stat().st_mode) == 0o711


def test_a_master_that_runs_trials_as_root_says_so(start: Callable[..., Any]) -> None:
    master = start()

    ends_at = time.monotonic() + 30
    while "--run-as USER" not in master.output.read_text() and time.monotonic() < ends_at:
        time.sleep(0.05)

    assert "Warning: Trials run as root" in master.output.read_text()
