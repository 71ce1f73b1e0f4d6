"""The master dies between any two instructions of a search: the decisions are those of a search that never crashed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.allocation import AllocationState
from resolute.domain.trial import Trial
from resolute.engine.allocations import ack_preemption
from resolute.engine.loop import prepare
from resolute.engine.ports import Store, Transaction

STOPPING = """
name: a
entrypoint: python3 train.py
reproducibility: {experiment_seed: 7}
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}
searcher:
  name: adaptive_asha
  metric: loss
  max_trials: 6
  divisor: 2
  max_rungs: 3
  max_time: 4
  time_metric: epochs
  max_concurrent_trials: 3
"""
PROMOTION = STOPPING.replace("max_time: 4", "max_length: {batches: 4}").replace("  time_metric: epochs\n", "")


class Crash(BaseException):
    """Not an Exception: nothing in the engine may catch it, as nothing catches SIGKILL."""


class MortalStore:
    """The real store; at the chosen write it dies, just before the commit or just after it."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self.writes = 0
        self.dies_at: int | None = None
        self.dies_before_commit = False

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        self.writes += 1
        is_last = self.writes == self.dies_at
        with self._inner.write() as tx:
            yield tx
            if is_last and self.dies_before_commit:
                raise Crash
        if is_last:
            raise Crash

    def read(self) -> Any:
        return self._inner.read()

    def close(self) -> None:
        self._inner.close()


def drive(world, config: str) -> list[tuple[Any, ...]]:
    """A fixed program of deeds, each repeated until it went through, as clients and loops do."""
    experiment = attempt(world, lambda: world.create(config))
    for _ in range(60):
        if world.experiment(experiment.id).is_finished:
            break
        attempt(world, world.tick)
        for trial in world.trials(experiment.id):
            advance(world, trial)
    return decisions(world, experiment.id)


def advance(world, trial: Trial) -> None:
    """One more epoch of a running trial, or its leaving when it was asked to."""
    if world.states(trial)[-1:] != [AllocationState.RUNNING]:
        return
    allocation_id = world.allocation(trial)
    with world.platform.store.read() as tx:
        is_asked = tx.allocations.get(allocation_id).preempt_requested_at is not None
    epoch = world.trial(trial.id).total_batches + 1
    if is_asked:
        attempt(world, lambda: ack_preemption(world.platform, allocation_id))
        end(world, allocation_id)
    elif epoch > 4:
        end(world, allocation_id)
    else:
        loss = trial.hparams["lr"] / epoch
        attempt(world, lambda: world.validate(trial, epoch, loss=loss, epochs=epoch))


def end(world, allocation_id: str) -> None:
    world.runner.finish(allocation_id)
    attempt(world, world.tick)


def attempt(world, deed: Callable[[], Any]) -> Any:
    while True:
        try:
            return deed()
        except Crash:
            prepare(world.platform)


def decisions(world, experiment_id: int) -> list[tuple[Any, ...]]:
    with world.platform.store.read() as tx:
        snapshot = tx.experiments.searcher_snapshot(experiment_id)
    trials = [
        (t.request_id, t.hparams, t.state, t.total_batches, t.searcher_metric_value)
        for t in world.trials(experiment_id)
    ]
    return [*trials, snapshot, world.experiment(experiment_id).state]


def mortal(world) -> MortalStore:
    store = MortalStore(world.platform.store)
    world.platform = replace(world.platform, store=store)
    return store


@pytest.mark.parametrize("config", [STOPPING, PROMOTION], ids=["stopping", "promotion"])
@pytest.mark.parametrize("before", [True, False], ids=["before-commit", "after-commit"])
def test_a_crash_at_any_write_changes_no_decision(make_world, config: str, before: bool) -> None:
    calm = make_world()
    store = mortal(calm)
    expected = drive(calm, config)
    total = store.writes

    for moment in range(2 if before else 5, total, 7):
        world = make_world()
        store = mortal(world)
        # The creation itself is not retried by clients: a crash there may leave a second experiment, not a lost one.
        store.dies_at, store.dies_before_commit = moment, before

        assert drive(world, config) == expected, f"crash at write {moment} of {total}"
