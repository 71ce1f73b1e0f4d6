"""Runs commands against a fake master and captures what they print."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from resolute.cli.main import run
from resolute.client.fake import FakeMaster


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Resolute = Callable[..., Outcome]


@pytest.fixture
def master() -> FakeMaster:
    return FakeMaster()


@pytest.fixture
def resolute(
    master: FakeMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Resolute:
    """`resolute("e", "list")` as if typed, in a folder and with a home of its own."""
    for name in ("DET_MASTER", "DET_USER", "DET_PASS", "RESOLUTE_TOKEN", "RESOLUTE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RESOLUTE_MASTER", "http://fake:8080")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Outcome:
        code = run(arguments, transport=master.transport())
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return invoke


@pytest.fixture
def config(tmp_path: Path) -> str:
    """A configuration file and beside it a folder `model` with code."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "train.py").write_text("print('hello')\n")
    (tmp_path / "config.yaml").write_text("name: demo # why\nentrypoint: python3 train.py\nsearcher:\n  name: single\n")
    return "config.yaml"
