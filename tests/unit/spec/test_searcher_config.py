"""The `searcher` section: every kind, both dialects, what is refused and what is only advised against."""

from collections.abc import Callable
from typing import Any

import pytest

from resolute.spec.experiment import ParsedExperiment
from resolute.spec.searcher import EOL, NAMES

Parse = Callable[..., ParsedExperiment]
Refusals = Callable[..., list[str]]
SPACE = "hyperparameters:\n  lr: {type: log, minval: -5, maxval: -1, base: 10, count: 5}\n"
LEAST: dict[str, str] = {
    "single": "",
    "random": "max_trials: 4",
    "grid": "",
    "async_halving": "max_trials: 4, num_rungs: 2, max_length: {batches: 100}",
    "adaptive_asha": "max_trials: 4, max_length: {batches: 100}",
    "adaptive_tpe": "max_trials: 4, max_length: {batches: 100}",
    "tpe": "max_trials: 4",
    "pbt": "population_size: 4, num_rounds: 2, length_per_round: {epochs: 1}",
    "custom": "",
}
COMMON = {
    "metric": "loss",
    "smaller_is_better": True,
    "max_length": None,
    "time_metric": None,
    "max_time": None,
    "source_trial_id": None,
    "source_checkpoint_uuid": None,
    "source_experiment_ids": [],
    "goal": None,
    "max_failed_trials": None,
}


def searcher(name: str, more: str = "", metric: str = "loss") -> str:
    return f"searcher: {{name: {name}, metric: {metric}, {more}}}\n{SPACE}"


def resolved(parse: Parse, text: str) -> dict[str, Any]:
    section: dict[str, Any] = parse(text).resolved["searcher"]
    return section


@pytest.mark.parametrize("name", NAMES)
def test_every_searcher_has_every_common_key_when_resolved(name: str, parse: Parse) -> None:
    section = resolved(parse, searcher(name, LEAST[name]))

    assert section["name"] == name
    assert set(COMMON) < set(section)


@pytest.mark.parametrize(
    ("name", "defaults"),
    [
        ("single", {}),
        ("random", {"max_trials": 4, "max_concurrent_trials": 16}),
        ("grid", {"max_concurrent_trials": 16}),
        (
            "async_halving",
            {
                "max_length": {"batches": 100},
                "max_trials": 4,
                "num_rungs": 2,
                "divisor": 4,
                "max_concurrent_trials": 16,
                "stop_once": False,
                "patience": None,
            },
        ),
        (
            "adaptive_asha",
            {
                "max_length": {"batches": 100},
                "max_trials": 4,
                "divisor": 4,
                "max_concurrent_trials": 16,
                "stop_once": False,
                "patience": None,
                "mode": "standard",
                "max_rungs": 5,
                "bracket_rungs": [],
            },
        ),
        (
            "pbt",
            {
                "population_size": 4,
                "num_rounds": 2,
                "length_per_round": {"epochs": 1},
                "replace_function": {"truncate_fraction": 0.2},
                "explore_function": {"resample_probability": 0.2, "perturb_factor": 0.2},
            },
        ),
        ("tpe", {"max_trials": 4, "max_concurrent_trials": 16, "startup_trials": 10}),
        (
            "custom",
            {"entrypoint": None, "config": {}, "unit": None, "max_trials": None, "max_concurrent_trials": 16},
        ),
    ],
)
def test_defaults_are_exact(name: str, defaults: dict[str, Any], parse: Parse) -> None:
    assert resolved(parse, searcher(name, LEAST[name])) == {"name": name, **COMMON, **defaults}


def test_the_older_dialect_promotes_unless_told_otherwise(parse: Parse) -> None:
    least = LEAST["adaptive_asha"]

    assert resolved(parse, searcher("adaptive_asha", least))["stop_once"] is False
    assert resolved(parse, searcher("adaptive_asha", f"{least}, stop_once: true"))["stop_once"] is True


@pytest.mark.parametrize("stop_once", ["", ", stop_once: false"])
def test_the_newer_dialect_always_stops(stop_once: str, parse: Parse) -> None:
    section = resolved(parse, searcher("adaptive_asha", f"max_trials: 9, time_metric: epochs, max_time: 20{stop_once}"))

    assert section["time_metric"] == "epochs"
    assert section["max_time"] == 20
    assert section["stop_once"] is True


def test_a_bare_max_length_is_kept_because_only_the_code_knows_its_unit(parse: Parse) -> None:
    assert resolved(parse, searcher("single", "max_length: 500"))["max_length"] == 500


def test_several_metrics_have_a_direction_each(parse: Parse) -> None:
    section = resolved(parse, searcher("random", "max_trials: 3", metric="[loss, latency]"))

    assert section["metric"] == ["loss", "latency"]
    assert section["smaller_is_better"] == [True, True]


