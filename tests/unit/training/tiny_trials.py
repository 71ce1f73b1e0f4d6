"""Small trials that the tests train: regression on generated data, with dropout so that random state matters."""

from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset

from resolute.pytorch import DataLoader, StepMode, Trial, TrialContext


class Points(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """y = sum(x), with noise drawn at access: data order and generators both show in the loss."""

    def __init__(self, length: int = 37, *, noise: float = 0.01) -> None:
        self._x = torch.linspace(-1, 1, length * 3).reshape(length, 3)
        self._noise = noise

    def __len__(self) -> int:
        return len(self._x)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        x = self._x[index]
        return x + self._noise * torch.randn(3), x.sum().reshape(1)


class PointsTrial(Trial):
    length = 37
    workers = 0
    width = 8

    def __init__(self, context: TrialContext) -> None:
        super().__init__(context)
        torch.manual_seed(context.run.seed)
        layers = nn.Sequential(nn.Linear(3, self.width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(self.width, 1))
        self.model = context.wrap_model(layers)
        self.optimizer = context.wrap_optimizer(torch.optim.Adam(self.model.parameters(), lr=0.01))
        decay = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)
        context.wrap_lr_scheduler(decay, StepMode.STEP_EVERY_EPOCH)

    def build_training_data_loader(self) -> Any:
        return DataLoader(Points(self.length), shuffle=True, num_workers=self.workers)

    def build_validation_data_loader(self) -> Any:
        return DataLoader(Points(11, noise=0.0), 4)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, torch.Tensor]:
        x, y = batch
        loss = nn.functional.mse_loss(self.model(x), y)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer, clip_grads=1.0)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        x, y = batch
        return {"validation_loss": nn.functional.mse_loss(self.model(x), y)}
