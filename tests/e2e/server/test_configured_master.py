"""A master that is started with a configuration file, as the guide for operators shows it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import LiveMaster

GUIDE = (Path(__file__).parents[3] / "docs/operations.md").read_text()


@pytest.fixture
def configured(tmp_path: Path, end_processes_of: Callable[[Path], None]) -> Iterator[Any]:
    started: list[LiveMaster] = []

    def start(text: str) -> LiveMaster:
        (tmp_path / "master.yaml").write_text(text)
        started.append(LiveMaster(tmp_path / "home", "--config", str(tmp_path / "master.yaml")))
        return started[-1].start()

    yield start
    for each in started:
        each.close()
    end_processes_of(tmp_path)


def test_the_file_of_the_guide_starts_a_master(configured: Any) -> None:
    example = re.search(r"```yaml\n# master\.yaml\n(.*?)```", GUIDE, re.DOTALL)
    assert example is not None

    master = configured(example[1])

    assert master.http.get(f"{master.url}/info", headers={"Host": "resolute.example.org"}).status_code == 200
    assert master.http.get(f"{master.url}/info", headers={"Host": "other.example.org"}).status_code == 403
    assert master.http.get(f"{master.url}/api/v1/master").json()["rbacEnabled"] is True
    # The command line of the test gave a port and a home of its own.
    assert not master.url.endswith(":8080")
    assert (master.home / "resolute.sqlite3").exists()


def test_with_roles_a_user_without_one_sees_nothing(configured: Any) -> None:
    master = configured("rights: roles\nslots: 1\n")

    seen = master.call("GET", "/api/v1/workspaces")["workspaces"]
    master.login("admin")

    assert seen == []
    assert [each["name"] for each in master.call("GET", "/api/v1/workspaces")["workspaces"]] == ["Uncategorized"]
