"""The official client, in an environment of its own, as the judge of our API."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
JUDGE = ROOT / ".venv-judge" / "bin"
MODEL = Path(__file__).parent / "model"

Det = Callable[..., str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if (JUDGE / "det").exists():
        return
    skip = pytest.mark.skip(reason="the official client is not installed; `make test` puts it into .venv-judge")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def judge_env(live_master: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Its logins and settings are kept away from the user's own."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("DET_", "RESOLUTE_"))}
    home = tmp_path_factory.mktemp("judge")
    return {**ours, "DET_MASTER": live_master.url, "XDG_CONFIG_HOME": str(home), "HOME": str(home), "COLUMNS": "500"}


@pytest.fixture(scope="session")
def det(judge_env: dict[str, str]) -> Det:
    """det("e", "list"): what it printed. Its exit code must be `code`."""

    def run(*arguments: Any, code: int = 0, timeout_s: float = 120, given: str | None = None) -> str:
        command = [str(JUDGE / "det"), *map(str, arguments)]
        done = subprocess.run(
            command, env=judge_env, capture_output=True, text=True, timeout=timeout_s, input=given, check=False
        )
        assert done.returncode == code, f"{' '.join(command)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + (done.stderr if code else "")

    return run


@pytest.fixture(scope="session")
def sdk(judge_env: dict[str, str]) -> Callable[..., str]:
    """Runs a script of `scripts/` with the official SDK and returns what it printed."""

    def run(script: str, *arguments: Any, timeout_s: float = 180) -> str:
        path = Path(__file__).parent / "scripts" / script
        command = [str(JUDGE / "python"), str(path), *map(str, arguments)]
        done = subprocess.run(command, env=judge_env, capture_output=True, text=True, timeout=timeout_s, check=False)
        assert done.returncode == 0, f"{script}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


def config(*, steps: int = 3, pause_s: float = 0.0, name: str = "judged") -> str:
    """Trials run in the judge's own Python, which has the harness."""
    return f"""
name: {name}
entrypoint: python3 train.py
environment:
  python: {JUDGE / "python"}
searcher: {{name: single, metric: val_loss, smaller_is_better: true, max_length: {{batches: {steps}}}}}
hyperparameters: {{steps: {steps}, pause_s: {pause_s}}}
max_restarts: 0
"""


@pytest.fixture
def write_config(tmp_path: Path) -> Callable[..., Path]:
    def write(**options: Any) -> Path:
        path = tmp_path / "config.yaml"
        path.write_text(config(**options))
        return path

    return write


@pytest.fixture(scope="session")
def model() -> Path:
    return MODEL


@pytest.fixture(scope="session")
def done(live_master: Any, model: Path) -> int:
    """An experiment that has completed, shared by the tests that only look."""
    experiment_id = live_master.create(config(name="finished"), model)
    assert live_master.wait(experiment_id) == "STATE_COMPLETED", _log(live_master, experiment_id)
    return int(experiment_id)


@pytest.fixture
def slow(live_master: Any, model: Path) -> int:
    """An experiment that runs until it is told to stop."""
    experiment_id = live_master.create(config(steps=10_000, pause_s=0.05, name="slow"), model)
    live_master.wait(experiment_id, "STATE_RUNNING")
    return int(experiment_id)


def _log(master: Any, experiment_id: int) -> str:
    trial = master.call("GET", f"/api/v1/experiments/{experiment_id}/trials")["trials"][0]
    return str(master.http.get(f"{master.url}/api/v1/trials/{trial['id']}/logs").text)
