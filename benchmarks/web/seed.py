"""Fills a home with a year of work, through the store: experiments, trials, a large search, one very long series.

    python -m benchmarks.web.seed HOME [--experiments 1000] [--trials 10] [--search 1000] [--points 10000000]

The home must have been started once (`resolute up --home HOME`), so that its users and workspace exist, and must not
be in use. Prints what it made and how long that took.
"""

import argparse
import math
import random
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.metric import TRAINING, VALIDATION, MetricReport
from resolute.domain.trial import Trial, TrialState
from resolute.engine.ports.database import Store, Transaction
from resolute.store.db.database import open_store

END = datetime(2026, 11, 1, tzinfo=UTC)
METRIC = "validation_loss"
REPORTS_A_BATCH = 20_000
NAMES = ("resnet-ships", "vit-tiles", "yolo-boats", "unet-roads", "fcos-planes", "detr-fields")
LADDER = (8, 32, 128, 512)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=10, help="trials of each plain experiment")
    parser.add_argument("--search", type=int, default=1000, help="trials of the large search")
    parser.add_argument("--points", type=int, default=10_000_000, help="length of the long series")
    arguments = parser.parse_args()
    store = open_store(f"sqlite:///{arguments.home / 'resolute.sqlite3'}")
    try:
        seed(store, arguments.experiments, arguments.trials, arguments.search, arguments.points)
    finally:
        store.close()


def seed(store: Store, experiments: int, trials: int, search: int, points: int) -> None:
    dice = random.Random(0)
    for first in range(0, experiments, 50):
        last = min(first + 50, experiments)
        with timed(f"experiments {first + 1} to {last}"), store.write() as tx:
            reports = [add_plain(tx, dice, number, trials, age=experiments - number) for number in range(first, last)]
            tx.metrics.append([each for few in reports for each in few])
    if search:
        with timed(f"a search of {search} trials"):
            add_search(store, dice, search)
    if points:
        with timed(f"a series of {points:,} points"):
            add_long(store, points)


