"""What was acknowledged during a storm, compared with what the master has after it: nothing lost, nothing twice."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.chaos.stage import Stage

TRAINING, VALIDATION = "training", "validation"


class Ledger:
    """The folder that trials write into (`walker.py`), and what clients of the API were promised."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.experiments: dict[int, tuple[str, int]] = {}
        """Acknowledged ones: name and number of trials, by id."""
        self.models: list[str] = []
        self.notes: dict[int, str] = {}
        """The last acknowledged text, by experiment."""
        self.predictions = Counter[str]()
        """`answered`, `failed` and `wrong`."""

    def lines(self, name: str) -> list[list[str]]:
        path = self.folder / name
        return [line.split() for line in path.read_text(errors="replace").splitlines()] if path.exists() else []

    def count(self, prefix: str) -> int:
        return sum(len(self.lines(path.name)) for path in self.folder.glob(f"{prefix}*"))


def lost(ledger: Ledger, stage: Stage) -> list[str]:
    """A sentence for everything that was acknowledged and is not there."""
    return [*(" ".join(line) for name in ("lost", "damaged") for line in ledger.lines(name)), *_lost(ledger, stage)]


def doubled(ledger: Ledger, stage: Stage) -> list[str]:
    """A sentence for everything that ran, or was stored, more than once."""
    found = [" ".join(["two processes at once:", *line]) for line in ledger.lines("doubles")]
    starts = Counter(tuple(line[:3]) for line in ledger.lines("started"))
    found += [
        f"rank {rank} of run {run} of trial {trial} started {n} times"
        for (trial, run, rank), n in starts.items()
        if n > 1
    ]
    return [*found, *_doubled(ledger, stage)]


def _lost(ledger: Ledger, stage: Stage) -> Iterator[str]:
    experiments = {int(each["id"]): each for each in stage.get("/api/v1/experiments", limit=-1)["experiments"]}
    for number, (name, _) in ledger.experiments.items():
        if number not in experiments or experiments[number]["name"] != name:
            yield f"experiment {number} {name!r} is not there"
        elif experiments[number]["state"] != "STATE_COMPLETED":
            yield f"experiment {number} {name!r} is {experiments[number]['state']}"
        elif number in ledger.notes and experiments[number].get("notes", "") != ledger.notes[number]:
            yield f"experiment {number} has notes {experiments[number].get('notes')!r}, not {ledger.notes[number]!r}"
    models = {each["name"] for each in stage.get("/api/v1/models", limit=-1)["models"]}
    yield from (f"model {name} is not there" for name in ledger.models if name not in models)
    for number in ledger.experiments:
        for trial in _trials(stage, number):
            yield from _lost_of_trial(ledger, stage, int(trial["id"]))


def _lost_of_trial(ledger: Ledger, stage: Stage, trial: int) -> Iterator[str]:
    sent = {(group, int(step), int(run)): float(value) for run, group, step, value in ledger.lines(f"sent.{trial}")}
    newest: dict[tuple[str, int], int] = {}
    for run, group, step, _ in ledger.lines(f"acknowledged.{trial}"):
        newest[group, int(step)] = max(int(run), newest.get((group, int(step)), 0))
    stored = dict(_points(stage, trial))
    for (group, step), run in newest.items():
        # A later run may have reported it too, and died before it read the answer.
        wanted = {value for (g, s, r), value in sent.items() if (g, s) == (group, step) and r >= run}
        if stored.get((group, step)) not in wanted:
            yield f"trial {trial}: {group} step {step} of run {run} is {stored.get((group, step))}, not one of {wanted}"
    kept = {each["uuid"]: each for each in stage.get(f"/api/v1/trials/{trial}/checkpoints", limit=-1)["checkpoints"]}
    for run, step, uuid in ledger.lines(f"saved.{trial}"):
        if uuid not in kept:
            yield f"trial {trial}: checkpoint {uuid} of step {step}, run {run}, is not there"
        elif kept[uuid]["state"] not in ("STATE_COMPLETED", "STATE_DELETED"):
            yield f"trial {trial}: checkpoint {uuid} of step {step}, run {run}, is {kept[uuid]['state']}"


def _doubled(ledger: Ledger, stage: Stage) -> Iterator[str]:
    names = Counter(each["name"] for each in stage.get("/api/v1/experiments", limit=-1)["experiments"])
    for number, (name, count) in ledger.experiments.items():
        if names[name] > 1:
            yield f"experiment {name!r} is there {names[name]} times"
        trials = _trials(stage, number)
        if len(trials) != count:
            yield f"experiment {number} has {len(trials)} trials, not {count}"
        for trial in trials:
            steps = Counter(key for key, _ in _points(stage, int(trial["id"])))
            yield from (
                f"trial {trial['id']}: {group} step {step} is there {n} times"
                for (group, step), n in steps.items()
                if n > 1
            )
    yield from (f"{n} predictions got the answer of another" for n in [ledger.predictions["wrong"]] if n)


def _trials(stage: Stage, experiment: int) -> list[dict[str, Any]]:
    return list(stage.get(f"/api/v1/experiments/{experiment}/trials", limit=-1)["trials"])


def _points(stage: Stage, trial: int) -> Iterator[tuple[tuple[str, int], float]]:
    for group in (TRAINING, VALIDATION):
        query = {"limit": 100_000, "metricType": f"METRIC_TYPE_{group.upper()}"}
        for workload in stage.get(f"/api/v1/trials/{trial}/workloads", **query)["workloads"]:
            if found := workload.get(group):
                yield (group, int(found["totalBatches"])), float(found["metrics"]["avgMetrics"]["loss"])
