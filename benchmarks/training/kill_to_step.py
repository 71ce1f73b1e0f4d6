"""From `kill -9` of one of two ranks to the next optimizer step: python -m benchmarks.training.kill_to_step

The launcher notices, ends the other rank, forks both again and they continue from the last checkpoint.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from resolute.client.task.fake import FakeTaskMaster

_SCRIPT = Path(__file__).parents[2] / "tests" / "e2e" / "training" / "scripts" / "points.py"


def main() -> None:
    with FakeTaskMaster() as master, tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **master.env(Path(folder), DET_SLOT_IDS="[0, 1]"), "OMP_NUM_THREADS": "1"}
        env["PLAN"] = '{"kill": [1, 13, 0], "steps": 20, "checkpoint": 5}'
        command = [sys.executable, "-m", "resolute.launch.torch_distributed", str(_SCRIPT)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr
        times = [(_seconds(report["reportTime"]), report["stepsCompleted"]) for report in master.reports("training")]
    killed_at = max(when for when, steps in times[: _first_repeat(times)])
    again = times[_first_repeat(times)]
    print(f"kill -9 of rank 1 after step 13 to step {again[1]} done again: {again[0] - killed_at:.2f} s")


def _first_repeat(times: list[tuple[float, int]]) -> int:
    return next(i for i in range(1, len(times)) if times[i][1] <= times[i - 1][1])


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


if __name__ == "__main__":
    start = time.perf_counter()
    main()