def test_directions_of_several_metrics_can_differ(parse: Parse) -> None:
    text = searcher("random", "max_trials: 3, smaller_is_better: [true, false]", metric="[loss, accuracy]")
    parsed = parse(text)

    assert parsed.config.searcher.metrics == {"loss": True, "accuracy": False}
    assert parsed.warnings == ()


def test_a_list_of_one_metric_is_that_metric(parse: Parse) -> None:
    section = resolved(parse, searcher("single", "goal: [0.1], smaller_is_better: [true]", metric="[loss]"))

    assert (section["metric"], section["smaller_is_better"], section["goal"]) == ("loss", True, 0.1)


@pytest.mark.parametrize(
    ("written", "kept"), [("2", 2), ("{epochs: 10}", {"epochs": 10}), ("{rungs: 1}", {"rungs": 1})]
)
def test_patience_is_a_number_of_rungs_or_a_length(written: str, kept: object, parse: Parse) -> None:
    section = resolved(parse, searcher("adaptive_asha", f"{LEAST['adaptive_asha']}, patience: {written}"))

    assert section["patience"] == kept


@pytest.mark.parametrize("name", EOL)
def test_a_searcher_that_is_no_more_names_its_successor(name: str, refusals: Refusals) -> None:
    problems = refusals(searcher(name))

    assert problems == [f'exp.yaml:1: searcher.name: "{name}" is no longer supported; use {EOL[name]}']


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (searcher("adaptive_asah"), 'searcher.name: "adaptive_asah" is not known; did you mean adaptive_asha?'),
        (searcher("bogus"), f'searcher.name: "bogus" is not known; use one of {", ".join(NAMES)}'),
        (SPACE, "searcher: is missing; add it"),
        ("searcher: {metric: loss}\n", f"searcher: has no name; add one of {', '.join(NAMES)}"),
        ("searcher: [single]\n", 'searcher: ["single"] is not a map of keys to values'),
        ("searcher: {name: single}\n", "searcher.metric: is missing; add it"),
        (searcher("random"), "searcher.max_trials: is missing; add it"),
        (searcher("random", "max_trials: 0"), "searcher.max_trials: 0 is out of range; it must be at least 1"),
        (searcher("random", "max_trials: six"), 'searcher.max_trials: "six" is not a whole number'),
        (
            searcher("random", "max_trails: 3, max_trials: 3"),
            "searcher.max_trails: unknown key; did you mean max_trials?",
        ),
        (
            searcher("adaptive_asha", f"{LEAST['adaptive_asha']}, divisor: 1"),
            "searcher.divisor: divisor 1 must be greater than 1; 4 keeps the best quarter at each rung",
        ),
        (
            searcher("adaptive_asha", f"{LEAST['adaptive_asha']}, mode: agressive"),
            'searcher.mode: "agressive" is not known; did you mean aggressive?',
        ),
        (
            searcher("adaptive_asha", "max_trials: 3"),
            "searcher.max_length: needs a budget: max_length (for example {batches: 5000}),"
            " or time_metric and max_time",
        ),
        (
            searcher("adaptive_asha", "max_trials: 3, max_time: 5"),
            "searcher.max_time: max_time needs time_metric beside it; add time_metric, or use max_length",
        ),
        (
            searcher("single", "max_length: {batches: 5, epochs: 1}"),
            "searcher.max_length.epochs: a length has one unit, not 2; keep one of batches, epochs",
        ),
        (
            searcher("single", "max_length: {batches: 0}"),
            "searcher.max_length.batches: a length of 0 trains nothing; give at least 1",
        ),
        (
            searcher("single", "max_length: long"),
            'searcher.max_length: "long" is not a length; write for example {batches: 100}',
        ),
        (
            searcher("single", "max_length: {batch: 3}"),
            "searcher.max_length.batch: unknown key; did you mean batches?",
        ),
        (
            searcher("single", "source_trial_id: 3, source_checkpoint_uuid: abc"),
            "searcher.source_checkpoint_uuid: source_trial_id and source_checkpoint_uuid both name a start; keep one",
        ),
        (
            searcher("single", "smaller_is_better: [true, false]"),
            "searcher.smaller_is_better: smaller_is_better must be one value, as there is one metric",
        ),
        (
            searcher("single", "goal: 3", metric="[a, b]"),
            "searcher.goal: goal must be a list of 2, one for each metric",
        ),
        (searcher("single", metric="[a, a]"), "searcher.metric: metric needs one name, or several that differ"),
        (searcher("single", metric="3"), "searcher.metric: 3 is not text; put it in quotes if it is meant as text"),
        (
            searcher("pbt", f"{LEAST['pbt']}, replace_function: {{truncate_fraction: 0.7}}"),
            "searcher.replace_function.truncate_fraction: truncate_fraction 0.7 replaces more trials than there are"
            " to copy; use at most 0.5",
        ),
        (
            searcher("custom", "entrypoint: not a class"),
            'searcher.entrypoint: "not a class" does not have the form ^[A-Za-z_][\\w.]*:[A-Za-z_]\\w*$',
        ),
    ],
)
def test_what_cannot_work_is_refused_with_key_value_and_remedy(text: str, problem: str, refusals: Refusals) -> None:
    assert f"exp.yaml:1: {problem}" in refusals(text)


