"""How many trials a second when every decision is on disk: ours beside Optuna with its sqlite storage."""

import contextlib
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from resolute.search import new_searcher
from resolute.search.events import CreateTrial, SearchStarted, StopTrial, TrialClosed, Validated

SPACE = {
    "rate": {"type": "log", "minval": -5, "maxval": 0, "base": 10},
    "size": {"type": "int", "minval": 16, "maxval": 512},
    "net": {"type": "categorical", "vals": ["a", "b", "c"]},
}


def measure(*, seconds: float = 5.0) -> dict[str, float]:
    """Whole trials (one report each) per second of wall time."""
    rates = {f"resolute {name}": ours(name, seconds) for name in ("random", "adaptive_asha", "adaptive_tpe")}
    with contextlib.suppress(ImportError):
        rates["optuna tpe, sqlite"] = optuna_sqlite(seconds)
    return rates


def ours(name: str, seconds: float) -> float:
    """The whole snapshot is committed after every event (SQLite, WAL)."""
    config = {"name": name, "metric": "loss", "max_trials": 1000, "max_concurrent_trials": 4, "max_time": 64}
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(Path(folder, "search.db"), isolation_level=None)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute("CREATE TABLE search (id INTEGER PRIMARY KEY, snapshot BLOB)")
        searcher = new_searcher(config, SPACE, 1)
        waiting: list[str] = []
        ended = 0
        start = time.perf_counter()

        def send(event: Any) -> Any:
            outcome = searcher.handle(event)
            text = msgspec.json.encode(searcher.snapshot())
            database.execute("INSERT OR REPLACE INTO search VALUES (1, ?)", (text,))
            waiting.extend(action.request_id for action in outcome.actions if isinstance(action, CreateTrial))
            return outcome

        send(SearchStarted())
        while waiting and time.perf_counter() - start < seconds:
            trial = waiting.pop(0)
            outcome = send(Validated(trial, 1.0, {"loss": hash(trial) % 1000 / 1000}))
            if any(isinstance(action, StopTrial) for action in outcome.actions) or name == "random":
                send(TrialClosed(trial))
                ended += 1
            else:
                send(Validated(trial, 64.0, {"loss": hash(trial) % 1000 / 1000}))
                send(TrialClosed(trial))
                ended += 1
        rate = ended / (time.perf_counter() - start)
        database.close()
    return rate


def optuna_sqlite(seconds: float) -> float:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        study = optuna.create_study(
            storage=f"sqlite:///{folder}/study.db",
            sampler=optuna.samplers.TPESampler(seed=1),
            pruner=optuna.pruners.SuccessiveHalvingPruner(),
        )
        ended = 0
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            trial = study.ask()
            trial.suggest_float("rate", 1e-5, 1.0, log=True)
            trial.suggest_int("size", 16, 512)
            trial.suggest_categorical("net", ["a", "b", "c"])
            trial.report(ended % 7 / 7, 1)
            trial.should_prune()
            study.tell(trial, ended % 7 / 7)
            ended += 1
        return ended / (time.perf_counter() - start)
