"""`resolute.pytorch.init`: the core context plus what PyTorch needs around it: seed, device, process group."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch.distributed as dist

from resolute.training import core
from resolute.training.pytorch.context import TrialContext
from resolute.training.pytorch.distributed import join_group, pick_device
from resolute.training.pytorch.rng import seed_everything


@contextmanager
def init(
    *,
    hparams: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    precision: str = "",
    global_batch_size: int | None = None,
) -> Iterator[TrialContext]:
    """Everything seeded, the ranks joined, a context to build a Trial with. `precision`: fp32, bf16 or fp16."""
    with core.init(hparams=hparams, folder=folder, resume=resume) as run:
        is_ours = join_group(run.place, pick_device(run.place))
        seed_everything(run.seed + run.rank)
        try:
            yield TrialContext(run, precision=precision, global_batch_size=global_batch_size)
            run.checkpoint.wait()
        finally:
            if is_ours and dist.is_initialized():
                dist.destroy_process_group()
