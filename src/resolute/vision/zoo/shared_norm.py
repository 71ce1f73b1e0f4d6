"""Batch norm with the statistics of all ranks' images, on GPUs (torch's own) and on CPUs, which torch leaves out.

Names and values in a state dict are those of plain batch norm. Without other ranks it is plain batch norm.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import nn


class SharedBatchNorm(nn.BatchNorm2d):
    """Of no kin to torch's SyncBatchNorm, since DDP refuses that one on CPUs."""

    def __init__(self, *arguments: Any, group: Any = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._group = group

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # torch's own name
        if not (self.training and _has_peers()):
            return super().forward(input)
        return self._over_ranks(input)

    def _over_ranks(self, pixels: torch.Tensor) -> torch.Tensor:
        """In two passes: the mean first, then the deviation from it, which rounds better than a sum of squares."""
        places = [0, *range(2, pixels.ndim)]
        shape = [1, -1, *[1] * (pixels.ndim - 2)]
        values = pixels.float()
        count = values.new_tensor([values.numel() // values.shape[1]])
        dist.all_reduce(count, group=self._group)
        mean: torch.Tensor = _SumOverRanks.apply(values.sum(places), self._group) / count
        centred = values - mean.view(shape)
        variance: torch.Tensor = _SumOverRanks.apply(centred.square().sum(places), self._group) / count
        self._remember(mean.detach(), variance.detach(), float(count))
        normed = centred * torch.rsqrt(variance + self.eps).view(shape)
        if self.affine:
            normed = normed * self.weight.view(shape) + self.bias.view(shape)
        return normed.to(pixels.dtype)

    @torch.no_grad()
    def _remember(self, mean: torch.Tensor, variance: torch.Tensor, count: float) -> None:
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked.add_(1)
        share = self.momentum if self.momentum is not None else 1.0 / float(self.num_batches_tracked)
        self.running_mean.lerp_(mean, share)
        self.running_var.lerp_(variance * (count / max(count - 1, 1)), share)


class _SumOverRanks(torch.autograd.Function):
    """Every rank's loss depends on every rank's part, so gradients are summed over ranks as well."""

    @staticmethod
    def forward(ctx: Any, part: torch.Tensor, group: Any) -> torch.Tensor:
        ctx.group = group
        return _summed(part, group)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _summed(grad, ctx.group), None


def with_shared_norms(model: nn.Module) -> nn.Module:
    """Every rank must call it at the same point: on CPUs they make a group of their own for the statistics.

    In DDP's group these sums could come between its buckets in another order on another rank."""
    if torch.cuda.is_available():
        converted: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(model)  # type: ignore[no-untyped-call]
        return converted
    _replace(model, dist.new_group() if _has_peers() else None)
    return model


def _replace(module: nn.Module, group: Any) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.BatchNorm2d):
            setattr(module, name, _shared(child, group))
        else:
            _replace(child, group)


def _shared(norm: nn.BatchNorm2d, group: Any) -> SharedBatchNorm:
    shared = SharedBatchNorm(
        norm.num_features, norm.eps, norm.momentum, norm.affine, norm.track_running_stats, group=group
    )
    shared.load_state_dict(norm.state_dict())
    if norm.affine:
        shared.weight, shared.bias = norm.weight, norm.bias  # The same objects: a frozen stage stays frozen.
    return shared.train(norm.training)


def _summed(part: torch.Tensor, group: Any) -> torch.Tensor:
    total = part.contiguous().clone()
    dist.all_reduce(total, group=group)
    return total


def _has_peers() -> bool:
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
