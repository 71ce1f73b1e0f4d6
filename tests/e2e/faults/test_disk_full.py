"""A full disk: a clear error, nothing corrupt, and work goes on when there is space again."""

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

CONFIG = """
name: patient
entrypoint: python3 patient.py
max_restarts: 5
searcher: {name: single, metric: loss}
environment: {environment_variables: [PATIENT_STEPS=150]}
"""
PLAIN = """
name: plain
entrypoint: "true"
searcher: {name: single, metric: loss}
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """64 MB of memory mounted as a disk; skipped where mounting is not allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a tmpfs is not allowed here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=False)


def test_a_full_disk_is_told_and_survived(small_disk: Path, make_master) -> None:
    master = make_master(small_disk / "home")
    experiment = master.create(CONFIG, "patient.py")
    _until(lambda: master.trials(experiment)[0]["totalBatchesProcessed"] >= 5)

    filler = small_disk / "filler"
    _fill(filler)
    refused = _create_while_full(master)
    _until(lambda: httpx.get(f"{master.url}/health", timeout=30).status_code == 503)
    sick = httpx.get(f"{master.url}/health", timeout=30).json()
    filler.unlink()
    state = master.wait(experiment)

    assert refused.status_code == 503, refused.text
    assert "space" in refused.text
    assert "full" in sick["message"]
    _until(lambda: httpx.get(f"{master.url}/health", timeout=30).status_code == 200)
    assert state == "STATE_COMPLETED"
    [trial] = master.trials(experiment)
    assert trial["totalBatchesProcessed"] == 150
    assert master.wait(master.create(PLAIN)) == "STATE_COMPLETED"


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)):
                    pass


def _create_while_full(master) -> httpx.Response:
    return httpx.post(
        f"{master.url}/api/v1/experiments",
        json={"config": PLAIN + f"description: {'x' * 100_000}", "activate": True},
        headers=master.headers(),
        timeout=30,
    )


def _until(condition, *, timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
