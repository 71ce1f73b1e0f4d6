"""A PyTorchTrial as written for Determined's harness: digits-like pictures, a small network."""

from typing import Any

import torch
from determined import pytorch
from torch import nn
from torch.utils.data import TensorDataset


def pictures(count: int, seed: int) -> TensorDataset:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 4, (count,), generator=generator)
    images = 0.1 * torch.randn(count, 1, 8, 8, generator=generator)
    for image, label in zip(images[:, 0], labels, strict=True):
        row, column = divmod(int(label), 2)
        image[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 1.0
    return TensorDataset(images, labels)


class QuarterTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        self.model = context.wrap_model(nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 4)))
        optimizer = torch.optim.Adam(self.model.parameters(), lr=context.get_hparam("lr"))
        self.optimizer = context.wrap_optimizer(optimizer)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(pictures(256, 1), batch_size=self.context.get_per_slot_batch_size(), shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(pictures(64, 2), batch_size=self.context.get_per_slot_batch_size())

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
        images, labels = batch
        loss = nn.functional.cross_entropy(self.model(images), labels)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any) -> Any:
        images, labels = batch
        output = self.model(images)
        return {"accuracy": (output.argmax(dim=1) == labels).float().mean().item()}
