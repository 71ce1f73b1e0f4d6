"""Worker processes belong to their run: they do not outlive it, whatever ends it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest

PROGRAM = """
import sys
from pathlib import Path
from resolute.imagery.tile import TileJob, tile_set

folder = Path(sys.argv[1])
job = TileJob(image_dir=folder, labels_path=folder / "train.json", output_dir=folder / "out", slice_size=16, workers=2)
if __name__ == "__main__":
    print("ready", flush=True)
    tile_set(job, lambda _: (print("one", flush=True), sys.stdin.read()))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Looks for processes in /proc.")
def test_workers_end_when_their_run_is_killed(tmp_path: Path) -> None:

    images = [{"id": i, "file_name": f"{i}.png", "width": 64, "height": 64} for i in range(1, 9)]
    labels = [{"id": i, "image_id": i, "category_id": 0, "bbox": [4, 4, 9, 9], "area": 81} for i in range(1, 9)]
    for image in images:
        cv2.imwrite(str(tmp_path / str(image["file_name"])), np.zeros((64, 64, 3), np.uint8))
    table = {"images": images, "annotations": labels, "categories": [{"id": 0, "name": "Car"}]}
    (tmp_path / "train.json").write_text(json.dumps(table))
    (tmp_path / "program.py").write_text(PROGRAM)
    run = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py"), str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert run.stdout is not None
    assert run.stdin is not None
    with run.stdin, run.stdout:
        assert [run.stdout.readline().strip() for _ in range(2)] == [b"ready", b"one"]
        below = _descendants(run.pid)

        run.kill()
        run.wait(10)

        assert len(below) >= 3, "a server that forks, and two workers"
        assert _gone_within(below, seconds=20)


def _descendants(pid: int) -> set[int]:
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, wave = set(), {pid}
    while wave:
        wave = {child for child, parent in parents.items() if parent in wave}
        found |= wave
    return found


def _gone_within(pids: set[int], *, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(_is_running(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
