"""Batches whose loss is not a number: their step is left out, and after too many in a row the training is given up.

A step is judged by its gradient after the ranks have summed it, so all ranks judge alike without asking each other.
On a GPU the verdict stays there, and the fused optimizer obeys it; the host looks only now and then.
"""

import logging
from collections.abc import Mapping

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

_log = logging.getLogger("resolute")
_LOOK_EVERY = 25
"""Batches between looks on a GPU: each look makes the host wait."""


class Safeguard:
    """`limit` batches in a row may be left out."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, *, limit: int) -> None:
        self._optimizer = optimizer
        self._limit = limit
        self._statistics = [buffer for module in model.modules() for buffer in _running(module)]
        self._kept: torch.Tensor | None = None
        device = next(model.parameters()).device
        self._is_on_cpu = device.type == "cpu"
        self._in_a_row = torch.zeros((), device=device)
        self._in_all = torch.zeros((), device=device)
        self._told = 0
        _fill_momentum(optimizer)

    def watch(self) -> None:
        """Before each batch is shown to the model."""
        if self._kept is None and self._statistics:
            self._kept = _flat(self._statistics)

    @torch.no_grad()
    def judge(self, *, is_scaled: bool) -> bool:
        """After the backward pass. True: do not step. On a GPU never, there the optimizer itself leaves the step out.

        `is_scaled`: a gradient scaler looks for the same thing and tells the optimizer.
        """
        groups = self._optimizer.param_groups
        gradients = [each.grad for group in groups for each in group["params"] if each.grad is not None]
        is_bad = ~torch.isfinite(nn.utils.get_total_norm(gradients))
        self._in_a_row = torch.where(is_bad, self._in_a_row + 1, 0)
        self._in_all += is_bad
        self._keep_statistics(is_bad)
        if self._is_on_cpu:
            return bool(is_bad)
        if not is_scaled:
            self._optimizer.found_inf = is_bad.float()  # type: ignore[attr-defined]
        return False

    def verdict(self, batch: int, losses: Mapping[str, torch.Tensor], *, is_chief: bool) -> str | None:
        """Why the training cannot go on, if so. Tells the log what was left out."""
        if not self._is_on_cpu and batch % _LOOK_EVERY:
            return None
        in_a_row, in_all = (int(number) for number in torch.stack([self._in_a_row, self._in_all]).tolist())
        if in_a_row > self._limit:
            parts = ", ".join(f"{name} {float(value.detach()):g}" for name, value in losses.items())
            return f"The loss was not a number in {in_a_row} batches in a row, at last in batch {batch + 1} ({parts})."
        if in_all > self._told and is_chief:
            _log.warning(
                "Batch %d: the loss or its gradient is not a number, so the step was left out; %d batches so far.",
                batch + 1, in_all,
            )  # fmt: skip
        self._told = in_all
        return None

    def _keep_statistics(self, is_bad: torch.Tensor) -> None:
        """Batch norms have taken the batch into their statistics already, and a NaN would never leave them."""
        if self._kept is None:
            return
        self._kept = torch.where(is_bad, self._kept, _flat(self._statistics))
        sizes = [buffer.numel() for buffer in self._statistics]
        torch._foreach_copy_(self._statistics, torch.split(self._kept, sizes))


def _running(module: nn.Module) -> list[torch.Tensor]:
    if not isinstance(module, _BatchNorm):
        return []
    return [each for each in (module.running_mean, module.running_var) if each is not None]


def _flat(buffers: list[torch.Tensor]) -> torch.Tensor:
    return torch.cat([buffer.flatten() for buffer in buffers])


def _fill_momentum(optimizer: torch.optim.Optimizer) -> None:
    """Zeros to begin with, which change nothing. Without them a fused SGD whose very first step is left out would go on
    with memory that nobody wrote, as it does below a gradient scaler too."""
    if not isinstance(optimizer, torch.optim.SGD):
        return
    for group in optimizer.param_groups:
        for parameter in group["params"] if group["fused"] and group["momentum"] else []:
            optimizer.state[parameter].setdefault("momentum_buffer", torch.zeros_like(parameter))
