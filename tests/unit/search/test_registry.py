"""Building, restoring and extending searchers by name; what is refused before anything runs."""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig, InvalidInput
from resolute.search import extend_searcher, new_searcher, restore_searcher
from resolute.search.events import CreateTrial, Outcome, SearchStarted, Shutdown, TrialClosed, Validated
from resolute.search.searcher import EarlierResult

SPACE = {"rate": {"type": "double", "minval": 0, "maxval": 1}, "net": {"type": "categorical", "vals": ["a", "b"]}}


def section(name: str, **more: Any) -> dict[str, Any]:
    base = {"name": name, "metric": "loss", "max_trials": 8, "max_concurrent_trials": 4, "max_length": {"batches": 16}}
    return base | {"num_rungs": 2, "population_size": 4, "num_rounds": 2, "length_per_round": 5} | more


def created(outcome: Outcome) -> list[CreateTrial]:
    return [action for action in outcome.actions if isinstance(action, CreateTrial)]


@pytest.mark.parametrize("name", ["tpe", "adaptive_tpe", "pbt"])
def test_a_search_over_a_space_without_a_free_parameter_is_refused(name: str) -> None:
    with pytest.raises(InvalidConfig, match="no parameter is free"):
        new_searcher(section(name), {"rate": 0.1, "net": {"type": "categorical", "vals": ["only"]}}, 1)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidConfig, match="'magic'; use one of: single, random, grid"):
        new_searcher(section("magic"), SPACE, 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"max_trials": 0}, "max_trials is 0; it must be a whole number of at least 1"),
        ({"max_trials": 2.5}, "max_trials is 2.5"),
        ({"max_trials": None}, "max_trials is missing"),
        ({"max_concurrent_trials": -1}, "max_concurrent_trials is -1"),
        ({"max_failed_trials": -1}, "max_failed_trials is -1"),
        ({"max_rungs": 0}, "max_rungs is 0"),
        ({"divisor": 1}, "divisor is 1"),
        ({"patience": -1}, "patience is -1"),
        ({"smaller_is_better": [True, False]}, "smaller_is_better has 2 values for 1 metrics"),
        ({"goal": [1.0, 2.0]}, "goal has 2 values for 1 metrics"),
    ],
)
def test_a_faulty_section_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        new_searcher(section("adaptive_asha", **change), SPACE, 1)

    assert said in str(refused.value)


def test_a_snapshot_of_another_version_is_refused() -> None:
    snapshot = new_searcher(section("random"), SPACE, 1).snapshot() | {"version": 99}

    with pytest.raises(InvalidInput, match="version 99; this release reads 1"):
        restore_searcher(section("random"), SPACE, snapshot)


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = "import sys, resolute.search; print([m for m in ('numpy', 'optuna', 'torch') if m in sys.modules])"

    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert output.strip() == "[]"


@pytest.mark.parametrize("name", ["random", "async_halving", "adaptive_asha", "tpe", "adaptive_tpe"])
@pytest.mark.parametrize("stop_once", [True, False])
def test_a_finished_search_takes_more_trials(player: Callable[..., Any], name: str, stop_once: bool) -> None:
    config = section(name, stop_once=stop_once)
    game = player(config, seed=3, space=SPACE, length=16)
    first = game.play()
    larger = config | {"max_trials": 20}

    extended = extend_searcher(larger, SPACE, json.loads(json.dumps(game.searcher.snapshot())))
    again = player(larger, seed=4, space=SPACE, length=16, searcher=extended, restores=True)
    more = again.play()

    assert first.shutdown == more.shutdown == Shutdown()
    assert (len(first.created), len(more.created)) == (8, 12)
    assert not {trial.request_id for trial in first.created} & {trial.request_id for trial in more.created}


def test_an_extension_without_more_trials_ends_at_once(player: Callable[..., Any]) -> None:
    game = player(section("random"), seed=3, space=SPACE)
    game.play()

    extended = extend_searcher(section("random"), SPACE, game.searcher.snapshot())

    assert extended.handle(SearchStarted()).actions == [Shutdown()]


@pytest.mark.parametrize("name", ["random", "adaptive_asha"])
def test_the_best_of_earlier_results_is_tried_first(name: str) -> None:
    earlier = [EarlierResult({"rate": at / 10, "net": "a", "gone": 1}, {"loss": abs(at - 4)}) for at in range(10)]

    searcher = extend_searcher(section(name), SPACE, seed=1, earlier=earlier)

    first, second, *_ = created(searcher.handle(SearchStarted()))
    assert first.hparams == {"rate": 0.4, "net": "a"}
    assert second.hparams["rate"] != 0.5


@pytest.mark.parametrize("name", ["tpe", "adaptive_tpe"])
def test_a_model_begins_with_what_earlier_results_taught(name: str) -> None:
    earlier = [
        EarlierResult({"rate": at / 200, "net": "ab"[at % 2]}, {"loss": abs(at - 100)}, time=16.0) for at in range(200)
    ]

    searcher = extend_searcher(section(name, max_trials=8), SPACE, seed=1, earlier=earlier)

    rates = [trial.hparams["rate"] for trial in created(searcher.handle(SearchStarted()))]
    near = [rate for rate in rates if abs(rate - 0.5) < 0.25]
    assert len(near) >= 3


def test_random_and_model_learn_the_same_way_from_a_snapshot_with_earlier_results() -> None:
    earlier = [EarlierResult({"rate": at / 20, "net": "a"}, {"loss": at}) for at in range(20)]
    searcher = extend_searcher(section("tpe"), SPACE, seed=1, earlier=earlier)

    restored = restore_searcher(section("tpe"), SPACE, json.loads(json.dumps(searcher.snapshot())))

    assert restored.handle(SearchStarted()) == searcher.handle(SearchStarted())


@pytest.mark.parametrize("name", ["tpe", "adaptive_tpe"])
def test_a_model_finds_a_simple_optimum_better_than_chance(name: str) -> None:
    def loss(hparams: dict[str, Any]) -> float:
        return float((hparams["rate"] - 0.3) ** 2 + (0.0 if hparams["net"] == "b" else 0.5))

    best: dict[str, list[float]] = {}
    for searcher_name in (name, "random"):
        for seed in range(5):
            config = section(searcher_name, max_trials=60, stop_once=True)
            searcher = new_searcher(config, SPACE, seed)
            waiting = created(searcher.handle(SearchStarted()))
            losses = []
            while waiting:
                trial = waiting.pop(0)
                losses.append(loss(trial.hparams))
                for event in (Validated(trial.request_id, 16.0, {"loss": losses[-1]}), TrialClosed(trial.request_id)):
                    waiting += created(searcher.handle(event))
            best.setdefault(searcher_name, []).append(statistics.median(losses[30:]))

    assert sum(best[name]) < 0.5 * sum(best["random"])
