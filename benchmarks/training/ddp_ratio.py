"""Two-process data parallel training: our launcher and Trainer beside torchrun and a bare loop.

python -m benchmarks.training.ddp_ratio. Both train the same network on the same number of samples; the figure is
samples per second between the 10th and the last step on rank 0.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import torch
from torch import nn
from torch.utils.data import TensorDataset

STEPS, BATCH, WIDTH = 120, 64, 384


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10))


def dataset() -> TensorDataset:
    torch.manual_seed(1)
    return TensorDataset(torch.randn(BATCH * STEPS, WIDTH), torch.randint(0, 10, (BATCH * STEPS,)))


def bare() -> None:
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data.distributed import DistributedSampler

    dist.init_process_group("gloo")
    data = dataset()
    loader = torch.utils.data.DataLoader(data, BATCH // 2, sampler=DistributedSampler(data))
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    start = 0.0
    for step, (x, y) in enumerate(loader):
        if step == 10:
            start = time.perf_counter()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    _print_rate(dist.get_rank(), start)
    dist.destroy_process_group()


def ours() -> None:
    from resolute.pytorch import Batch, DataLoader, Trainer, Trial, TrialContext, init

    class Bench(Trial):
        def __init__(self, context: TrialContext) -> None:
            super().__init__(context)
            self.model = context.wrap_model(network())
            self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=0.01))
            self.start = 0.0

        def build_training_data_loader(self) -> Any:
            return DataLoader(dataset(), shuffle=True)

        def build_validation_data_loader(self) -> Any:
            return DataLoader(TensorDataset(torch.zeros(2, WIDTH), torch.zeros(2, dtype=torch.long)), 1)

        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
            if batch_idx == 10:
                self.start = time.perf_counter()
            x, y = batch
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.context.backward(loss)
            self.context.step_optimizer(self.optimizer)
            if batch_idx == STEPS - 1:
                _print_rate(self.context.distributed.rank, self.start)
            return {"loss": loss}

        def evaluate_batch(self, batch: Any, batch_idx: int) -> Any:
            return {"loss": 0.0}

    with init(hparams={"global_batch_size": BATCH}) as context:
        Trainer(Bench(context), context).fit(max_length=Batch(STEPS), reporting_period=Batch(50))


def _print_rate(rank: int, start: float) -> None:
    if rank == 0:
        print("RATE", json.dumps((STEPS - 10) * BATCH / (time.perf_counter() - start)), flush=True)


def measure(command: list[str], what: str) -> float:
    env = {**os.environ, "OMP_NUM_THREADS": "1", "BENCH": what}
    env["PYTHONPATH"] = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        env["RESOLUTE_RUN_FOLDER"] = folder
        done = subprocess.run([*command, __file__], env=env, capture_output=True, text=True, check=True)
    return float(done.stdout.split("RATE ")[1].split()[0])


def main() -> None:
    launcher = [sys.executable, "-m", "resolute.launch.torch_distributed", "--nproc", "2"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone"]
    rates: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(2):
        rates["bare"].append(measure(torchrun, "bare"))
        rates["ours"].append(measure(launcher, "ours"))
    mine, plain = max(rates["ours"]), max(rates["bare"])
    print(f"ours {mine:,.0f} samples/s, torchrun {plain:,.0f} samples/s, ratio {mine / plain:.1%} (best of 2 each)")


if __name__ == "__main__":
    {"bare": bare, "ours": ours}.get(os.environ.get("BENCH", ""), main)()
