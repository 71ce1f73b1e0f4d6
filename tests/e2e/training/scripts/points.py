"""Trains a small regression with the Trainer; PLAN (JSON in the environment) says how."""

import json
import os
import signal
import sys
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset

from resolute.pytorch import Batch, DataLoader, Trainer, Trial, TrialContext, init

PLAN: dict[str, Any] = json.loads(os.environ.get("PLAN", "{}"))
NOISE = PLAN.get("noise", 0.01)


class Points(Dataset[Any]):
    def __init__(self, length: int) -> None:
        self._x = torch.linspace(-1, 1, length * 3).reshape(length, 3)

    def __len__(self) -> int:
        return len(self._x)

    def __getitem__(self, index: int) -> Any:
        x = self._x[index]
        return x + NOISE * torch.randn(3), x.sum().reshape(1), index


class PointsTrial(Trial):
    def __init__(self, context: TrialContext) -> None:
        super().__init__(context)
        torch.manual_seed(0)
        layers = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(10 * NOISE), nn.Linear(16, 1))
        self.model = context.wrap_model(layers, strategy=PLAN.get("strategy", "ddp"))
        self.optimizer = context.wrap_optimizer(torch.optim.Adam(self.model.parameters(), lr=0.01))
        torch.manual_seed(context.run.seed + context.distributed.rank)

    def build_training_data_loader(self) -> Any:
        return DataLoader(Points(PLAN.get("length", 50)), shuffle=True)

    def build_validation_data_loader(self) -> Any:
        return DataLoader(Points(12), 4)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        x, y, index = batch
        self._note_samples(epoch_idx, index)
        if PLAN.get("kill") == [self.context.distributed.rank, batch_idx, self.context.distributed.restart]:
            os.kill(os.getpid(), signal.SIGKILL)
        if PLAN.get("fail") == [self.context.distributed.rank, batch_idx]:
            raise RuntimeError("broken on purpose")
        loss = nn.functional.mse_loss(self.model(x), y)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        x, y, _ = batch
        return {"validation_loss": nn.functional.mse_loss(self.model(x), y)}

    def _note_samples(self, epoch: int, index: torch.Tensor) -> None:
        if folder := PLAN.get("samples"):
            with open(f"{folder}/rank{self.context.distributed.rank}.txt", "a") as file:
                file.writelines(f"{epoch} {i}\n" for i in index.tolist())


def main() -> None:
    with init(hparams={"global_batch_size": PLAN.get("batch", 10)}) as context:
        Trainer(PointsTrial(context), context).fit(
            max_length=Batch(PLAN.get("steps", 20)),
            reporting_period=Batch(1),
            checkpoint_period=Batch(PLAN.get("checkpoint", 5)),
            checkpoint_policy="none",
        )


if __name__ == "__main__":
    sys.exit(main())
