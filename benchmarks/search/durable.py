"""How many trials a second when every decision is on disk: ours beside Optuna with its sqlite storage.

Ours go through the platform's own store, as in the engine: for each event one transaction, and an answer only after the
wait for the disk. Workers are threads, each with one trial at a time; those that wait for the disk at the same moment
share the wait, each with its own transaction. With one worker nothing is shared. The rows of trials, allocations and
metrics that the engine writes in the same transaction are left out.
"""

import contextlib
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from resolute.domain.experiment import Experiment, ExperimentState
from resolute.engine.experiments.search_memory import recall, write_down
from resolute.engine.ports.database import Store
from resolute.search import new_searcher
from resolute.search.events import CreateTrial, Event, Outcome, SearchStarted, StopTrial, TrialClosed, Validated
from resolute.store.db import open_store

SPACE = {
    "rate": {"type": "log", "minval": -5, "maxval": 0, "base": 10},
    "size": {"type": "int", "minval": 16, "maxval": 512},
    "net": {"type": "categorical", "vals": ["a", "b", "c"]},
}


SEARCHERS = ("random", "adaptive_asha", "adaptive_tpe")
WORKERS = (1, 4, 16)


@dataclass(frozen=True, slots=True)
class Rate:
    """Whole trials (one report each, two where it may train on) per second."""

    per_second: float
    per_processor_second: float

    def __str__(self) -> str:
        return f"{self.per_second:.0f} trials/s, {self.per_processor_second:.0f} per second of processor time"


def measure(*, seconds: float = 5.0) -> dict[str, Rate]:
    rates = {}
    for name in SEARCHERS:
        for workers in WORKERS:
            rates[f"resolute {name}, {workers} at a time"] = ours(name, workers, seconds)
    with contextlib.suppress(ImportError):
        rates["optuna tpe, sqlite"] = optuna_sqlite(seconds)
    return rates


def ours(name: str, workers: int, seconds: float) -> Rate:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder, 'search.db')}")
        try:
            return _Search(store, name).rate(workers, seconds)
        finally:
            store.close()


class _Search:
    """A search in the store, told about made-up trials by workers that know nothing of one another."""

    def __init__(self, store: Store, name: str) -> None:
        section = {"name": name, "metric": "loss", "max_trials": 1000, "max_concurrent_trials": 16, "max_time": 64}
        self._store, self._is_halving = store, name != "random"
        self._waiting: deque[str] = deque()
        with store.write() as tx:
            snapshot = new_searcher(section, SPACE, 1).snapshot()
            self._experiment = tx.experiments.add(_experiment(section), searcher_snapshot=snapshot)

    def rate(self, workers: int, seconds: float) -> Rate:
        self._send(SearchStarted())
        ended = [0] * workers
        start, processor = time.perf_counter(), time.process_time()

        def work(worker: int) -> None:
            while time.perf_counter() - start < seconds:
                try:
                    trial = self._waiting.popleft()
                except IndexError:
                    return
                self._train(trial)
                ended[worker] += 1

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Rate(sum(ended) / (time.perf_counter() - start), sum(ended) / (time.process_time() - processor))

    def _train(self, trial: str) -> None:
        metrics = {"loss": int(trial[:8], 16) % 1000 / 1000}
        outcome = self._send(Validated(trial, 1.0, metrics))
        if self._is_halving and not any(isinstance(action, StopTrial) for action in outcome.actions):
            self._send(Validated(trial, 64.0, metrics))
        self._send(TrialClosed(trial))

    def _send(self, event: Event) -> Outcome:
        with self._store.write() as tx:
            head = tx.experiments.searcher_head(self._experiment.id)
            assert head is not None
            search = recall(tx, self._experiment, head)
            outcome = search.searcher.handle(event)
            write_down(tx, self._experiment.id, head, search)
        self._waiting += [action.request_id for action in outcome.actions if isinstance(action, CreateTrial)]
        return outcome


def _experiment(section: dict[str, Any]) -> Experiment:
    now = datetime.now(UTC)
    return Experiment(
        id=0,
        state=ExperimentState.ACTIVE,
        changed_at=now,
        config={"name": "durable", "searcher": {"smaller_is_better": True, **section}, "hyperparameters": SPACE},
        original_config="",
        user_id=1,
        project_id=1,
        job_id="durable",
        start_time=now,
        name="durable",
    )


def optuna_sqlite(seconds: float) -> Rate:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        study = optuna.create_study(
            storage=f"sqlite:///{folder}/study.db",
            sampler=optuna.samplers.TPESampler(seed=1),
            pruner=optuna.pruners.SuccessiveHalvingPruner(),
        )
        ended, start, processor = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - start < seconds:
            trial = study.ask()
            trial.suggest_float("rate", 1e-5, 1.0, log=True)
            trial.suggest_int("size", 16, 512)
            trial.suggest_categorical("net", ["a", "b", "c"])
            trial.report(ended % 7 / 7, 1)
            trial.should_prune()
            study.tell(trial, ended % 7 / 7)
            ended += 1
        return Rate(ended / (time.perf_counter() - start), ended / (time.process_time() - processor))


if __name__ == "__main__":
    for contestant, rate in measure().items():
        print(f"{contestant}: {rate}")
