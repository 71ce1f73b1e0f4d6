"""Templates and overrides: who wins, what grows, what is replaced whole."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.spec.experiment import ParsedExperiment
from resolute.spec.merge import apply_overrides, merge_configs, read_overrides

Parse = Callable[..., ParsedExperiment]
Refusals = Callable[..., list[str]]
LEAST = "searcher: {name: single, metric: loss}\n"


def overridden(config: dict[str, Any], *texts: str) -> dict[str, Any]:
    overrides, problems = read_overrides(texts)
    assert problems == []
    return apply_overrides(config, overrides)


@pytest.mark.parametrize(
    ("config", "template", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 1}),
        ({"a": None}, {"a": 2}, {"a": 2}),
        ({"r": {"x": 1}}, {"r": {"x": 2, "y": 3}}, {"r": {"x": 1, "y": 3}}),
        ({"a": [1]}, {"a": [2]}, {"a": [1]}),
        ({"a": {"b": 1}}, {"a": 3}, {"a": {"b": 1}}),
        ({"labels": ["a"]}, {"labels": ["b", "a"]}, {"labels": ["a", "b"]}),
        (
            {"bind_mounts": [{"container_path": "/d", "host_path": "/mine"}]},
            {"bind_mounts": [{"container_path": "/d", "host_path": "/theirs"}, {"container_path": "/e"}]},
            {"bind_mounts": [{"container_path": "/d", "host_path": "/mine"}, {"container_path": "/e"}]},
        ),
        (
            {"log_policies": [{"pattern": "a"}]},
            {"log_policies": [{"pattern": "b"}]},
            {"log_policies": [{"pattern": "a"}, {"pattern": "b"}]},
        ),
        (
            {"environment": {"environment_variables": ["A=1"]}},
            {"environment": {"environment_variables": {"cpu": ["A=2", "B=3"]}}},
            {"environment": {"environment_variables": {"cpu": ["A=1", "B=3"], "cuda": ["A=1"], "rocm": ["A=1"]}}},
        ),
        (
            {"hyperparameters": {"lr": {"type": "int", "minval": 1, "maxval": 2}}},
            {"hyperparameters": {"lr": {"type": "double", "minval": 0, "count": 5}, "m": 3}},
            {"hyperparameters": {"lr": {"type": "int", "minval": 1, "maxval": 2}, "m": 3}},
        ),
        (
            {"hyperparameters": {"lr": None, "net": {"a": 1}}},
            {"hyperparameters": {"lr": 5, "net": {"a": 2, "b": 3}}},
            {"hyperparameters": {"lr": None, "net": {"a": 1, "b": 3}}},
        ),
        (
            {"searcher": {"name": "random", "max_trials": 3}},
            {"searcher": {"name": "random", "max_trials": 9, "metric": "x"}},
            {"searcher": {"name": "random", "max_trials": 3, "metric": "x"}},
        ),
        (
            {"searcher": {"max_length": {"epochs": 2}}},
            {"searcher": {"max_length": {"batches": 100}}, "min_validation_period": {"batches": 5}},
            {"searcher": {"max_length": {"epochs": 2}}, "min_validation_period": {"batches": 5}},
        ),
        (
            {"searcher": {"name": "single"}},
            {"searcher": {"name": "adaptive_asha", "mode": "standard", "metric": "x", "smaller_is_better": False}},
            {"searcher": {"name": "single", "metric": "x", "smaller_is_better": False}},
        ),
        (
            {"checkpoint_storage": {"type": "gcs", "bucket": "b"}},
            {"checkpoint_storage": {"type": "s3", "bucket": "c", "secret_key": "s", "save_trial_best": 4}},
            {"checkpoint_storage": {"type": "gcs", "bucket": "b", "save_trial_best": 4}},
        ),
    ],
)
def test_a_config_is_laid_over_its_template(
    config: dict[str, Any], template: dict[str, Any], merged: dict[str, Any]
) -> None:
    before = copy.deepcopy((config, template))

    assert merge_configs(config, template) == merged
    assert (config, template) == before


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "name", "a", "labels"]), inner, max_size=3)
    ),
    max_leaves=8,
)
_CONFIGS = st.dictionaries(
    st.sampled_from(["searcher", "hyperparameters", "labels", "bind_mounts", "environment", "a"]), _VALUES, max_size=4
)


@given(_CONFIGS)
def test_an_empty_template_changes_nothing(config: dict[str, Any]) -> None:
    assert merge_configs(config, {}) == config


@given(_CONFIGS, _CONFIGS)
def test_merging_the_same_template_again_changes_nothing(config: dict[str, Any], template: dict[str, Any]) -> None:
    once = merge_configs(config, template)

    assert merge_configs(once, template) == once


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=3", 3),
        ("a=0.5", 0.5),
        ("a=1e-3", 1e-3),
        ("a=true", True),
        ("a=null", None),
        ("a=", None),
        ("a=word", "word"),
        ("a='3'", "3"),
        ("a=x=y", "x=y"),
        ("a=1,2", [1, 2]),
        ("a=[1, 2]", [1, 2]),
        ("a={b: 1}", {"b": 1}),
        ("a=python3 train.py --sizes 1,2", "python3 train.py --sizes 1,2"),
    ],
)
def test_an_override_has_the_type_that_yaml_gives_it(text: str, value: object) -> None:
    assert overridden({}, text) == {"a": value}


def test_an_override_reaches_into_maps_and_makes_those_that_are_missing() -> None:
    config = {"searcher": {"name": "single"}, "slurm": None}

    changed = overridden(config, "searcher.max_length.batches=5", "slurm.slots_per_node=2", "a.b.c=1")

    assert changed == {
        "searcher": {"name": "single", "max_length": {"batches": 5}},
        "slurm": {"slots_per_node": 2},
        "a": {"b": {"c": 1}},
    }
    assert config == {"searcher": {"name": "single"}, "slurm": None}


def test_later_overrides_win() -> None:
    assert overridden({"a": 0}, "a=1", "a=2") == {"a": 2}


def test_a_map_is_merged_into_the_map_that_is_there() -> None:
    assert overridden({"r": {"x": 1, "y": 2}}, "r={y: 3}") == {"r": {"x": 1, "y": 3}}


def test_a_typed_parameter_replaces_the_one_that_is_there() -> None:
    config = {"hyperparameters": {"lr": {"type": "int", "minval": 1, "maxval": 2}}}

    changed = overridden(config, "hyperparameters.lr={type: const, val: 3}")

    assert changed["hyperparameters"]["lr"] == {"type": "const", "val": 3}


def test_a_searcher_of_another_kind_takes_over_only_what_every_kind_has() -> None:
    config = {"searcher": {"name": "adaptive_asha", "metric": "acc", "smaller_is_better": False, "max_rungs": 5}}

    changed = overridden(config, "searcher={name: random, max_trials: 9}")

    assert changed["searcher"] == {"name": "random", "metric": "acc", "smaller_is_better": False, "max_trials": 9}


def test_a_checkpoint_storage_of_another_kind_takes_over_only_what_every_kind_has() -> None:
    config = {"checkpoint_storage": {"type": "s3", "bucket": "b", "save_trial_best": 2}}

    same = overridden(config, "checkpoint_storage={type: s3, save_trial_best: 3}")
    other = overridden(config, "checkpoint_storage={type: shared_fs, host_path: /data}")

    assert same["checkpoint_storage"] == {"type": "s3", "bucket": "b", "save_trial_best": 3}
    assert other["checkpoint_storage"] == {"type": "shared_fs", "host_path": "/data", "save_trial_best": 2}


@pytest.mark.parametrize(
    "text", ["searcher.max_length.epochs=2", "searcher.max_length={epochs: 2}", "searcher={max_length: {epochs: 2}}"]
)
def test_a_length_replaces_one_in_another_unit(text: str) -> None:
    changed = overridden({"searcher": {"name": "single", "max_length": {"batches": 9}}}, text)

    assert changed == {"searcher": {"name": "single", "max_length": {"epochs": 2}}}


def test_a_hyperparameter_group_that_is_called_like_a_length_is_merged() -> None:
    changed = overridden({"hyperparameters": {"max_length": {"a": 1}}}, "hyperparameters.max_length.b=2")

    assert changed == {"hyperparameters": {"max_length": {"a": 1, "b": 2}}}


def test_one_mount_may_be_given_without_a_list() -> None:
    assert overridden({}, "bind_mounts={host_path: /a, container_path: /b}") == {
        "bind_mounts": [{"host_path": "/a", "container_path": "/b"}]
    }


def test_overrides_win_over_the_file_and_the_file_over_the_template(parse: Parse) -> None:
    resolved = parse(
        f"{LEAST}max_restarts: 2\nscheduling_unit: 20\n",
        template={"max_restarts": 3, "scheduling_unit": 30, "records_per_epoch": 40},
        overrides=["max_restarts=1"],
    ).resolved

    assert (resolved["max_restarts"], resolved["scheduling_unit"], resolved["records_per_epoch"]) == (1, 20, 40)


def test_a_template_may_bring_what_the_file_lacks(parse: Parse) -> None:
    parsed = parse("name: mine\n", template={"searcher": {"name": "single", "metric": "loss"}})

    assert parsed.config.searcher.name == "single"


def test_an_empty_file_may_be_all_template(parse: Parse) -> None:
    assert parse("", template={"searcher": {"name": "single", "metric": "loss"}}).config.name == "quiet-otter"


@pytest.mark.parametrize("text", ["max_restarts", "=3", "a..b=3", ".a=3"])
def test_an_override_that_is_no_assignment_is_refused(text: str, refusals: Refusals) -> None:
    problems = refusals(LEAST, overrides=[text])

    assert problems == [f"--config {text}: is not key=value; write for example searcher.max_trials=16"]


def test_a_fault_in_an_override_names_the_override(refusals: Refusals) -> None:
    problems = refusals(f"{LEAST}max_restarts: 2\n", overrides=["max_restarts=many"])

    assert problems == ['--config max_restarts=many: max_restarts: "many" is not a whole number']


def test_an_override_that_is_not_yaml_is_refused(refusals: Refusals) -> None:
    problems = refusals(LEAST, overrides=["a=[1"])

    assert problems[0].startswith("--config a=[1: is not YAML")


def test_a_fault_in_a_template_names_the_template(refusals: Refusals) -> None:
    problems = refusals(LEAST, template={"resources": {"priority": 100}})

    assert problems == ["template: resources.priority: 100 is out of range; it must be at most 99"]


def test_a_missing_key_is_looked_for_where_its_section_is(refusals: Refusals) -> None:
    problems = refusals("name: a\nsearcher:\n  name: single\n", template={"labels": ["x"]})

    assert problems == ["exp.yaml:2: searcher.metric: is missing; add it"]
