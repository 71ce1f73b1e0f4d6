"""Ranks that talk through torch.distributed agree over a small gloo group of their own, beside training's group."""

import sys

import torch
import torch.distributed as dist


class TorchExchange:
    """Every rank makes one at the same point of the program, because making the group is itself a collective."""

    def __init__(self) -> None:
        group = dist.new_group(backend="gloo")
        self._group = group if isinstance(group, dist.ProcessGroup) else None
        self._pair = torch.zeros(2, dtype=torch.int64)

    def highest(self, first: int, second: int) -> tuple[int, int]:
        self._pair[0], self._pair[1] = first, second
        dist.all_reduce(self._pair, op=dist.ReduceOp.MAX, group=self._group)
        return int(self._pair[0]), int(self._pair[1])


def is_distributed() -> bool:
    return "torch" in sys.modules and dist.is_available() and dist.is_initialized()
