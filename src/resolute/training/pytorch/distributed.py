"""Process groups and model wrapping: DDP and FSDP2, gloo on CPU and NCCL on GPU. Knows nothing of trials."""

import os
from typing import Any, Literal

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from resolute.training.environment import Place

Strategy = Literal["ddp", "fsdp"]


def pick_device(place: Place) -> torch.device:
    if torch.cuda.is_available():
        device = torch.device("cuda", place.local_rank % torch.cuda.device_count())
        torch.cuda.set_device(device)
        return device
    return torch.device("cpu")


def join_group(place: Place, device: torch.device) -> bool:
    """Make the default process group when there are peers and nobody has yet. True: it is ours to end."""
    if place.size == 1 or dist.is_initialized():
        return False
    backend = os.environ.get("RESOLUTE_DIST_BACKEND") or ("nccl" if device.type == "cuda" else "gloo")
    options: dict[str, Any] = {"device_id": device} if backend == "nccl" else {}
    dist.init_process_group(backend, rank=place.rank, world_size=place.size, **options)
    return True


def wrap_for_ranks(model: nn.Module, place: Place, device: torch.device, strategy: Strategy) -> nn.Module:
    if place.size == 1:
        return model
    if strategy == "fsdp":
        return _shard(model, device)
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=ids)


def _shard(model: nn.Module, device: torch.device) -> nn.Module:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    for child in model.children():
        if sum(parameter.numel() for parameter in child.parameters()) > 0:
            fully_shard(child, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


def gather_objects(value: Any, size: int) -> list[Any]:
    """Every rank's value, in rank order, on every rank."""
    if size == 1:
        return [value]
    gathered: list[Any] = [None] * size
    dist.all_gather_object(gathered, value)
    return gathered
