"""Runs training scripts as processes of their own, against a master in a thread."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from resolute.client.task.fake import FakeTaskMaster

SCRIPTS = Path(__file__).parent / "scripts"
ROOT = Path(__file__).parents[3]
_OURS = ("DET_", "RESOLUTE_", "RANK", "WORLD_SIZE", "LOCAL_", "TORCHELASTIC", "PLAN")


@pytest.fixture
def master() -> Iterator[FakeTaskMaster]:
    with FakeTaskMaster() as running:
        yield running


@pytest.fixture
def on_cluster(master: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTaskMaster:
    """This process becomes a trial of the fake master."""
    for name in list(os.environ):
        if name.startswith(_OURS):
            monkeypatch.delenv(name)
    for name, value in master.env(tmp_path / "storage").items():
        monkeypatch.setenv(name, value)
    return master


Launch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """launch(arguments, plan, env): `python -m resolute.launch.torch_distributed ...`, in a folder of its own."""

    def run(
        *arguments: str, plan: dict[str, Any] | None = None, env: dict[str, str] | None = None, module: str = ""
    ) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        clean |= {"OMP_NUM_THREADS": "1", "PLAN": json.dumps(plan or {}), **(env or {})}
        command = [sys.executable, "-m", module or "resolute.launch.torch_distributed", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture
def points() -> str:
    return str(SCRIPTS / "points.py")
