"""A small engine that plays trials against a searcher: seeded, with failures, noise and stale events."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from resolute.search import Searcher, new_searcher, restore_searcher
from resolute.search.custom import CustomSearcher
from resolute.search.events import (
    Action,
    CreateTrial,
    Event,
    ExitReason,
    Outcome,
    SearchStarted,
    Shutdown,
    StopTrial,
    TrainTo,
    TrialClosed,
    TrialExitedEarly,
    TrialProgressed,
    Validated,
)

SPACE: dict[str, Any] = {
    "learning_rate": {"type": "log", "minval": -5, "maxval": 1, "base": 10, "count": 3},
    "layer": {"size": {"type": "int", "minval": 4, "maxval": 32, "count": 3}, "bias": True},
    "optimizer": {"type": "categorical", "vals": ["sgd", "adam"]},
    "momentum": {"type": "double", "minval": 0.8, "maxval": 0.99, "count": 2, "when": {"optimizer": ["sgd"]}},
    "global_batch_size": {"type": "const", "val": 32},
}


@dataclass
class Trial:
    units: int = 0
    target: int | None = None
    is_stopping: bool = False

    @property
    def is_waiting(self) -> bool:
        return self.target is not None and self.units >= self.target


@dataclass
class Record:
    """What happened, in order."""

    steps: list[tuple[Event, Outcome]] = field(default_factory=list)
    created: list[CreateTrial] = field(default_factory=list)
    invalid: int = 0
    most_in_training: int = 0
    units: dict[str, int] = field(default_factory=dict)
    shutdown: Shutdown | None = None
    progress: list[float] = field(default_factory=list)

    @property
    def actions(self) -> list[Action]:
        return [action for _, outcome in self.steps for action in outcome.actions]


class Player:
    def __init__(
        self,
        config: dict[str, Any],
        *,
        seed: int = 0,
        space: dict[str, Any] | None = None,
        length: int = 64,
        trouble: float = 0.0,
        restores: bool = False,
        searcher: Searcher | None = None,
    ) -> None:
        self.config, self.space = config, SPACE if space is None else space
        self.searcher = searcher or new_searcher(config, self.space, seed)
        self.rng = random.Random(seed)
        self.length, self.trouble, self.restores = length, trouble, restores
        self.trials: dict[str, Trial] = {}
        self.record = Record()

    def play(self, most: int = 5000) -> Record:
        self.send(SearchStarted())
        while self.trials and len(self.record.steps) < most:
            self.step()
        return self.record

    def step(self) -> None:
        movable = [name for name, trial in self.trials.items() if trial.is_stopping or not trial.is_waiting]
        assert movable, "every open trial waits for a raise that never comes"
        name = self.rng.choice(movable)
        trial = self.trials[name]
        if trial.is_stopping:
            self.end(TrialClosed(name))
        elif self.rng.random() < self.trouble:
            self.make_trouble(name)
        else:
            self.train(name, trial)

    def train(self, name: str, trial: Trial) -> None:
        trial.units = min(trial.units + self.rng.randint(3, 20), trial.target or self.length)
        self.record.units[name] = trial.units
        self.send(Validated(name, float(trial.units), self.measure()))
        if name in self.trials and not trial.is_stopping and trial.units >= self.length:
            self.end(TrialClosed(name))

    def measure(self) -> dict[str, float]:
        metric = self.config["metric"]
        names = metric if isinstance(metric, list) else [metric]
        return {name: self.rng.choice([self.rng.random(), 0.5, float("nan")]) for name in names}

    def make_trouble(self, name: str) -> None:
        kind = self.rng.randrange(7)
        if kind == 0:
            self.send(Validated("nobody", 3.0, self.measure()))
        elif kind == 1:
            self.send(TrialProgressed(name, self.rng.random()))
        elif kind == 2:
            self.end(TrialClosed(name))
            self.send(TrialClosed(name))
        else:
            reason = list(ExitReason)[kind - 3]
            self.record.invalid += reason is ExitReason.INVALID_HP
            self.end(TrialExitedEarly(name, reason))

    def end(self, event: TrialClosed | TrialExitedEarly) -> None:
        self.trials.pop(event.request_id, None)
        self.send(event)

    def send(self, event: Event) -> Outcome:
        outcome = self.searcher.handle(event)
        if self.restores:
            text = json.dumps(self.searcher.snapshot(), allow_nan=False)
            self.searcher = restore_searcher(self.config, self.space, json.loads(text))
        self.record.steps.append((event, outcome))
        self.record.progress.append(self.searcher.progress())
        for action in outcome.actions:
            self.apply(action)
        in_training = [trial for trial in self.trials.values() if not trial.is_stopping and not trial.is_waiting]
        self.record.most_in_training = max(self.record.most_in_training, len(in_training))
        return outcome

    def apply(self, action: Action) -> None:
        assert self.record.shutdown is None, "an action after the end"
        if isinstance(action, CreateTrial):
            assert action.request_id not in self.record.units
            self.record.units[action.request_id] = 0
            self.record.created.append(action)
            self.trials[action.request_id] = Trial(target=action.train_to)
        elif isinstance(action, TrainTo):
            assert action.length is None or action.length > (self.trials[action.request_id].target or 0)
            self.trials[action.request_id].target = action.length
        elif isinstance(action, StopTrial):
            self.trials[action.request_id].is_stopping = True
        else:
            self.record.shutdown = action


@pytest.fixture
def space() -> dict[str, Any]:
    return json.loads(json.dumps(SPACE))


@pytest.fixture(scope="session")
def player() -> type[Player]:
    return Player


@pytest.fixture(scope="session")
def play() -> Callable[..., Record]:
    def play_through(config: dict[str, Any], **options: Any) -> Record:
        return Player(config, **options).play()

    return play_through


@pytest.fixture
def begin_custom() -> Callable[[dict[str, Any], dict[str, Any]], CustomSearcher]:
    """begin_custom(config, space): a search that somebody else drives, with its first event waiting."""

    def begin(config: dict[str, Any], space: dict[str, Any]) -> CustomSearcher:
        made = new_searcher(config, space, 5)
        assert isinstance(made, CustomSearcher)
        made.handle(SearchStarted())
        return made

    return begin
