"""Rates of the store, direct: durable metric points and log lines a second, and the thinning of a long series.

Run: python benchmarks/store/metrics_and_logs.py [folder]. The folder decides which disk is measured.
"""

import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.log import LogLine
from resolute.domain.metric import TRAINING, MetricReport
from resolute.domain.trial import Trial, TrialState
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.logs import LogQuery
from resolute.engine.ports.queries import ExperimentQuery, PageRequest, TrialQuery
from resolute.store.db import DatabaseStore, open_store, tables
from resolute.store.db.metric_outlines import add_chunk
from resolute.store.logs import FileLogs
from resolute.store.metrics.chunk import Chunk, NumberColumn

NOW = datetime.now(UTC)
NEWEST = ExperimentQuery(sort_by="id", descending=True, page=PageRequest(limit=100))
NAMES = [f"metric_{number}" for number in range(10)]
LONG_SERIES = 10_000_000


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="resolute-bench-", dir=sys.argv[1] if len(sys.argv) > 1 else None))
    for part in (opening, ingest, thinning, logs, lists):
        for name, figure in part(root):
            print(f"{name:<55}  {figure:>12}", flush=True)
    shutil.rmtree(root)


def opening(root: Path) -> list[tuple[str, str]]:
    url = f"sqlite:///{root}/open.sqlite3"
    fresh = seconds(lambda: open_store(url).close())
    again = min(seconds(lambda: open_store(url).close()) for _ in range(5))
    return [("open a fresh database", f"{fresh * 1e3:.0f} ms"), ("open an existing one", f"{again * 1e3:.0f} ms")]


def ingest(root: Path) -> list[tuple[str, str]]:
    """Every batch is one transaction that is on the disk when the next begins."""
    store = open_store(f"sqlite:///{root}/ingest.sqlite3")
    rows = []
    for trial, (size, count) in enumerate([(1, 200), (10, 100), (100, 50), (1000, 20)], start=1):
        batches = [[report(trial, batch * size + step) for step in range(size)] for batch in range(count)]
        taken = seconds(lambda batches=batches: [append(store, batch) for batch in batches])
        rate = size * count * len(NAMES) / taken
        rows.append((f"durable points/s, {size} report(s) of 10 metrics a call", f"{rate:,.0f}"))
    threads = 4
    work = [[[report(10 + t, b * 100 + s) for s in range(100)] for b in range(25)] for t in range(threads)]
    taken = seconds(lambda: in_threads([lambda part=part: [append(store, batch) for batch in part] for part in work]))
    rows.append((f"the same, 100 reports a call, {threads} threads", f"{threads * 25 * 100 * 10 / taken:,.0f}"))
    store.close()
    return rows


def thinning(root: Path) -> list[tuple[str, str]]:
    store = open_store(f"sqlite:///{root}/series.sqlite3")
    place_long_series(store)
    cold = seconds(lambda: thin(store))
    warm = min(seconds(lambda: thin(store)) for _ in range(5))
    append(store, [one_point(LONG_SERIES, 0.0)])
    grown = seconds(lambda: thin(store))
    store.close()
    return [
        ("10M points to 2,000, first time", f"{cold * 1e3:,.0f} ms"),
        ("10M points to 2,000, again", f"{warm * 1e3:,.1f} ms"),
        ("10M points to 2,000, one point later", f"{grown * 1e3:,.1f} ms"),
    ]


def logs(root: Path) -> list[tuple[str, str]]:
    files = FileLogs(root / "logs")
    start = 1_700_000_000_000_000
    lines = [LogLine(start + n, f"step {n} loss 0.12345 some more text as trials write it") for n in range(1000)]
    single = seconds(lambda: [files.append("one", [line]) for _ in range(10) for line in lines])
    batched = seconds(lambda: [files.append("many", lines) for _ in range(200)])
    tail = seconds(lambda: files.read("many", LogQuery(newest_first=True, limit=1000)))
    search = seconds(lambda: files.read("many", LogQuery(text="not there")))
    return [
        ("log lines/s in, one a call", f"{10_000 / single:,.0f}"),
        ("log lines/s in, 1,000 a call", f"{200_000 / batched:,.0f}"),
        ("last 1,000 of 200,000 lines", f"{tail * 1e3:.1f} ms"),
        ("text search over 200,000 lines", f"{search * 1e3:.0f} ms"),
    ]


