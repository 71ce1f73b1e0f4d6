"""What the preview of a search says is what its trials do: they are measured where the searcher decides."""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset

from resolute.pytorch import DataLoader, Trainer, Trial, TrialContext
from resolute.search.events import CreateTrial, SearchStarted, Shutdown, StopTrial, TrainTo, TrialClosed, Validated
from resolute.search.registry import new_searcher
from resolute.search.simulate import simulate
from resolute.training.core import RunFacts, _assemble
from resolute.training.decision_points import decision_points
from resolute.training.environment import Place
from resolute.training.master import CheckpointRecord, Report
from resolute.training.offline import LocalMaster
from resolute.training.pytorch.plan import make_plan, periods_from

SPACE = {
    "quality": {"type": "double", "minval": 0.1, "maxval": 1.0},
    "choice": {"type": "categorical", "vals": [1, 2]},
    "global_batch_size": {"type": "const", "val": 2},
}
LENGTH = {"max_length": {"batches": 64}}
SEARCHERS: dict[str, dict[str, Any]] = {
    "single": {"name": "single", **LENGTH},
    "random": {"name": "random", "max_trials": 4, **LENGTH},
    "grid": {"name": "grid", **LENGTH},
    "tpe": {"name": "tpe", "max_trials": 5, **LENGTH},
    "async_halving": {"name": "async_halving", "max_trials": 8, "num_rungs": 3, "divisor": 4, **LENGTH},
    "async_halving by promotion": {
        "name": "async_halving", "max_trials": 8, "num_rungs": 3, "divisor": 4, "stop_once": False, **LENGTH,
    },
    "adaptive_asha": {"name": "adaptive_asha", "max_trials": 6, **LENGTH},
    "adaptive_asha in epochs": {"name": "adaptive_asha", "max_trials": 6, "time_metric": "epochs", "max_time": 16},
    "adaptive_asha in records": {"name": "adaptive_asha", "max_trials": 6, "max_length": {"records": 128}},
    "adaptive_asha by promotion": {"name": "adaptive_asha", "max_trials": 6, "stop_once": False, **LENGTH},
    "adaptive_tpe": {"name": "adaptive_tpe", "max_trials": 6, **LENGTH},
    "pbt": {
        "name": "pbt", "population_size": 4, "num_rounds": 3, "length_per_round": {"batches": 10},
        "replace_function": {"truncate_fraction": 0.25},
    },
}  # fmt: skip
EPOCH = 4


def loss_of(hparams: Mapping[str, Any], share: float) -> float:
    return float(hparams.get("quality", 0.5)) * math.exp(-2 * share) + 0.01 * float(hparams.get("choice", 1))


@dataclass
class Member:
    hparams: dict[str, Any]
    target: int | None
    units: int = 0
    is_done: bool = False
    latest: str | None = None


@dataclass
class Search:
    """The engine's part, one trial at a time: what a searcher asks for is done at once."""

    config: dict[str, Any]
    members: dict[str, Member] = field(default_factory=dict)
    queue: deque[str] = field(default_factory=deque)
    reporting: str = ""

    def __post_init__(self) -> None:
        self.method: Any = new_searcher(self.config["searcher"], self.config["hyperparameters"], seed=3)
        self.send(SearchStarted())

    def send(self, event: Any) -> None:
        waiting = deque([event])
        while waiting:
            for action in self.method.handle(waiting.popleft()).actions:
                self.apply(action, waiting)

    def apply(self, action: Any, waiting: deque[Any]) -> None:
        if isinstance(action, CreateTrial):
            self.members[action.request_id] = Member(action.hparams, action.train_to)
            self.queue.append(action.request_id)
        elif isinstance(action, TrainTo):
            member = self.members[action.request_id]
            if member.target is not None and member.units >= member.target and action.request_id != self.reporting:
                self.queue.append(action.request_id)
            member.target = action.length
        elif isinstance(action, StopTrial):
            self.members[action.request_id].is_done = True
            if action.request_id != self.reporting:
                waiting.append(TrialClosed(action.request_id))
        else:
            assert isinstance(action, Shutdown)

    def leaves(self, request_id: str) -> bool:
        member = self.members[request_id]
        return member.is_done or (member.target is not None and member.units >= member.target)


class SearchingMaster(LocalMaster):
    """A master that feeds validations to the search while it takes them in, as the real one does."""

    def __init__(self, folder: Path, search: Search, request_id: str) -> None:
        super().__init__(folder, echo=False)
        self.search, self.request_id = search, request_id

    def send_reports(self, reports: Sequence[Report]) -> None:
        super().send_reports(reports)
        for report in reports:
            if report.group == "validation" and not self.search.leaves(self.request_id):
                self.search.members[self.request_id].units = unit = self.units_at(report)
                self.search.send(Validated(self.request_id, float(unit), {"loss": report.metrics["loss"]}))

    def units_at(self, report: Report) -> int:
        searcher = self.search.config["searcher"]
        if searcher.get("time_metric"):
            return int(report.metrics[searcher["time_metric"]])
        is_records = "records" in (searcher.get("max_length") or {})
        return report.steps * (2 if is_records else 1)

    def send_checkpoint(self, checkpoint: CheckpointRecord) -> None:
        super().send_checkpoint(checkpoint)
        self.search.members[self.request_id].latest = checkpoint.uuid

    def is_asked_to_stop(self) -> bool:
        return self.search.leaves(self.request_id)