class timed:
    """Prints what was done and the seconds it took."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        print(f"{self._what}: {time.perf_counter() - self._began:.1f} s", flush=True)


def add_plain(tx: Transaction, dice: random.Random, number: int, trials: int, *, age: int) -> list[MetricReport]:
    name = f"{NAMES[number % len(NAMES)]}-{number:04d}"
    start = END - timedelta(hours=8 * age)
    state = dice.choices([ExperimentState.COMPLETED, ExperimentState.CANCELED, ExperimentState.ERROR], [8, 1, 1])[0]
    space = {"rate": {"type": "log", "base": 10, "minval": -5, "maxval": -1}, "width": 64}
    searcher = {"name": "random", "metric": METRIC, "smaller_is_better": True, "max_trials": trials}
    experiment = add_experiment(tx, name, start, state, space, searcher)
    reports: list[MetricReport] = []
    for index in range(trials):
        hparams = {"rate": 10 ** dice.uniform(-5, -1), "width": 64}
        trial = add_trial(tx, experiment, hparams, start + timedelta(minutes=index), 200)
        reports += validations(trial, 200, every=10)
    return reports


def add_search(store: Store, dice: random.Random, trials: int) -> None:
    space: dict[str, Any] = {
        "rate": {"type": "log", "base": 10, "minval": -5, "maxval": -1},
        "dropout": {"type": "double", "minval": 0.0, "maxval": 0.6},
        "width": {"type": "categorical", "vals": [16, 32, 64, 128]},
        "depth": {"type": "int", "minval": 2, "maxval": 8},
        "optimizer": {"type": "categorical", "vals": ["adam", "sgd", "lion"]},
    }
    searcher = {
        "name": "adaptive_asha", "metric": METRIC, "smaller_is_better": True, "time_metric": "batches",
        "max_time": LADDER[-1], "max_trials": trials, "divisor": 4, "max_rungs": 4, "mode": "aggressive",
    }  # fmt: skip
    with store.write() as tx:
        experiment = add_experiment(tx, "thousand-trial-search", END, ExperimentState.COMPLETED, space, searcher)
    for first in range(0, trials, 50):
        reports: list[MetricReport] = []
        with store.write() as tx:
            for index in range(first, min(first + 50, trials)):
                steps = LADDER[min(3, next(rung for rung in range(9) if dice.random() < 0.75 or rung == 8))]
                trial = add_trial(tx, experiment, drawn(dice), END + timedelta(seconds=index), steps)
                reports += validations(trial, steps, every=8)
            tx.metrics.append(reports)


def drawn(dice: random.Random) -> dict[str, Any]:
    return {
        "rate": 10 ** dice.uniform(-5, -1),
        "dropout": dice.uniform(0, 0.6),
        "width": dice.choice([16, 32, 64, 128]),
        "depth": dice.randint(2, 8),
        "optimizer": dice.choice(["adam", "sgd", "lion"]),
    }


def add_long(store: Store, points: int) -> None:
    searcher = {"name": "single", "metric": METRIC, "smaller_is_better": True}
    with store.write() as tx:
        experiment = add_experiment(tx, "long-run", END, ExperimentState.COMPLETED, {"rate": 0.003}, searcher)
        trial = add_trial(tx, experiment, {"rate": 0.003}, END, points)
        tx.metrics.append(validations(trial, points, every=points))
    for batch in long_batches(trial, points):
        with store.write() as tx:
            tx.metrics.append(batch)


def long_batches(trial: Trial, points: int) -> Iterator[list[MetricReport]]:
    dice = random.Random(1)
    for first in range(1, points + 1, REPORTS_A_BATCH):
        steps = range(first, min(first + REPORTS_A_BATCH, points + 1))
        noise = [dice.gauss(0, 0.05) for _ in steps]
        yield [
            report(trial, TRAINING, step, {"loss": 0.2 + 2 * math.exp(-step / (points / 6)) + jitter})
            for step, jitter in zip(steps, noise, strict=True)
        ]


def add_experiment(
    tx: Transaction,
    name: str,
    start: datetime,
    state: ExperimentState,
    hyperparameters: dict[str, Any],
    searcher: dict[str, Any],
) -> Experiment:
    config = {
        "name": name,
        "entrypoint": "python3 train.py",
        "hyperparameters": hyperparameters,
        "searcher": searcher,
        "resources": {"slots_per_trial": 1},
        "checkpoint_storage": {"type": "shared_fs", "host_path": "checkpoints"},
    }
    experiment = Experiment(
        id=0,
        state=state,
        changed_at=start,
        config=config,
        original_config=f"name: {name}\nentrypoint: python3 train.py\n",
        user_id=2,
        project_id=1,
        job_id=str(uuid.uuid4()),
        start_time=start,
        end_time=start + timedelta(hours=2),
        name=name,
        labels=("seeded",),
        progress=1.0,
    )
    return tx.experiments.add(experiment, searcher_snapshot=None)


def add_trial(tx: Transaction, experiment: Experiment, hparams: dict[str, Any], start: datetime, steps: int) -> Trial:
    request = str(uuid.uuid4())
    return tx.trials.add(
        Trial(
            id=0,
            experiment_id=experiment.id,
            request_id=request,
            task_id=f"{experiment.id}.{request}",
            state=TrialState.COMPLETED,
            changed_at=start,
            hparams=hparams,
            seed=1,
            start_time=start,
            end_time=start + timedelta(minutes=30),
            run_id=1,
            total_batches=steps,
            progress=1.0,
            searcher_metric_value=loss_at(hparams, steps),
        )
    )


def validations(trial: Trial, steps: int, *, every: int) -> list[MetricReport]:
    return [
        report(trial, VALIDATION, step, {METRIC: loss_at(trial.hparams, step), "batches": step})
        for step in range(every, steps + 1, every)
    ]


def report(trial: Trial, group: str, step: int, metrics: dict[str, Any]) -> MetricReport:
    moment = trial.start_time + timedelta(milliseconds=20 * step)
    return MetricReport(
        trial_id=trial.id, run_id=1, group=group, steps_completed=step, report_time=moment, metrics=metrics
    )


def loss_at(hparams: dict[str, Any], step: int) -> float:
    """Falls the faster the nearer the rate is to 10^-2.5; the optimizer and dropout matter less."""
    distance = abs(math.log10(hparams["rate"]) + 2.5) + hparams.get("dropout", 0.2) * 0.6
    distance += {"adam": 0.0, "lion": 0.1, "sgd": 0.4}[hparams.get("optimizer", "adam")]
    return 0.15 + 0.2 * distance + 2.2 * math.exp(-step / (20 + 40 * distance))


if __name__ == "__main__":
    main()