@pytest.mark.parametrize("name", ["random", "async_halving", "adaptive_asha"])
def test_a_search_over_constants_runs_with_a_note(name: str, parse: Parse) -> None:
    parsed = parse(f"searcher: {{name: {name}, metric: loss, {LEAST[name]}}}\nhyperparameters: {{lr: 0.1}}\n")

    assert parsed.warnings == (
        f"exp.yaml:1: searcher.name: is {name}, but every hyperparameter is constant: trials differ by seed alone",
    )


@pytest.mark.parametrize("name", ["adaptive_tpe", "tpe", "pbt"])
def test_a_search_without_a_free_parameter_is_refused(name: str, refusals: Refusals) -> None:
    problems = refusals(f"searcher: {{name: {name}, metric: loss, {LEAST[name]}}}\nhyperparameters: {{lr: 0.1}}\n")

    assert problems == [
        "exp.yaml:1: searcher.name: searches, but every hyperparameter is constant; give one a range,"
        " or use the single searcher"
    ]


@pytest.mark.parametrize("kind", ["int", "double"])
def test_a_grid_needs_a_count_on_every_range(kind: str, refusals: Refusals) -> None:
    problems = refusals(
        "searcher: {name: grid, metric: loss}\n"
        "hyperparameters:\n"
        f"  a: {{type: {kind}, minval: 1, maxval: 8}}\n"
        f"  b:\n    c: {{type: {kind}, minval: 1, maxval: 8}}\n"
    )

    assert problems == [
        "exp.yaml:3: hyperparameters.a.count: is missing; a grid needs to know how many points to try",
        "exp.yaml:5: hyperparameters.b.c.count: is missing; a grid needs to know how many points to try",
    ]


@pytest.mark.parametrize(
    ("metric", "smaller", "warned"),
    [
        ("mAP", True, True),
        ("mAP", False, False),
        ("val_mAP50", True, True),
        ("val_categorical_accuracy", True, True),
        ("val_acc", True, True),
        ("f1", True, True),
        ("macro-F1", True, True),
        ("AUC", True, True),
        ("mean_iou", True, True),
        ("bleu4", True, True),
        ("valAccuracy", True, True),
        ("top1", True, True),
        ("val_loss", False, True),
        ("validation_error", False, True),
        ("perplexity", False, True),
        ("RMSE", False, True),
        ("val_loss", True, False),
        ("something", True, False),
        ("something", False, False),
        ("mapping_time", True, False),
        ("accuracy_error", True, False),
        ("accuracy_error", False, False),
    ],
)
def test_a_direction_that_contradicts_the_metrics_name_is_warned_about(
    metric: str, smaller: bool, warned: bool, parse: Parse
) -> None:
    parsed = parse(f"searcher:\n  name: single\n  metric: {metric}\n  smaller_is_better: {str(smaller).lower()}\n")

    assert any(f"but {metric} is usually better" in warning for warning in parsed.warnings) is warned
    assert all(warning.startswith("exp.yaml:4: searcher.smaller_is_better") for warning in parsed.warnings)


def test_a_space_smaller_than_the_search_is_warned_about(parse: Parse) -> None:
    parsed = parse(
        "searcher: {name: random, metric: loss, max_trials: 9}\n"
        "hyperparameters: {a: {type: int, minval: 1, maxval: 3}, b: {type: categorical, vals: [x, y]}}\n"
    )

    assert parsed.warnings == (
        "exp.yaml:1: searcher.max_trials: asks for 9 trials, but the hyperparameters have only 6 different settings;"
        " some will be tried more than once",
    )


def test_a_grid_beyond_reason_is_warned_about(parse: Parse) -> None:
    axis = "{type: double, minval: 0, maxval: 1, count: 101}"
    parsed = parse(f"searcher: {{name: grid, metric: loss}}\nhyperparameters: {{a: {axis}, b: {axis}}}\n")

    assert "10,201 trials" in parsed.warnings[0]


def test_a_range_under_a_single_searcher_is_warned_about(parse: Parse) -> None:
    assert "drawn once, at random" in parse(searcher("single")).warnings[0]


def test_a_custom_search_says_that_nothing_starts_by_itself(parse: Parse) -> None:
    assert "nothing starts before a program decides" in parse(searcher("custom")).warnings[0]
