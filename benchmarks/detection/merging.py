"""Merging beside SAHI's newest, on three layouts of 33,337 boxes, by three methods and two metrics.

SAHI runs in its own Python on the same arrays, once to warm up (its compiled backend is built then) and then timed.
Its functions on arrays decide which boxes belong together; its postprocess classes also join them, as ours does. Times
are processor time, the best of the rounds: one thread works on both sides, and a busy machine disturbs it less.
"""

import argparse
import itertools
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.detection.timing import best, milliseconds, ratio
from resolute.vision.merging import Method, Metric, merge

SAHI = os.environ.get("RESOLUTE_SAHI_PYTHON", "")
METHODS: tuple[Method, ...] = ("nms", "greedy_nmm", "nmm")
METRICS: tuple[Metric, ...] = ("iou", "ios")
DRIVER = """
import sys, time, importlib.metadata
import numpy as np
from sahi.postprocess import combine
from sahi.postprocess.backends import resolve_backend
from sahi.prediction import ObjectPrediction
rows, rounds = np.load(sys.argv[1]), int(sys.argv[2])
print("version", importlib.metadata.version("sahi"), resolve_backend())
for metric, name in [(metric, name) for metric in ("iou", "ios") for name in ("nms", "greedy_nmm", "nmm")]:
    work = getattr(combine, "batched_" + name)
    work(rows[:2500].copy(), metric.upper(), 0.5)
    times = []
    for _ in range(rounds):
        start = time.process_time()
        kept = work(rows, metric.upper(), 0.5)
        times.append(time.process_time() - start)
    whole = 0.0
    if name != "nms" and len(kept) < len(rows) // 2:
        maker = {"nmm": combine.NMMPostprocess, "greedy_nmm": combine.GreedyNMMPostprocess}[name]
        found = [ObjectPrediction(bbox=r[:4].tolist(), category_id=int(r[5]), score=float(r[4])) for r in rows]
        start = time.process_time()
        maker(match_threshold=0.5, match_metric=metric.upper(), class_agnostic=False)(found)
        whole = time.process_time() - start
    print(name + "/" + metric, len(kept), min(times), whole, flush=True)
"""


def measure(options: argparse.Namespace) -> None:
    print(f"{options.boxes:,} boxes, threshold 0.5, load {os.getloadavg()[0]:.1f}\n")
    print("| layout | metric | method | left | ours | SAHI, deciding | ratio | SAHI, joining too | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    version = "not installed"
    for name, layout in (("crowd", _crowd), ("pile", _pile), ("spread", _spread)):
        rows = layout(options.boxes).astype(np.float32)
        theirs = _sahi(rows, options.rounds) if SAHI else {}
        version = theirs.get("version", version)
        for metric, method in itertools.product(METRICS, METHODS):
            _measure_one(name, rows, method, metric, theirs.get(f"{method}/{metric}"), options.rounds)
    print(f"\nSAHI: {version}")


def _measure_one(name: str, rows: Any, method: Method, metric: Metric, peer: Any, rounds: int) -> None:
    def ours() -> Any:
        return merge(rows[:, :4], rows[:, 4], rows[:, 5], method=method, metric=metric)

    kept = len(ours())
    assert peer is None or peer[0] == kept, f"{name} {method}: {kept} of ours, {peer[0]} of SAHI's are left"
    seconds = best(ours, rounds, time.process_time)
    columns = [text for theirs in peer[1:] for text in _beside(theirs, seconds)] if peer else [""] * 4
    print(f"| {name} | {metric} | {method} | {kept:,} | {milliseconds(seconds)} | {' | '.join(columns)} |", flush=True)


def _beside(theirs: float, ours: float) -> tuple[str, str]:
    return (milliseconds(theirs), ratio(theirs, ours)) if theirs else ("", "")


def _crowd(count: int) -> np.ndarray[Any, Any]:
    """600 objects on 4,000 x 4,000 pixels, each found some 55 times a little differently."""
    rng = np.random.default_rng(0)
    corners, sizes = rng.uniform(0, 4000, (600, 2)), rng.uniform(20, 120, (600, 2))
    which = rng.integers(0, 600, count)
    near = corners[which] + rng.normal(0, 0.12, (count, 2)) * sizes[which]
    return _rows(rng, near, sizes[which] * np.exp(rng.normal(0, 0.12, (count, 2))), 1)


def _pile(count: int) -> np.ndarray[Any, Any]:
    """Everything on 300 x 300 pixels: nearly all boxes touch each other."""
    rng = np.random.default_rng(0)
    return _rows(rng, rng.uniform(0, 200, (count, 2)), rng.uniform(20, 100, (count, 2)), 1)


def _spread(count: int) -> np.ndarray[Any, Any]:
    """Ten classes of 8 to 128 pixels on 8,000 x 8,000: hardly any two match."""
    rng = np.random.default_rng(0)
    return _rows(rng, rng.uniform(0, 8000, (count, 2)), np.exp2(rng.uniform(3, 7, (count, 2))), 10)


def _rows(rng: np.random.Generator, corners: Any, sizes: Any, classes: int) -> np.ndarray[Any, Any]:
    count = len(corners)
    return np.column_stack([corners, corners + sizes, rng.random(count), rng.integers(0, classes, count)])


def _sahi(rows: np.ndarray[Any, Any], rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, rows)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        command = [SAHI, "-c", DRIVER, str(path), str(rounds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        name, first, *rest = line.split()
        found[name] = f"{first}, backend {rest[0]}" if name == "version" else (int(first), *map(float, rest))
    return found
