"""How a fault reads."""

from collections.abc import Callable

import pytest

from resolute.spec.experiment import ParsedExperiment
from resolute.spec.problem import dotted, nearest, shown

LEAST = "searcher: {name: single, metric: loss}\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("a",), "a"),
        (("a", "b"), "a.b"),
        (("log_policies", 0, "pattern"), "log_policies[0].pattern"),
        (("a", 1, 2), "a[1][2]"),
        ((), ""),
    ],
)
def test_a_path_reads_as_users_write_it(path: tuple[str | int, ...], text: str) -> None:
    assert dotted(path) == text


@pytest.mark.parametrize(
    ("value", "text"), [("two", '"two"'), (3, "3"), (None, "null"), (True, "true"), ({"a": [1]}, '{"a": [1]}')]
)
def test_a_value_is_shown_as_it_would_be_written(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_long_value_is_cut() -> None:
    assert len(shown("x" * 500)) == 60
    assert shown("x" * 500).endswith("...")


@pytest.mark.parametrize("key", ["secret_key", "access_key", "password", "registrytoken", "connection_string", "auth"])
def test_a_secret_is_never_shown(key: str) -> None:
    assert "hunter2" not in shown("hunter2", ("checkpoint_storage", key))


@pytest.mark.parametrize(
    ("word", "meant"),
    [("max_trails", "max_trials"), ("MAX_TRIALS", "max_trials"), ("maxtrials", "max_trials"), ("zebra", None)],
)
def test_the_nearest_word_is_offered_only_when_it_is_near(word: str, meant: str | None) -> None:
    assert nearest(word, ["max_trials", "metric", "divisor"]) == meant


def test_a_number_too_large_for_a_database_is_refused(refusals: Callable[..., list[str]]) -> None:
    problems = refusals(f"{LEAST}max_restarts: {10**20}\n")

    assert problems == [f"exp.yaml:2: max_restarts: {10**20} is out of range; it must be at most 9223372036854775807"]


@pytest.mark.parametrize(
    "path",
    [
        "searcher.name",
        "searcher.metric",
        "searcher.smaller_is_better",
        "searcher.max_length",
        "optimizations.aggregation_frequency",
        "optimizations.gradient_compression",
        "optimizations.average_aggregated_gradients",
        "optimizations.average_training_metrics",
        "min_checkpoint_period.batches",
        "min_validation_period.batches",
        "scheduling_unit",
        "checkpoint_policy",
        "perform_initial_validation",
        "profiling.enabled",
        "checkpoint_storage.type",
        "entrypoint",
        "records_per_epoch",
        "resources.slots_per_trial",
        "reproducibility.experiment_seed",
        "hyperparameters",
    ],
)
def test_keys_that_older_training_code_takes_for_granted_are_always_there(
    path: str, parse: Callable[..., ParsedExperiment]
) -> None:
    found = parse(LEAST).resolved
    *sections, key = path.split(".")
    for section in sections:
        found = found[section]

    assert key in found
