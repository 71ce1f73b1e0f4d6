"""`make bench`: the platform core beside Ray Tune and MLflow, in one run, as ratios. Prints a Markdown table."""

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.platform.master import running_master
from benchmarks.platform.measures import first_report_s, points_per_s, short_trials
from benchmarks.platform.start import Start, in_empty_homes, in_one_home

PEERS = Path(__file__).parent / "peers"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers-python", default=".venv-peers/bin/python")
    parser.add_argument("--trials", type=int, default=200)
    arguments = parser.parse_args()
    rows: list[tuple[str, str, str, str]] = []
    ray = _peer(arguments.peers_python, "ray_tune.py")
    mlflow = _peer(arguments.peers_python, "mlflow_ingest.py")
    ready_s = {name: _ready(starts) for name, starts in (("empty home", in_empty_homes), ("known home", in_one_home))}
    with running_master() as master:
        rows += [(f"platform ready after start, {home}", f"{ready:.2f} s", "-", "-") for home, ready in ready_s.items()]
        time.sleep(8)
        rows.append(("resident memory of the idle master", f"{master.rss_mb():.0f} MB", "-", "-"))
        first = first_report_s(master)
        rows.append(
            _row("submit to first report, warm, p50", first, "s", ray, "first_report_s", "Ray Tune", smaller=True)
        )
        rate = short_trials(master, arguments.trials).per_s
        rows.append(
            _row(f"{arguments.trials} no-op trials on 2 slots", rate, "trials/s", ray, "trials_per_s", "Ray Tune")
        )
        for clients in (1, 4):
            points = points_per_s(master, clients)
            name = f"durable metric points over HTTP, {clients} client{'s' * (clients > 1)}"
            rows.append(_row(name, points, "points/s", mlflow, "points_per_s", "MLflow log_batch"))
    _print(rows)


def _ready(starts: Callable[[int], list[Start]]) -> float:
    return statistics.median(start.wall_s for start in starts(5))


def _peer(python: str, script: str) -> dict[str, Any]:
    if not Path(python).exists():
        return {}
    done = subprocess.run([python, str(PEERS / script)], capture_output=True, text=True, timeout=600, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(json.loads(lines[-1])) if lines else {}


def _row(
    what: str, ours: float, unit: str, peer: dict[str, Any], key: str, name: str, *, smaller: bool = False
) -> tuple[str, str, str, str]:
    text = f"{ours:.3f} {unit}" if ours < 10 else f"{ours:,.0f} {unit}"
    if key not in peer:
        return what, text, "not measured", "-"
    theirs = float(peer[key])
    ratio = theirs / ours if smaller else ours / theirs
    shown = f"{theirs:.3f} {unit}" if theirs < 10 else f"{theirs:,.0f} {unit}"
    version = peer.get("ray") or peer.get("mlflow")
    return what, text, f"{name} {version}: {shown}", f"{ratio:.1f}x"


def _print(rows: list[tuple[str, str, str, str]]) -> None:
    print(f"\n{datetime.now(UTC):%Y-%m-%d}\n\n| what | Resolute | peer | ratio |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
