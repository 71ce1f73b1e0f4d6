"""Shared pieces of the training tests: a master in a thread, and a clean environment."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolute.client.task.fake import FakeTaskMaster

_OURS = ("DET_", "RESOLUTE_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "OMPI_", "TORCHELASTIC")


@pytest.fixture(autouse=True)
def no_trial_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(_OURS):
            monkeypatch.delenv(name)


@pytest.fixture
def master() -> Iterator[FakeTaskMaster]:
    with FakeTaskMaster() as running:
        yield running


@pytest.fixture
def on_cluster(master: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTaskMaster:
    """This process becomes a trial of the fake master."""
    for name, value in master.env(tmp_path / "storage").items():
        monkeypatch.setenv(name, value)
    return master