def lists(root: Path) -> list[tuple[str, str]]:
    """The pages that people look at most, with 1,000 experiments of 10 trials each."""
    store = open_store(f"sqlite:///{root}/lists.sqlite3")
    with store.write() as transaction:
        for number in range(1000):
            experiment = transaction.experiments.add(an_experiment(number), searcher_snapshot=None)
            for other in range(10):
                transaction.trials.add(a_trial(experiment.id, number * 10 + other))
    page = PageRequest(limit=100)

    def read(ask: Callable[[Transaction], object]) -> str:
        def once() -> None:
            with store.read() as transaction:
                ask(transaction)

        return f"{min(seconds(once) for _ in range(3)) * 1e3:.0f} ms"

    by_metric = ExperimentQuery(sort_by="best_metric", page=page)
    best_trials = TrialQuery(sort_by="best_metric", page=page)
    rows = [
        ("100 of 1,000 experiments, newest first", read(lambda t: t.experiments.search(NEWEST))),
        ("100 of 1,000 experiments, best first", read(lambda t: t.experiments.search(by_metric))),
        ("all 1,000 experiments", read(lambda t: t.experiments.search(ExperimentQuery()))),
        (
            "100 of 10,000 trials, best first",
            read(lambda t: t.trials.search(best_trials)),
        ),
    ]
    store.close()
    return rows


def an_experiment(number: int) -> Experiment:
    return Experiment(
        id=0,
        state=ExperimentState.COMPLETED,
        changed_at=NOW,
        config={"name": "bench", "searcher": {"metric": "loss"}, "hyperparameters": dict.fromkeys(NAMES, number)},
        original_config="name: bench\n" * 20,
        user_id=1,
        project_id=1,
        job_id=str(number),
        start_time=NOW,
    )


def a_trial(experiment_id: int, number: int) -> Trial:
    return Trial(
        id=0,
        experiment_id=experiment_id,
        request_id=str(number),
        task_id="",
        state=TrialState.COMPLETED,
        changed_at=NOW,
        hparams={"lr": 0.1},
        seed=number,
        start_time=NOW,
        searcher_metric_value=number % 997 / 997,
    )


def place_long_series(store: DatabaseStore) -> None:
    """Ten million points, as `append` would have left them; making the reports would take longer than all else."""
    values = np.cumsum(np.random.default_rng(0).standard_normal(LONG_SERIES))
    size = 100_000
    append(store, [one_point(-1, 0.0)])
    with store._database.writer.transaction() as connection:
        for start in range(0, LONG_SERIES, size):
            steps = np.arange(start, start + size)
            chunk = Chunk(steps + 2, steps, steps * 1000, {"loss": NumberColumn(values[start : start + size])})
            row = {"trial_id": 1, "run_id": 1, "group": TRAINING, "first_steps": start, "last_steps": start + size - 1}
            ids = {"first_id": start + 2, "last_id": start + size + 1}
            add_chunk(connection, {**row, **ids}, chunk)
        grown = {"last_steps": LONG_SERIES - 1, "last_id": LONG_SERIES + 1, "count": LONG_SERIES + 1}
        connection.execute(tables.metric_heads.update(), grown)


def report(trial: int, step: int) -> MetricReport:
    metrics = dict.fromkeys(NAMES, step * 0.5)
    return MetricReport(
        trial_id=trial, run_id=1, group=TRAINING, steps_completed=step, report_time=NOW, metrics=metrics
    )


def one_point(step: int, value: float) -> MetricReport:
    return MetricReport(
        trial_id=1, run_id=1, group=TRAINING, steps_completed=step, report_time=NOW, metrics={"loss": value}
    )


def append(store: DatabaseStore, reports: list[MetricReport]) -> None:
    with store.write() as transaction:
        transaction.metrics.append(reports)


def thin(store: DatabaseStore) -> None:
    with store.read() as transaction:
        assert len(transaction.metrics.series(1, TRAINING, "loss", max_points=2000).steps) <= 2000


def in_threads(actions: list[Callable[[], object]]) -> None:
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
