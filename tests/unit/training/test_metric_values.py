"""Which metric values may be reported, and how they travel."""

import math

import numpy as np
import pytest
import torch

from resolute.domain.errors import InvalidInput
from resolute.training.metrics import check_group, check_metrics, check_steps, wire_metrics


@pytest.mark.parametrize(
    "value", [1, 1.5, True, "text", np.float32(1.5), np.int64(2), torch.tensor(1.5), torch.ones(1)]
)
def test_numbers_strings_and_one_element_tensors_are_metrics(value: object) -> None:
    checked = check_metrics("training", {"x": value})

    assert type(checked["x"]) in (int, float, bool, str)


def test_nested_metrics_keep_their_shape() -> None:
    assert check_metrics("cpu", {"node": {"load": np.float64(0.5)}}) == {"node": {"load": 0.5}}


@pytest.mark.parametrize("value", [[1, 2], None, object(), b"raw", {1, 2}])
def test_other_types_are_refused_by_name_and_type(value: object) -> None:
    with pytest.raises(InvalidInput, match=rf"'loss' of group 'training' is a {type(value).__name__}"):
        check_metrics("training", {"loss": value})


def test_a_tensor_of_many_elements_is_refused_with_its_shape() -> None:
    with pytest.raises(InvalidInput, match=r"has shape \(2, 3\).*mean"):
        check_metrics("training", {"loss": torch.zeros(2, 3)})


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_metric_needs_a_name(name: object) -> None:
    with pytest.raises(InvalidInput, match="non-empty strings"):
        check_metrics("training", {name: 1.0})  # type: ignore[dict-item]


@pytest.mark.parametrize("group", ["", "a.b", None])
def test_a_group_is_a_word_without_dots(group: str) -> None:
    with pytest.raises(InvalidInput, match="without dots"):
        check_group(group)


@pytest.mark.parametrize("steps", [-1, 1.5, "3", True])
def test_steps_are_whole_numbers_from_zero(steps: int) -> None:
    with pytest.raises(InvalidInput, match="whole number from 0"):
        check_steps(steps)


def test_what_json_cannot_say_travels_as_the_protocols_strings() -> None:
    wired = wire_metrics({"a": math.nan, "b": math.inf, "c": {"d": -math.inf}, "e": 1})

    assert wired == {"a": "NaN", "b": "Infinity", "c": {"d": "-Infinity"}, "e": 1}


def test_later_changes_of_the_callers_mapping_do_not_reach_the_report() -> None:
    metrics = {"loss": 1.0}

    checked = check_metrics("training", metrics)
    metrics["loss"] = 2.0

    assert checked == {"loss": 1.0}
