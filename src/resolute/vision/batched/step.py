"""One optimizer step of a batched detector; on a GPU forward and backward are captured once and replayed.

The optimizer runs outside the graph, so any optimizer, schedule or clipping works. Inputs must keep their shapes.
"""

import torch
from torch import Tensor, nn

from resolute.domain.errors import InvalidInput
from resolute.vision.batched.model import BatchedFasterRCNN
from resolute.vision.batched.targets import PaddedTargets

WARM_UP_STEPS = 3
"""Real steps taken before capturing: they compile, choose convolution algorithms and fill the allocator."""


class TrainStep:
    """`step(images, targets)` trains on one batch and returns its losses, on the device (reading one waits for it).

    The tensors returned are overwritten by the next step when `cuda_graphs` is on."""

    def __init__(
        self,
        model: BatchedFasterRCNN,
        optimizer: torch.optim.Optimizer,
        *,
        amp: torch.dtype | None = torch.bfloat16,
        cuda_graphs: bool = True,
        max_grad_norm: float | None = None,
    ) -> None:
        self._model = model
        self._optimizer = optimizer
        self._amp = amp
        self._cuda_graphs = cuda_graphs and next(model.parameters()).is_cuda
        self._max_grad_norm = max_grad_norm
        self._steps = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._images: Tensor
        self._targets: PaddedTargets
        self._losses: dict[str, Tensor] = {}

    def __call__(self, images: Tensor, targets: PaddedTargets) -> dict[str, Tensor]:
        self._steps += 1
        if not self._cuda_graphs:
            self._optimizer.zero_grad(set_to_none=True)
            losses = self._backward(images, targets)
        elif self._graph is None and self._steps <= WARM_UP_STEPS:
            losses = self._warm_up(images, targets)
        else:
            losses = self._replay(images, targets)
        if self._max_grad_norm is not None:
            nn.utils.clip_grad_norm_(self._model.parameters(), self._max_grad_norm, foreach=True)
        self._optimizer.step()
        return losses

    def _backward(self, images: Tensor, targets: PaddedTargets) -> dict[str, Tensor]:
        with torch.autocast(images.device.type, self._amp, enabled=self._amp is not None, cache_enabled=False):
            losses = self._model(images, targets)
        assert isinstance(losses, dict), "a detector in training mode returns losses"
        torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
        return {name: loss.detach() for name, loss in losses.items()}

    def _warm_up(self, images: Tensor, targets: PaddedTargets) -> dict[str, Tensor]:
        """On a stream of its own: capturing forbids work on the default one."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._optimizer.zero_grad(set_to_none=True)
            losses = self._backward(images, targets)
        torch.cuda.current_stream().wait_stream(stream)
        return losses

    def _replay(self, images: Tensor, targets: PaddedTargets) -> dict[str, Tensor]:
        if self._graph is None:
            self._capture(images, targets)
        if images.shape != self._images.shape or targets.boxes.shape != self._targets.boxes.shape:
            raise InvalidInput(
                f"A batch of images {tuple(images.shape)} and boxes {tuple(targets.boxes.shape)} after one of "
                f"{tuple(self._images.shape)} and {tuple(self._targets.boxes.shape)}: a captured step needs equal "
                "shapes. Drop the last, smaller batch or set cuda_graphs=False."
            )
        self._images.copy_(images, non_blocking=True)
        self._targets.copy_(targets)
        assert self._graph is not None, "captured above"
        self._graph.replay()
        return self._losses

    def _capture(self, images: Tensor, targets: PaddedTargets) -> None:
        self._images = images.clone()
        self._targets = PaddedTargets(targets.boxes.clone(), targets.labels.clone(), targets.valid.clone())
        # Gradients must be born inside the graph: each replay then overwrites them, and none is ever cleared.
        self._optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._losses = self._backward(self._images, self._targets)
        self._graph = graph
