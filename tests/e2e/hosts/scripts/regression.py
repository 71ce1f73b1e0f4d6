"""Fits a line on all ranks, with nothing but torch; rank 0 prints every loss in full.

regression.py [ours | harness]      report the last loss through resolute, or through the official harness
"""

import contextlib
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 20

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
inputs = torch.randn(240, 4)
targets = inputs @ torch.tensor([[1.0], [-2.0], [3.0], [0.5]]) + 0.1 * torch.randn(240, 1)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
losses = []
for _ in range(STEPS):
    batch = torch.arange(rank, 240, world)
    loss = torch.nn.functional.mse_loss(model(inputs[batch]), targets[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    losses.append(float(total / world))

if rank == 0:
    print("losses", " ".join(map(repr, losses)), flush=True)
print(f"rank {rank} of {world} in {os.environ.get('DET_AGENT_ID', 'no allocation')}", flush=True)

with contextlib.ExitStack() as closing:
    if sys.argv[1:] == ["ours"]:
        import resolute

        run = closing.enter_context(resolute.init())
        run.report("validation", STEPS, {"loss": losses[-1]})
    elif sys.argv[1:] == ["harness"]:
        import determined

        together = determined.core.DistributedContext.from_torch_distributed()
        manual = determined.core.TensorboardMode.MANUAL  # there is no TensorBoard here
        core = closing.enter_context(determined.core.init(distributed=together, tensorboard_mode=manual))
        if rank == 0:
            core.train.report_validation_metrics(STEPS, {"loss": losses[-1]})
dist.barrier()  # a rank that leaves early makes the others complain
dist.destroy_process_group()
