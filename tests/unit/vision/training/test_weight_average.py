"""The average follows the weights, is what is measured and saved, and survives a checkpoint."""

import pytest
import torch
from torch import nn

from resolute.domain.errors import InvalidInput
from resolute.vision.ema import WeightAverage


def layer(value: float) -> nn.BatchNorm1d:
    made = nn.BatchNorm1d(2)
    nn.init.constant_(made.weight, value)
    return made


def test_the_average_moves_towards_the_weights_quickly_at_first() -> None:
    model = layer(0.0)
    average = WeightAverage(model, 0.9)
    nn.init.constant_(model.weight, 1.0)

    average.update()

    assert average.weights()["weight"].tolist() == pytest.approx([1 - 2 / 11] * 2)


def test_late_updates_use_the_decay_that_was_asked_for() -> None:
    model = layer(0.0)
    average = WeightAverage(model, 0.5)
    for _ in range(50):
        average.update()
    nn.init.constant_(model.weight, 1.0)

    average.update()

    assert average.weights()["weight"].tolist() == pytest.approx([0.5, 0.5])


def test_counters_are_copied_not_averaged() -> None:
    model = layer(0.0)
    average = WeightAverage(model, 0.9)
    model(torch.randn(4, 2))

    average.update()

    assert int(average.weights()["num_batches_tracked"]) == 1


def test_the_model_gets_its_own_weights_back() -> None:
    model = layer(0.0)
    average = WeightAverage(model, 0.9)
    nn.init.constant_(model.weight, 1.0)

    average.put_on()
    inside = model.weight.tolist()
    average.take_off()

    assert inside == [0.0, 0.0]
    assert model.weight.tolist() == [1.0, 1.0]


def test_a_restored_average_goes_on_as_if_it_had_not_stopped() -> None:
    model = layer(1.0)
    whole = WeightAverage(layer(0.0), 0.9)
    whole._model = model
    whole.update()
    restored = WeightAverage(model, 0.9)
    restored.load_state_dict({"updates": 1, "average": {k: v.clone() for k, v in whole.weights().items()}})

    whole.update()
    restored.update()

    assert torch.equal(whole.weights()["weight"], restored.weights()["weight"])


@pytest.mark.parametrize("decay", [0.0, 1.0, -2.0])
def test_a_decay_outside_of_zero_and_one_is_refused(decay: float) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        WeightAverage(layer(0.0), decay)
