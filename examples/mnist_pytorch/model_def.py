"""Digits as a trial class: `entrypoint: model_def:DigitsTrial`."""

from typing import Any

import torch
from digits import draw_digits
from torch import nn

from resolute.pytorch import DataLoader, Trial, TrialContext


def build_network(filters: int, dropout: float) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, filters, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(filters, 2 * filters, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(dropout),
        nn.Linear(2 * filters * 49, 10),
    )


class DigitsTrial(Trial):
    def __init__(self, context: TrialContext) -> None:
        super().__init__(context)
        get = context.get_hparam
        self.model = context.wrap_model(build_network(get("filters"), get("dropout")))
        self.optimizer = context.wrap_optimizer(torch.optim.Adam(self.model.parameters(), lr=get("learning_rate")))

    def build_training_data_loader(self) -> Any:
        return DataLoader(draw_digits(2048, seed=1), self.context.get_per_slot_batch_size(), shuffle=True)

    def build_validation_data_loader(self) -> Any:
        return DataLoader(draw_digits(512, seed=2), 128)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, torch.Tensor]:
        pictures, labels = batch
        loss = nn.functional.cross_entropy(self.model(pictures), labels)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        pictures, labels = batch
        output = self.model(pictures)
        return {
            "validation_loss": nn.functional.cross_entropy(output, labels),
            "accuracy": (output.argmax(dim=1) == labels).float().mean(),
        }
