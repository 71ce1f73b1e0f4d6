"""Time per step of the Trainer beside a bare loop on the same model: python -m benchmarks.training.step_overhead

Rounds alternate and count the processor time of the training thread, so that other work on the machine disturbs
neither; the figure is the ratio of the medians.
"""

import statistics
import sys
import tempfile
import time
from typing import Any

import torch
from torch import nn
from torch.utils.data import TensorDataset

from resolute.pytorch import Batch, DataLoader, Trainer, Trial, TrialContext, init

STEPS, ROUNDS, BATCH, WIDTH = 150, 7, 64, 512


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10))


def dataset() -> TensorDataset:
    torch.manual_seed(1)
    return TensorDataset(torch.randn(BATCH * STEPS, WIDTH), torch.randint(0, 10, (BATCH * STEPS,)))


DATA = dataset()


class Bench(Trial):
    def __init__(self, context: TrialContext) -> None:
        super().__init__(context)
        self.model = context.wrap_model(network())
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=0.01))

    def build_training_data_loader(self) -> Any:
        return DataLoader(DATA, BATCH, shuffle=True)

    def build_validation_data_loader(self) -> Any:
        return DataLoader(TensorDataset(DATA.tensors[0][:1], DATA.tensors[1][:1]), 1)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
        if batch_idx == 0:
            self.started = time.thread_time()
        x, y = batch
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        if batch_idx == STEPS - 1:
            self.ended = time.thread_time()
        return {"loss": loss}

    def evaluate_batch(self, batch: Any, batch_idx: int) -> Any:
        return {"loss": 0.0}


def with_trainer() -> float:
    with tempfile.TemporaryDirectory() as folder, init(hparams={"global_batch_size": BATCH}, folder=folder) as context:
        trial = Bench(context)
        Trainer(trial, context).fit(max_length=Batch(STEPS), reporting_period=Batch(50), checkpoint_policy="none")
    return (trial.ended - trial.started) / STEPS


def bare() -> float:
    """What one would write by hand, with the same loader, averages and reporting period."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    started = 0.0
    loader = torch.utils.data.DataLoader(DATA, BATCH, shuffle=True)
    for step, (x, y) in enumerate(loader):
        if step == 0:
            started = time.thread_time()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.detach())
        if (step + 1) % 50 == 0:
            print(f"steps={step + 1} loss={torch.stack(losses).mean().item():.4f}", file=sys.stderr)
            losses.clear()
    return (time.thread_time() - started) / STEPS


def main() -> None:
    torch.set_num_threads(1)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(bare())
        ours.append(with_trainer())
    mine, plain = statistics.median(ours), statistics.median(theirs)
    print(f"trainer {mine * 1e6:.0f} us/step, bare loop {plain * 1e6:.0f} us/step, overhead {mine / plain - 1:+.1%}")


if __name__ == "__main__":
    main()
