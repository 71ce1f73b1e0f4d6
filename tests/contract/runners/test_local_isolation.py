"""What needs a kernel that lets us: mounts of a gang's own, and a disk that is really full."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resolute.runners.local import LocalRunner

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


@needs_root
def test_a_mount_is_seen_by_its_gang_only_and_may_be_read_only(bench: Any, cold: LocalRunner, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/x.txt").write_text("content")
    taken = tmp_path / "taken"
    taken.mkdir()
    script = f"cat {taken}/x.txt inside/x.txt; echo; touch {taken}/new || echo refused"
    mounts = ((str(tmp_path / "data"), str(taken), True), (str(tmp_path / "data"), "inside", False))
    gang = bench.gang("a", script, bind_mounts=mounts)

    bench.run(cold, gang)

    assert "contentcontent" in bench.text(gang)
    assert "refused" in bench.text(gang)
    assert list(taken.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@needs_root
def test_a_full_disk_neither_kills_a_trial_nor_hides_its_end(bench: Any, small_disk: Path, tmp_path: Path) -> None:
    runner = LocalRunner(home=tmp_path, slots=2, node_id="here", warm=False)
    script = f"seq 1 1000000; touch {tmp_path}/ended; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo last"
    gang = bench.gang("a", script, log_path=str(small_disk / "log"))
    fill(small_disk)

    handle = runner.start(gang)
    bench.until(lambda: (tmp_path / "ended").exists())
    (small_disk / "filler").unlink()
    (tmp_path / "go").touch()
    status = bench.end(runner, handle)

    assert status.exit_code == 0
    assert "lines of output are missing here" in bench.text(gang)
    assert bench.text(gang).endswith("last")


@needs_root
def test_an_exit_code_has_its_room_reserved_on_a_disk_that_fills_up(
    bench: Any, small_disk: Path, tmp_path: Path
) -> None:
    runner = LocalRunner(home=small_disk, slots=2, node_id="here", warm=False)
    script = f"while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; exit 5"
    handle = runner.start(bench.gang("a", script, log_path=str(tmp_path / "log")))
    bench.until(lambda: (small_disk / "runs/a.1/entrypoint.json").exists())

    fill(small_disk)
    (tmp_path / "go").touch()

    assert bench.end(runner, handle).exit_code == 5


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(b"x" * 4096):
            pass
