"""Trials on CUDA devices, forked from a process that must never have touched one."""

from typing import Any

import pytest

from resolute.runners.local import LocalRunner
from resolute.runners.slots import cuda_devices

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not cuda_devices(), reason="there is no CUDA device")]

TRAINING = """
import os, torch
assert torch.cuda.device_count() == 1, torch.cuda.device_count()
model = torch.nn.Linear(8, 1).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 8, device="cuda")).square().mean().backward()
    optimizer.step()
print("trained on", os.environ["CUDA_VISIBLE_DEVICES"])
"""


def test_a_warm_trial_trains_on_the_device_of_its_slot(warm_bench: tuple[LocalRunner, Any]) -> None:
    runner, bench = warm_bench
    gang = bench.gang("cuda", "python3 train.py", context_files={"train.py": TRAINING})

    status = bench.run(runner, gang)

    assert status.exit_code == 0, bench.text(gang)
    assert bench.text(gang) == f"trained on {cuda_devices()[0][1]}"
