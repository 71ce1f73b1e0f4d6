"""The master dies between any two instructions of a search: the decisions are those of a search that never crashed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.allocation import AllocationState
from resolute.domain.experiment import ExperimentState
from resolute.domain.trial import Trial
from resolute.engine.experiments.search_memory import PATCHES_PER_SNAPSHOT
from resolute.engine.jobs.allocations import ack_preemption
from resolute.engine.loop import prepare
from resolute.engine.ports.database import Store, Transaction
from resolute.engine.trials.running import report_progress

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


class MoribundStore(MortalStore):
    """Dies again and again: `deaths` maps the number of a write to whether it dies before its commit."""

    deaths: dict[int, bool]

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        self.dies_at = self.writes + 1 if self.writes + 1 in self.deaths else None
        self.dies_before_commit = self.deaths.get(self.writes + 1, False)
        with super().write() as tx:
            yield tx


def test_any_number_of_crashes_anywhere_changes_no_decision(make_world) -> None:
    expected = {config: drive(make_world(), config) for config in (STOPPING, PROMOTION)}
    moments = st.dictionaries(st.integers(2, 90), st.booleans(), min_size=1, max_size=6)

    @settings(max_examples=10, deadline=None)
    @given(deaths=moments, config=st.sampled_from([STOPPING, PROMOTION]))
    def survives(deaths: dict[int, bool], config: str) -> None:
        world = make_world()
        store = MoribundStore(world.platform.store)
        store.deaths = deaths
        world.platform = replace(world.platform, store=store)

        assert drive(world, config) == expected[config]

    survives()


def search_of(world, experiment_id: int) -> tuple[Any, Any]:
    with world.platform.store.read() as tx:
        return tx.experiments.searcher_snapshot(experiment_id), tx.experiments.searcher_head(experiment_id)


def test_a_search_that_is_read_back_at_every_event_decides_as_one_that_is_remembered(make_world) -> None:
    expected = drive(make_world(), STOPPING)
    world = make_world()
    world.platform = replace(world.platform, store=ForgetfulStore(world.platform.store))

    assert drive(world, STOPPING) == expected


class ForgetfulStore(MortalStore):
    """Gives every search a new name before each write, so that nothing remembered about it is believed."""

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self._inner.write() as tx:
            for experiment in tx.experiments.in_states(list(ExperimentState)):
                snapshot = tx.experiments.searcher_snapshot(experiment.id)
                assert snapshot is not None
                tx.experiments.save_searcher_snapshot(experiment.id, snapshot)
            yield tx


def test_a_decision_that_was_rolled_back_is_made_again_and_alike(make_world) -> None:
    calm, world = make_world(), make_world()
    trials = []
    for each in (calm, world):
        experiment = each.create(STOPPING)
        each.tick()
        trials.append(each.trials(experiment.id)[0])
    store = mortal(world)
    before = search_of(world, trials[1].experiment_id)

    for _ in range(3):
        store.dies_at, store.dies_before_commit = store.writes + 1, True
        with pytest.raises(Crash):
            world.validate(trials[1], 1, loss=0.3, epochs=1)
        assert search_of(world, trials[1].experiment_id) == before
    calm.validate(trials[0], 1, loss=0.3, epochs=1)
    world.validate(trials[1], 1, loss=0.3, epochs=1)

    after = search_of(world, trials[1].experiment_id)
    assert after[0] == search_of(calm, trials[0].experiment_id)[0]
    assert after[0] != before[0]


def test_an_event_adds_a_small_patch_and_now_and_then_a_whole_snapshot(make_world) -> None:
    world = make_world()
    experiment = world.create(STOPPING.replace("max_time: 4", "max_time: 400"))
    world.tick()
    trial = world.trials(experiment.id)[0]
    counts = []

    for step in range(1, PATCHES_PER_SNAPSHOT + 20):
        report_progress(world.platform, trial.id, step / 1000)
        counts.append(search_of(world, experiment.id)[1].patches)

    assert max(counts) == PATCHES_PER_SNAPSHOT
    assert counts.count(0) == 1
    assert search_of(world, experiment.id)[0]["roll"]["partial"] == {"0": (PATCHES_PER_SNAPSHOT + 19) / 1000}


def test_an_event_that_changes_nothing_writes_no_patch(make_world) -> None:
    world = make_world()
    experiment = world.create(STOPPING)
    world.tick()
    trial = world.trials(experiment.id)[0]
    report_progress(world.platform, trial.id, 0.25)
    before = search_of(world, experiment.id)

    report_progress(world.platform, trial.id, 0.25)

    assert search_of(world, experiment.id) == before
