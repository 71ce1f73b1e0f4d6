"""Promises that every searcher keeps, whatever happens to its trials."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolute.search import new_searcher
from resolute.search.events import CreateTrial, SearchStarted, Shutdown

QUICK = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 2**63 - 1)
TROUBLE = st.sampled_from([0.0, 0.02, 0.2])


def halving(name: str = "adaptive_asha", **more: Any) -> dict[str, Any]:
    return {"name": name, "metric": "loss", "max_trials": 20, "max_length": {"batches": 64}, "num_rungs": 3} | more


CONFIGS: dict[str, dict[str, Any]] = {
    "single": {"name": "single", "metric": "loss"},
    "random": {"name": "random", "metric": "loss", "max_trials": 9, "max_concurrent_trials": 4},
    "grid": {"name": "grid", "metric": "loss", "max_concurrent_trials": 3},
    "async_halving": halving("async_halving", max_concurrent_trials=5),
    "async_halving promotion": halving("async_halving", stop_once=False, max_concurrent_trials=5),
    "adaptive_asha": halving(max_concurrent_trials=6),
    "adaptive_asha all at once": halving(max_concurrent_trials=0),
    "adaptive_asha promotion": halving(stop_once=False, max_concurrent_trials=2, mode="conservative"),
    "adaptive_asha patient": halving(patience=1, max_concurrent_trials=4, smaller_is_better=False),
    "adaptive_asha patient promotion": halving(patience={"batches": 10}, stop_once=False),
    "adaptive_asha time": {
        "name": "adaptive_asha",
        "metric": "loss",
        "max_trials": 12,
        "time_metric": "epochs",
        "max_time": 64,
        "divisor": 3,
        "stop_once": True,
        "max_concurrent_trials": 4,
    },
    "two objectives": halving(metric=["loss", "latency"], smaller_is_better=[True, True], max_concurrent_trials=4),
    "two objectives promotion": halving(metric=["loss", "size"], stop_once=False, max_concurrent_trials=4),
    "pbt": {
        "name": "pbt",
        "metric": "loss",
        "population_size": 5,
        "num_rounds": 3,
        "length_per_round": {"batches": 10},
        "replace_function": {"truncate_fraction": 0.4},
    },
    "tpe": {"name": "tpe", "metric": "loss", "max_trials": 16, "startup_trials": 4, "max_concurrent_trials": 3},
    "adaptive_tpe": halving("adaptive_tpe", startup_trials=4, max_concurrent_trials=4),
    "adaptive_tpe two objectives": halving(
        "adaptive_tpe", metric=["a", "b"], startup_trials=4, max_concurrent_trials=4
    ),
}
EVERY = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


@EVERY
@QUICK
@given(seed=SEEDS, trouble=TROUBLE)
def test_a_search_restored_after_every_event_decides_as_one_that_never_stopped(
    play: Callable[..., Any], config: dict[str, Any], seed: int, trouble: float
) -> None:
    straight = play(config, seed=seed, trouble=trouble)

    restored = play(config, seed=seed, trouble=trouble, restores=True)

    assert [outcome for _, outcome in restored.steps] == [outcome for _, outcome in straight.steps]
    assert restored.progress == straight.progress


@EVERY
@QUICK
@given(seed=SEEDS, trouble=TROUBLE)
def test_a_search_comes_to_an_end_and_says_so_once(
    play: Callable[..., Any], config: dict[str, Any], seed: int, trouble: float
) -> None:
    record = play(config, seed=seed, trouble=trouble)

    assert [action for action in record.actions if isinstance(action, Shutdown)] == [record.shutdown]
    assert record.progress[-1] == 1.0


@EVERY
@QUICK
@given(seed=SEEDS, trouble=TROUBLE)
def test_never_more_trials_than_allowed(
    play: Callable[..., Any], config: dict[str, Any], seed: int, trouble: float
) -> None:
    record = play(config, seed=seed, trouble=trouble)

    counted = len(record.created) - record.invalid
    assert counted <= config.get("max_trials", 1 if config["name"] == "single" else 27)
    assert record.most_in_training <= (config.get("max_concurrent_trials", 16) or 20)


@EVERY
def test_without_trouble_every_trial_of_the_budget_runs(play: Callable[..., Any], config: dict[str, Any]) -> None:
    record = play(config, seed=3)

    expected = {"single": 1, "grid": 27, "pbt": 9}.get(config["name"], config.get("max_trials"))
    assert len(record.created) == expected


@EVERY
def test_the_same_seed_gives_the_same_decisions_and_another_seed_others(
    play: Callable[..., Any], config: dict[str, Any]
) -> None:
    one, two, other = play(config, seed=5), play(config, seed=5), play(config, seed=6)

    assert one.actions == two.actions
    assert one.created[0].request_id != other.created[0].request_id
    assert one.created[0].seed != other.created[0].seed


@EVERY
def test_progress_only_grows_without_trouble_and_stays_in_range(
    play: Callable[..., Any], config: dict[str, Any]
) -> None:
    record = play(config, seed=1)

    assert record.progress == sorted(record.progress)
    assert all(0.0 <= share <= 1.0 for share in record.progress)


@EVERY
def test_a_snapshot_is_plain_json_and_not_shared_with_the_searcher(
    player: Callable[..., Any], config: dict[str, Any]
) -> None:
    game = player(config, seed=2)
    game.send(SearchStarted())
    before = game.searcher.snapshot()
    text = json.dumps(before, allow_nan=False)

    for _ in range(20):
        if game.trials:
            game.step()

    assert json.dumps(before, allow_nan=False) == text


@EVERY
def test_a_second_start_is_ignored(config: dict[str, Any], space: dict[str, Any]) -> None:
    searcher = new_searcher(config, space, 1)
    first = searcher.handle(SearchStarted())

    second = searcher.handle(SearchStarted())

    assert any(isinstance(action, CreateTrial) for action in first.actions)
    assert second.actions == []


@EVERY
def test_the_order_of_keys_in_the_space_does_not_matter(config: dict[str, Any], space: dict[str, Any]) -> None:
    turned = dict(reversed(space.items()))

    one = new_searcher(config, space, 9).handle(SearchStarted())
    other = new_searcher(config, turned, 9).handle(SearchStarted())

    assert one.actions == other.actions


@EVERY
def test_every_trial_gets_the_shape_that_the_user_wrote(play: Callable[..., Any], config: dict[str, Any]) -> None:
    record = play(config, seed=11)

    for trial in record.created:
        assert trial.hparams["layer"]["bias"] is True
        assert 4 <= trial.hparams["layer"]["size"] <= 32
        assert trial.hparams["global_batch_size"] == 32
        assert 1e-5 <= trial.hparams["learning_rate"] <= 10.0
        assert ("momentum" in trial.hparams) == (trial.hparams["optimizer"] == "sgd")
