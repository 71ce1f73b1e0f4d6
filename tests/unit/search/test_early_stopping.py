"""Learning curves: what is kept of them, where they are expected to end, and searches whose trials report often."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.search import extend_searcher, new_searcher, restore_searcher
from resolute.search.curve_forecast import Cohort, CurveSums, Field, sum_up
from resolute.search.curve_shapes import COUNT, shapes_at
from resolute.search.density import Density
from resolute.search.early_stopping import EarlyStopping
from resolute.search.events import (
    CreateTrial,
    ExitReason,
    SearchStarted,
    StopTrial,
    TrialClosed,
    TrialExitedEarly,
    Validated,
)
from resolute.search.learning_curves import DENSE, MOST_REPORTS, LearningCurves
from resolute.search.objective import WORST
from resolute.search.patch import changes, patched
from resolute.search.searcher import EarlierResult
from resolute.search.space import Space
from resolute.search.surrogate import Surrogate

SPACE = {
    "x": {"type": "double", "minval": 0, "maxval": 1},
    "n": {"type": "int", "minval": 1, "maxval": 4},
    "net": {"type": "categorical", "vals": ["a", "b", "c"]},
}
LENGTH = 64


class TestShapes:
    def test_every_shape_begins_at_one_and_ends_at_zero(self) -> None:
        heights, _ = shapes_at((0.0, 0.5, 1.0))

        assert heights.shape == (3, COUNT)
        assert heights[0] == pytest.approx(np.ones(COUNT))
        assert heights[2] == pytest.approx(np.zeros(COUNT), abs=1e-12)

    def test_no_shape_rises(self) -> None:
        heights, _ = shapes_at(tuple(np.linspace(0.0, 1.0, 50)))

        assert (np.diff(heights, axis=0) <= 1e-12).all()


class TestLogbook:
    def test_a_long_training_keeps_few_averages(self) -> None:
        curves = LearningCurves()

        for step in range(1, 1001):
            curves.add(0, step / 1000, 1000.0 / step)

        assert len(curves.losses[0]) <= MOST_REPORTS + 1
        assert sum(curves.counts[0]) == 1000
        assert curves.best[0] == 1.0

    def test_a_loss_that_is_not_finite_makes_a_trial_lost(self) -> None:
        curves = LearningCurves()

        curves.add(3, 0.1, WORST)

        assert curves.lost == {3}
        assert 3 not in curves.losses

    @pytest.mark.parametrize(("reports", "is_dense"), [(DENSE, True), (DENSE // 2, False), (0, False)])
    def test_curves_are_dense_when_a_full_training_has_enough_reports(self, reports: int, is_dense: bool) -> None:
        curves = LearningCurves()

        for step in range(1, reports + 1):
            curves.add(0, step / reports, 1.0)

        assert curves.is_dense() is is_dense

    def test_reports_at_rungs_are_not_dense_however_many_trials_stop_at_the_first(self) -> None:
        curves = LearningCurves()

        for trial in range(64):
            for rung, one_in in ((1, 1), (4, 1), (16, 4), (64, 16)):
                if trial % one_in == 0:
                    curves.add(trial, rung / 64, 1.0)

        assert not curves.is_dense()
        kept = curves.snapshot()
        del kept["unseen"]
        assert not LearningCurves.of_snapshot(kept).is_dense()

    def test_a_lost_report_among_many_does_not_make_curves_sparse(self) -> None:
        curves = LearningCurves()

        for trial in range(3):
            for step in range(1, DENSE + 1):
                if (trial, step) != (1, 9):
                    curves.add(trial, step / DENSE, 1.0)

        assert curves.is_dense()

    @given(st.lists(st.tuples(st.integers(0, 3), st.floats(0.001, 1), st.floats(-9, 9)), max_size=40))
    def test_it_comes_back_from_its_snapshot_and_shares_nothing_that_changes(
        self, reports: list[tuple[int, float, float]]
    ) -> None:
        curves = LearningCurves()
        for trial, share, loss in reports:
            curves.add(trial, share, loss)
        snapshot = curves.snapshot()
        text = json.dumps(snapshot)

        copy = LearningCurves.of_snapshot(json.loads(text))
        for trial in range(4):
            curves.add(trial, 1.0, 0.0)

        assert json.dumps(snapshot) == text
        assert json.dumps(copy.snapshot()) == text

    def test_a_snapshot_with_a_list_for_each_kind_of_number_is_read(self) -> None:
        kept = {
            "trials": [0, 2],
            "shares": [[0.25, 0.5], [0.1]],
            "losses": [[2.0, 1.0], [3.0]],
            "counts": [[1.0, 2.0], [1.0]],
            "best": [0.9, 3.0],
            "lost": [1],
            "trained": 0.6,
        }

        curves = LearningCurves.of_snapshot(kept)
        curves.add(2, 0.2, 2.5)

        assert curves.losses == {0: [2.0, 1.0], 2: [3.0, 2.5]}
        assert curves.best == {0: 0.9, 2: 2.5}
        assert curves.lost == {1}

    def test_one_more_report_is_a_few_numbers_in_the_patch_however_long_the_curve(self) -> None:
        curves = LearningCurves()
        for trial in range(3):
            for step in range(1, 60):
                curves.add(trial, step / 64, 1.0 / step)
        before = curves.snapshot()

        curves.add(1, 60 / 64, 0.5)
        patch = changes(before, curves.snapshot())

        assert patched(json.loads(json.dumps(before)), patch) == curves.snapshot()
        assert len(json.dumps(patch)) < 250


def curve(end: float, rate: float, reports: int, *, start: float = 2.0, wobble: float = 0.005) -> CurveSums:
    shares = [step / LENGTH for step in range(1, reports + 1)]
    left = [(math.exp(-rate * share) - math.exp(-rate)) / (1.0 - math.exp(-rate)) for share in shares]
    losses = [end + (start - end) * height + wobble * (-1) ** at for at, height in enumerate(left)]
    return sum_up(shares, losses, [1.0] * reports)


def cohort_of(field: Field) -> Cohort:
    cohort = field.first_cohort()
    for _ in range(4):
        cohort = field.learnt(cohort)
    return cohort


class TestForecast:
    ENDS = (0.2, 0.5, 0.8, 0.3, 0.6, 0.9, 0.4, 0.7)
    RATES = (4.0, 7.0, 3.0, 5.0, 9.0, 6.0, 8.0, 4.5)

    def field(self, reports: int, **more: Any) -> Field:
        pairs = zip(self.ENDS, self.RATES, strict=True)
        return Field([curve(end, rate, reports, **more) for end, rate in pairs])

    def test_half_a_curve_tells_where_it_ends(self) -> None:
        field = self.field(32)

        posterior = field.posterior(cohort_of(field))

        assert posterior.ends == pytest.approx(np.array(self.ENDS), abs=0.1)

    def test_the_longer_the_curve_the_less_the_doubt(self) -> None:
        doubts = []
        for reports in (4, 16, 48):
            field = self.field(reports)
            doubts.append(float(field.posterior(cohort_of(field)).end_variances.mean()))

        assert doubts == sorted(doubts, reverse=True)

    def test_a_slow_learner_is_not_taken_for_a_bad_one(self) -> None:
        """After a quarter, the slow one is far behind; both end at the same loss."""
        known = [curve(end, rate, 64) for end, rate in zip(self.ENDS, self.RATES, strict=True)]
        field = Field([*known, curve(0.3, 9.0, 16), curve(0.3, 3.0, 16)])

        posterior = field.posterior(cohort_of(field))

        fast, slow = posterior.ends[-2:]
        assert abs(slow - fast) < 2.0 * math.sqrt(float(posterior.end_variances[-2:].sum()))

    def test_starts_that_go_with_ends_are_noticed(self) -> None:
        field = Field([curve(end, 6.0, 40, start=end + 2.0) for end in self.ENDS])

        assert cohort_of(field).tie > 0.5

    def test_a_firm_belief_moves_a_short_curve(self) -> None:
        field = self.field(4)
        cohort = cohort_of(field)
        count = len(self.ENDS)

        low, _ = field.forecast(cohort, np.full(count, 0.1), np.full(count, 1e-4))

        assert low == pytest.approx(np.full(count, 0.1), abs=0.05)

    @pytest.mark.parametrize("reports", [32, 48, 56])
    def test_a_rate_between_two_shapes_of_the_bank_does_not_shift_the_end(self, reports: int) -> None:
        rates = (1.16 ** np.arange(8.5, 16.5)).tolist()
        field = Field([curve(end, rate, reports) for end, rate in zip(self.ENDS, rates, strict=True)])

        ends = field.posterior(cohort_of(field)).ends

        assert float(np.mean(ends - np.array(self.ENDS))) == pytest.approx(0.0, abs=0.01)

    def test_curves_that_fit_no_shape_are_not_called_noise(self) -> None:
        """They rise; with much noise believed, every curve would be taken for a good one."""
        known = [curve(end, 6.0, 64, wobble=0.02) for end in self.ENDS]
        rising = [curve(end, 6.0, 32, start=-1.0, wobble=0.02) for end in self.ENDS]

        usual, odd = cohort_of(Field(known)), cohort_of(Field([*known, *rising]))

        assert odd.noise < 4.0 * usual.noise

    def test_the_noise_of_last_reports_is_told_from_the_ends_of_full_curves(self) -> None:
        quiet = [2.0 - at / 64 + (0.1 * (-1) ** at if at < 40 else 0.0) for at in range(64)]
        shares = [(at + 1) / 64 for at in range(64)]

        field = Field([sum_up(shares, quiet, [1.0] * 64)])

        assert field.is_done.tolist() == [True]
        assert field.last_noise() < 1e-3 < field.first_cohort().noise

    def test_a_cohort_kept_with_another_bank_of_shapes_forgets_only_the_shapes(self) -> None:
        cohort = cohort_of(self.field(32))
        kept = cohort.snapshot() | {"weights": [0.5] * 62}

        restored = Cohort.of_snapshot(kept)

        assert restored.weights.tolist() == [0.0] * COUNT
        assert (restored.end, restored.noise) == (cohort.end, cohort.noise)

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8), min_size=1, max_size=5))
    def test_any_curves_give_finite_numbers(self, curves: list[list[float]]) -> None:
        sums = [sum_up([(at + 1) / 20 for at in range(len(losses))], losses, [1.0] * len(losses)) for losses in curves]
        field = Field(sums)

        cohort = cohort_of(field)
        posterior = field.posterior(cohort)

        assert np.isfinite(posterior.ends).all()
        assert np.isfinite(posterior.end_variances).all()
        kept = json.loads(json.dumps(cohort.snapshot()))
        assert Cohort.of_snapshot(kept).snapshot() == kept


def test_one_lucky_report_does_not_make_a_stopped_trial_the_one_to_beat() -> None:
    curves, rows = LearningCurves(), [[at / 10] for at in range(10)]
    for trial in range(10):
        for step in range(1, 33):
            lucky = -2.0 if (trial, step) == (4, 20) else 0.0
            curves.add(trial, step / 64, 0.5 + row_loss(rows[trial]) + math.exp(-step / 8) + lucky)
    prospects = EarlyStopping(Surrogate(1, 0))

    prospects.form(curves, rows, running={9}, lost=set(), earlier=[], random=np.random.default_rng(1))

    assert curves.best[4] < -1.0
    assert all(loss > 0.0 for _, loss, _ in prospects.snapshot()["rivals"])


def test_choices_are_new_and_differ_from_one_another() -> None:
    curves, rows = LearningCurves(), [[at / 10] for at in range(10)]
    for trial in range(10):
        for step in range(1, 33):
            curves.add(trial, step / 64, 0.5 + row_loss(rows[trial]) + math.exp(-step / 8))
    prospects, random = EarlyStopping(Surrogate(1, 0)), np.random.default_rng(1)
    beliefs = prospects.form(curves, rows, running={9}, lost=set(), earlier=[], random=random)
    density = Density(Space({"n": {"type": "int", "minval": 1, "maxval": 4}}))

    both = prospects.choose(beliefs, density, {(0.125,), (0.625,)}, random)
    one = prospects.choose(beliefs, density, {(0.125,), (0.375,), (0.625,)}, random)
    none = prospects.choose(beliefs, density, {(0.125,), (0.375,), (0.625,), (0.875,)}, random)

    assert sorted(both) == [[0.375], [0.875]]
    assert (one, none) == ([[0.875]], [])


def row_loss(row: list[float]) -> float:
    return (row[0] - 0.6) ** 2


def section(**more: Any) -> dict[str, Any]:
    return {
        "name": "adaptive_tpe",
        "metric": "loss",
        "max_trials": 40,
        "max_time": LENGTH,
        "max_concurrent_trials": 4,
        "startup_trials": 6,
    } | more


Loss = Callable[[dict[str, Any], int], float]


def run(config: dict[str, Any], loss: Loss, *, restores: bool = False, searcher: Any = None) -> list[tuple[Any, int]]:
    """Four workers in turn, a report after each unit; hyperparameters and length reached of each trial."""
    searcher = searcher or new_searcher(config, SPACE, 1)
    waiting: list[CreateTrial] = []
    reached: dict[str, tuple[Any, int]] = {}

    def send(event: Any) -> list[Any]:
        nonlocal searcher
        actions = searcher.handle(event).actions
        waiting.extend(action for action in actions if isinstance(action, CreateTrial))
        if restores:
            searcher = restore_searcher(config, SPACE, json.loads(json.dumps(searcher.snapshot(), allow_nan=False)))
        return actions

    send(SearchStarted())
    running: list[CreateTrial] = []
    while waiting or running:
        running += [waiting.pop(0) for _ in range(min(4 - len(running), len(waiting)))]
        trial = running.pop(0)
        time = reached.get(trial.request_id, (None, 0))[1] + 1
        reached[trial.request_id] = trial.hparams, time
        value = loss(trial.hparams, time)
        if value == WORST:
            send(TrialExitedEarly(trial.request_id, ExitReason.ERRORED))
            continue
        actions = send(Validated(trial.request_id, float(time), {"loss": value}))
        is_stopped = any(isinstance(each, StopTrial) and each.request_id == trial.request_id for each in actions)
        if is_stopped or time == LENGTH:
            send(TrialClosed(trial.request_id))
        else:
            running.append(trial)
    return list(reached.values())


def final(hparams: dict[str, Any]) -> float:
    return float((hparams["x"] - 0.7) ** 2 + 0.1 * (hparams["net"] != "b") + 0.02 * hparams["n"])


def learning(hparams: dict[str, Any], time: int) -> float:
    """Good ones learn slowly."""
    speed = 2.0 + 6.0 * final(hparams)
    return final(hparams) + (2.0 - final(hparams)) * math.exp(-speed * time / 16)


def failing(hparams: dict[str, Any], time: int) -> float:
    if hparams["net"] == "a":
        return math.nan if hparams["n"] > 2 else WORST
    return learning(hparams, time)


class TestSearch:
    def test_later_trials_end_better_than_the_first_random_ones(self) -> None:
        first, later = [], []
        for seed in range(1, 4):
            ends = [
                final(hparams) for hparams, _ in run(section(), learning, searcher=new_searcher(section(), SPACE, seed))
            ]
            first += ends[:6]
            later += ends[-15:]

        assert float(np.median(later)) < float(np.median(first)) / 2

    def test_most_stop_early_and_the_best_trains_to_the_end(self) -> None:
        trials = run(section(), learning)

        done = [final(hparams) for hparams, time in trials if time == LENGTH]
        assert 0 < len(done) <= len(trials) / 2
        assert min(done) < min(final(hparams) for hparams, _ in trials) + 0.05

    @pytest.mark.parametrize("loss", [learning, failing], ids=["sound", "failing"])
    def test_restored_after_every_event_it_decides_as_one_that_never_stopped(self, loss: Loss) -> None:
        config = section(max_trials=16)

        assert run(config, loss, restores=True) == run(config, loss)

    @pytest.mark.parametrize("max_trials", [1, 2, 5, 16])
    def test_somebody_trains_to_the_end_and_the_budget_is_kept(self, max_trials: int) -> None:
        trials = run(section(max_trials=max_trials), learning)

        assert len(trials) == max_trials
        assert any(time == LENGTH for _, time in trials)

    def test_a_trial_that_is_the_best_so_far_goes_on(self) -> None:
        best = {"x": 0.0}

        def loss(hparams: dict[str, Any], time: int) -> float:
            best["x"] = max(best["x"], hparams["x"])
            return 1.0 - hparams["x"] + math.exp(-time / 4)

        trials = run(section(), loss)

        assert next(time for hparams, time in trials if hparams["x"] == best["x"]) == LENGTH

    def test_hardly_a_point_is_tried_twice_while_others_are_left(self) -> None:
        space = {
            "n": {"type": "int", "minval": 1, "maxval": 20},
            "net": {"type": "categorical", "vals": ["a", "b", "c"]},
        }
        searcher = new_searcher(section(), space, 3)

        trials = run(section(), lambda hparams, time: abs(hparams["n"] - 7) + math.exp(-time / 4), searcher=searcher)

        # Of the ten at the start, and of a few later ones that are drawn at random, some are alike.
        assert len({(hparams["n"], hparams["net"]) for hparams, _ in trials}) >= 36

    def test_patience_spares_young_trials(self) -> None:
        trials = run(section(max_trials=16, patience={"epochs": 20}), learning)

        assert all(time >= 20 for _, time in trials)

    def test_trials_that_diverge_or_fail_do_not_stop_the_search(self) -> None:
        trials = run(section(), failing)

        assert len(trials) == 40
        later = [hparams["net"] for hparams, _ in trials[-15:]]
        assert later.count("a") < 5

    def test_earlier_results_are_learnt_from(self) -> None:
        earlier = [
            EarlierResult({"x": at / 20, "n": 1, "net": "b"}, {"loss": (at / 20 - 0.7) ** 2}) for at in range(20)
        ]
        searcher = extend_searcher(section(max_trials=12), SPACE, earlier=earlier)

        trials = run(section(max_trials=12), learning, searcher=searcher)

        assert len(trials) == 12

    @pytest.mark.parametrize("value", [0.0, 1e-300, 1e12])
    def test_curves_that_do_not_move_are_no_trouble(self, value: float) -> None:
        trials = run(section(max_trials=10), lambda hparams, time: value)

        assert len(trials) == 10