class Numbers(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return EPOCH * 2

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.ones(1)


class CurveTrial(Trial):
    """Learns nothing; its loss follows from its hyperparameters and how long it has trained."""

    def __init__(self, context: TrialContext) -> None:
        super().__init__(context)
        self.model = context.wrap_model(torch.nn.Linear(1, 1))
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=0.0))

    def build_training_data_loader(self) -> Any:
        return DataLoader(Numbers(), shuffle=False)

    def build_validation_data_loader(self) -> Any:
        return DataLoader(Numbers(), 8)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        return {"loss": 0.0}

    def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        return {"loss": loss_of(self.context.get_hparams(), self.context.steps / 64)}


def lengths_trained(config: dict[str, Any], folder: Path) -> list[int]:
    """Of every trial, after the whole search has run through the real Trainer."""
    search = Search(config)
    while search.queue:
        request_id = search.queue.popleft()
        member = search.members[request_id]
        if not member.is_done:
            search.reporting = request_id
            train(search, request_id, folder)
            if member.is_done or member.target is None or member.units < member.target:
                member.is_done = True
                search.send(TrialClosed(request_id))
            search.reporting = ""
    return sorted(member.units for member in search.members.values())


def train(search: Search, request_id: str, folder: Path) -> None:
    member, home = search.members[request_id], folder / request_id
    facts = RunFacts(
        hparams={**member.hparams, "global_batch_size": 2}, config=search.config, seed=1, slots=1, trial_id=1,
        experiment_id=1, is_on_cluster=True,
    )  # fmt: skip
    storage = {"type": "directory", "container_path": str(home / "checkpoints")}
    place = Place(rank=0, size=1, local_rank=0, local_size=1)
    run = _assemble(SearchingMaster(home, search, request_id), storage, facts, place, str(home), member.latest)
    with run:
        context = TrialContext(run)
        Trainer(CurveTrial(context), context).fit()


def config_of(searcher: dict[str, Any], **more: Any) -> dict[str, Any]:
    section = {"metric": "loss", "smaller_is_better": True, "max_concurrent_trials": 4, **searcher}
    space = SPACE if searcher["name"] not in ("single", "grid") else {**SPACE, "quality": {"type": "const", "val": 0.5}}
    if searcher["name"] == "single":
        space = {**space, "choice": {"type": "const", "val": 1}}
    return {"searcher": section, "hyperparameters": space, **more}


@pytest.mark.parametrize("name", SEARCHERS)
def test_trials_train_as_long_as_the_preview_says(name: str, tmp_path: Path) -> None:
    config = config_of(SEARCHERS[name])
    whole = {"adaptive_asha in epochs": 16, "adaptive_asha in records": 128}.get(name, 64)

    promised = simulate(
        config["searcher"], config["hyperparameters"], 3, slots=1,
        curve=lambda number, hparams, units: loss_of(hparams, units / whole),
    )  # fmt: skip

    assert lengths_trained(config, tmp_path) == sorted(trial.units for trial in promised.trials)
    if decision_points(config).lengths:
        assert len({trial.units for trial in promised.trials}) > 1


def test_a_validation_period_of_ones_own_is_kept_beside_the_points_of_decision() -> None:
    config = config_of(SEARCHERS["async_halving"], min_validation_period={"batches": 30})

    plan = make_plan(periods_from(config, {}), batches_per_epoch=4, global_batch_size=2)

    assert [step for step in range(1, 65) if plan.validates_at(step)] == [4, 16, 30, 60, 64]


@pytest.mark.parametrize(
    ("length", "points"),
    [({"batches": 64}, (4, 16, 64)), ({"records": 64}, (2, 8, 32)), ({"epochs": 16}, (4, 16, 64))],
)
def test_points_of_decision_are_counted_in_batches(length: dict[str, int], points: tuple[int, ...]) -> None:
    found = decision_points(config_of({**SEARCHERS["async_halving"], "max_length": length}))

    assert found.in_batches(batches_per_epoch=4, global_batch_size=2) == points


def test_a_script_that_asks_once_an_epoch_is_stopped_where_the_searcher_decided(tmp_path: Path) -> None:
    search = Search(
        config_of({"name": "async_halving", "max_trials": 1, "num_rungs": 1, "max_length": {"batches": 24}})
    )
    request_id = search.queue[0]
    search.reporting = request_id
    facts = RunFacts(hparams={}, config=search.config, seed=1, slots=1, trial_id=1, experiment_id=1, is_on_cluster=True)
    storage = {"type": "directory", "container_path": str(tmp_path / "checkpoints")}
    place = Place(rank=0, size=1, local_rank=0, local_size=1)
    run = _assemble(SearchingMaster(tmp_path, search, request_id), storage, facts, place, "run", None)

    steps = 0
    with run:
        while steps < 96:
            steps += 24
            run.report("validation", steps, {"loss": 1.0})
            if run.should_stop():
                break

    assert steps == 24
