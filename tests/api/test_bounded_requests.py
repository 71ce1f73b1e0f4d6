"""One request costs one request: what would take long is refused before it starts, with the value and the limit."""

from typing import Any

import pytest

HEAD = "name: big\nentrypoint: python3 train.py\n"
GRID = HEAD + (
    "searcher: {name: grid, metric: l}\n"
    "hyperparameters: {a: {type: int, minval: 0, maxval: 1000000000, count: 1000000000}}\n"
)
PRODUCT = HEAD + (
    "searcher: {name: grid, metric: l}\nhyperparameters:\n"
    + "".join(f"  p{n}: {{type: double, minval: 0, maxval: 1, count: 1000}}\n" for n in range(10))
)


def refused(api: Any, config: str) -> str:
    said: str = api.refusal("POST", "/api/v1/experiments", {"config": config, "activate": True}, expect=400)
    return said


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (GRID, "hyperparameters: make a grid of 1,000,000,000 points; at most 100,000 are possible"),
        (PRODUCT, "at most 100,000 are possible"),
        (HEAD + "searcher: {name: random, metric: l, max_trials: 1000000000}", "at most 100000"),
        (
            HEAD + "searcher: {name: single, metric: l}\nresources: {slots_per_trial: 1000000000000000000}",
            "at most 1000000",
        ),
        (HEAD + "searcher: {name: single, metric: l}\nlabels: [" + "a, " * 1001 + "a]", "labels"),
        (
            HEAD + "searcher: {name: single, metric: l}\nlabels:\n" + "- a\n" * 100_000,
            "more than 50,000 keys and values",
        ),
        ('name: "a\\0b"\nentrypoint: "true"\nsearcher: {name: single, metric: l}', "NUL byte"),
        ('name: a\nentrypoint: "true\\0x"\nsearcher: {name: single, metric: l}', "NUL byte"),
    ],
    ids=["grid", "product", "trials", "slots", "labels", "nodes", "nul-name", "nul-entrypoint"],
)
def test_a_configuration_beyond_its_bounds_is_refused_at_once(api: Any, config: str, sentence: str) -> None:
    assert sentence in refused(api, config)


def test_a_preview_of_too_many_trials_is_refused_before_it_starts(api: Any) -> None:
    space = {"lr": {"type": "double", "minval": 0.1, "maxval": 1.0}}
    config = {
        "entrypoint": "true",
        "searcher": {"name": "random", "metric": "l", "max_trials": 50_000},
        "hyperparameters": space,
    }

    said = api.refusal("POST", "/api/v1/preview-hp-search", {"config": config, "seed": 1}, expect=400)

    assert "searcher.max_trials: a preview of 50,000 trials is not made; at most 10,000 are" in said
