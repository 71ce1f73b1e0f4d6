"""`/health` says what fails: the database, the disk, a store of checkpoints."""

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resolute.engine.jobs.sweeping import sweep
from resolute.runners.fake import FakeRunner
from resolute.server.health import HealthCheck


@pytest.fixture
def dead_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def with_storage(api: Any, storage: dict[str, object]) -> HealthCheck:
    config = replace(api.platform.config, checkpoint_storage=storage)
    return HealthCheck(replace(api.platform, config=config))


def test_a_healthy_master_says_so_and_leaves_nothing_in_its_store(api: Any, tmp_path: Path) -> None:
    health = with_storage(api, {"type": "shared_fs", "host_path": str(tmp_path / "store")})

    assert health.problem() == ""
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


def test_a_store_that_takes_no_files_is_named(api: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    problem = with_storage(api, {"type": "shared_fs", "host_path": str(tmp_path / "file" / "store")}).problem()

    assert str(tmp_path / "file" / "store") in problem


def test_a_store_of_a_running_experiment_that_is_away_makes_the_master_unhealthy(api: Any, dead_port: int) -> None:
    config = {
        "name": "away",
        "entrypoint": "true",
        "searcher": {"name": "single", "metric": "loss"},
        "checkpoint_storage": {
            "type": "s3",
            "bucket": "gone",
            "access_key": "key",
            "secret_key": "never told",
            "endpoint_url": f"http://127.0.0.1:{dead_port}",
        },
    }
    api.post("/api/v1/experiments", {"config": json.dumps(config), "activate": True})

    answer = api.call("GET", "/health", expect=503)

    assert answer["status"] == "down"
    assert "checkpoint store" in answer["message"] or "gone" in answer["message"]
    assert "never told" not in answer["message"]


class SweptRunner(FakeRunner):
    live: frozenset[str] = frozenset()

    def sweep(self, live: frozenset[str]) -> int:
        self.live = live
        return 3


def test_the_engine_sweeps_all_but_live_allocations(api: Any) -> None:
    runner = SweptRunner()
    api.post(
        "/api/v1/experiments",
        {
            "config": json.dumps({"name": "x", "entrypoint": "true", "searcher": {"name": "single", "metric": "loss"}}),
            "activate": True,
        },
    )
    with api.platform.store.read() as tx:
        live = {each.id for each in tx.allocations.live()}

    assert sweep(replace(api.platform, runner=runner)) == 3
    assert live
    assert live <= runner.live
    assert sweep(api.platform) == 0
