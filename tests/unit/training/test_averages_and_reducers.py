"""Means of training metrics and reducers of validation metrics: right over batches, ranks and restarts."""

from typing import Any

import pytest
import torch

from resolute.domain.errors import InvalidInput
from resolute.training.pytorch.averages import Averages, combine
from resolute.training.pytorch.reducers import FunctionReducer, NamedReducer


def test_outputs_of_all_forms_are_averaged() -> None:
    averages = Averages()

    averages.add({"loss": torch.tensor(1.0), "accuracy": 0.5})
    averages.add({"loss": torch.tensor(3.0), "accuracy": 1})

    assert averages.means() == {"loss": 2.0, "accuracy": 0.75}


def test_a_bare_loss_is_called_loss() -> None:
    averages = Averages()
    averages.add(torch.tensor(2.0))

    assert averages.means() == {"loss": 2.0}


def test_the_graph_of_a_loss_is_let_go_at_once() -> None:
    averages = Averages()
    weight = torch.ones(1, requires_grad=True)

    averages.add({"loss": (weight * 2).sum()})

    assert not averages._pending[0]["loss"].requires_grad


def test_a_metric_that_only_some_batches_have_is_averaged_over_those() -> None:
    averages = Averages()
    averages.add({"loss": 1.0})
    averages.add({"loss": 2.0, "extra": 5.0})

    assert averages.means() == {"loss": 1.5, "extra": 5.0}


def test_sums_survive_a_checkpoint() -> None:
    first, second = Averages(), Averages()
    first.add({"loss": 0.1})
    first.add({"loss": 0.2})

    second.load_state_dict(first.state_dict())
    for averages in (first, second):
        averages.add({"loss": 0.3})

    assert first.means() == second.means()


def test_ranks_are_joined_by_their_counts() -> None:
    assert combine([{"loss": (2.0, 2)}, {"loss": (4.0, 1), "other": (1.0, 1)}]) == {"loss": 2.0, "other": 1.0}


@pytest.mark.parametrize(
    ("value", "sentence"), [(torch.zeros(2), r"of shape \(2,\)"), ([1], "as a list"), ("x", "as a str")]
)
def test_what_is_no_number_is_named(value: Any, sentence: str) -> None:
    averages = Averages()
    averages.add({"loss": value})

    with pytest.raises(InvalidInput, match=sentence):
        averages.means()


def test_a_function_reducer_sees_the_values_of_all_slots() -> None:
    reducer = FunctionReducer(max)
    reducer.update(3)

    assert reducer.cross_slot_reduce([[1, 2], reducer.per_slot_reduce()]) == 3


def test_a_reducer_without_a_name_brings_its_own_names() -> None:
    reducer = FunctionReducer(lambda values: {"low": min(values), "high": max(values)})
    reducer.update(1)
    reducer.update(2)
    named = NamedReducer(reducer, None, for_training=True, for_validation=True)

    assert named.reduce(lambda value: [value]) == {"low": 1, "high": 2}


def test_a_reset_reducer_starts_empty() -> None:
    reducer = FunctionReducer(len)
    reducer.update(1)

    reducer.reset()

    assert reducer.per_slot_reduce() == []
