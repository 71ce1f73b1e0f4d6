"""From `resolute up` to the first answer, by the clock and by the processor: python -m benchmarks.platform.start

The processor's time is that of the master alone, up to the answer. On a busy machine only it says something.
"""

import argparse
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.platform.master import environment, free_port, processor_s, wait_for


@dataclass(frozen=True)
class Start:
    wall_s: float
    processor_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    for what, starts in (("empty home", in_empty_homes(runs)), ("known home", in_one_home(runs))):
        wall, processor = [s.wall_s for s in starts], [s.processor_s for s in starts]
        print(
            f"{what}: ready after {statistics.median(wall):.2f} s (best {min(wall):.2f}), "
            f"processor {statistics.median(processor):.2f} s (best {min(processor):.2f})"
        )


def in_empty_homes(runs: int) -> list[Start]:
    """What a newcomer sees: the database is made on the way."""
    found = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="resolute-bench-") as home:
            found.append(start(home))
    return found


def in_one_home(runs: int) -> list[Start]:
    with tempfile.TemporaryDirectory(prefix="resolute-bench-") as home:
        start(home)
        return [start(home) for _ in range(runs)]


def start(home: str, *, source: Path | None = None) -> Start:
    port = free_port()
    command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", str(port), "--home", home]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment(source))
    try:
        wait_for(f"http://127.0.0.1:{port}/info")
        return Start(time.perf_counter() - began, processor_s(process.pid))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


if __name__ == "__main__":
    main()
