"""A moving average of a model's weights, which is measured and saved in the place of the weights themselves."""

from typing import Any

import torch
from torch import nn

from resolute.domain.errors import InvalidInput

_RAMP = 10


class WeightAverage:
    """Follows `model`. Early on it follows faster, so that the random start is soon forgotten."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        if not 0 < decay < 1:
            raise InvalidInput(f"ema is {decay}; it lies between 0 and 1, such as 0.999. Leave it out for no average.")
        self._model = model
        self._decay = decay
        self._updates = 0
        self._average = {name: value.detach().clone() for name, value in model.state_dict().items()}
        self._own: dict[str, torch.Tensor] | None = None

    @torch.no_grad()
    def update(self) -> None:
        self._updates += 1
        decay = min(self._decay, (1 + self._updates) / (_RAMP + self._updates))
        averages, values = [], []
        for name, value in self._model.state_dict().items():
            if value.dtype.is_floating_point:
                averages.append(self._average[name])
                values.append(value)
            else:
                self._average[name].copy_(value)
        torch._foreach_lerp_(averages, values, 1 - decay)

    def weights(self) -> dict[str, torch.Tensor]:
        return self._average

    def put_on(self) -> None:
        """The model has the averaged weights until `take_off`."""
        self._own = {name: value.detach().clone() for name, value in self._model.state_dict().items()}
        self._model.load_state_dict(self._average)

    def take_off(self) -> None:
        if self._own is not None:
            self._model.load_state_dict(self._own)
            self._own = None

    def state_dict(self) -> dict[str, Any]:
        return {"updates": self._updates, "average": self._average}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._updates = int(state["updates"])
        for name, value in state["average"].items():
            self._average[name].copy_(value)
