"""A fake master and a client of it, with a home of their own."""

from pathlib import Path

import pytest

from resolute.client import Client
from resolute.client.fake import FakeMaster


@pytest.fixture
def master() -> FakeMaster:
    return FakeMaster()


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "RESOLUTE_MASTER": "http://fake:8080"}


@pytest.fixture
def client(master: FakeMaster, env: dict[str, str]) -> Client:
    return Client(env=env, transport=master.transport())
