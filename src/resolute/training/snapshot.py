"""A consistent copy of training state, made fast enough to sit between two steps.

CPU tensors are copied into buffers that are kept for the next time (fresh memory would cost page faults that take
longer than the copy). CUDA tensors are cloned on their device, in stream order, and reach the host later, on a stream
of their own, so that training's queue is never waited for.
"""

from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Valid until the next `Snapshots.take`."""

    state: Any
    copied: torch.cuda.Event | None = None
    """Set when device copies were queued: it fires once they are done."""

    def on_host(self) -> Any:
        """The state with every tensor in CPU memory. Called off the training thread; it waits for the device."""
        if self.copied is None:
            return self.state
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_event(self.copied)
        with torch.cuda.stream(stream):
            state = _to_host(self.state)
        stream.synchronize()
        return state


class Snapshots:
    """Copies nested dicts, lists and tuples of tensors and plain values. Holds one set of buffers."""

    def __init__(self) -> None:
        self._buffers: dict[str, torch.Tensor] = {}
        self._used_cuda = False

    def take(self, state: Any) -> Snapshot:
        self._used_cuda = False
        with torch.no_grad():
            copy = self._copy(state, "")
        if not self._used_cuda:
            return Snapshot(copy)
        copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
        copied.record()
        return Snapshot(copy, copied)

    def _copy(self, value: Any, path: str) -> Any:
        if isinstance(value, torch.Tensor):
            return self._copy_tensor(value.detach(), path)
        if isinstance(value, dict):
            return {key: self._copy(item, f"{path}/{key!r}") for key, item in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self._copy(item, f"{path}/{i}") for i, item in enumerate(value)))
        if isinstance(value, list | tuple):
            return type(value)(self._copy(item, f"{path}/{i}") for i, item in enumerate(value))
        return value

    def _copy_tensor(self, tensor: torch.Tensor, path: str) -> torch.Tensor:
        if tensor.device.type == "cuda":
            return self._copy_cuda(tensor)
        if tensor.device.type != "cpu":
            return tensor.cpu()
        buffer = self._buffers.get(path)
        if buffer is None or buffer.shape != tensor.shape or buffer.dtype != tensor.dtype:
            buffer = torch.empty_like(tensor)
            self._buffers[path] = buffer
        return buffer.copy_(tensor)

    def _copy_cuda(self, tensor: torch.Tensor) -> torch.Tensor:
        try:
            copy = tensor.clone()
        except torch.OutOfMemoryError:
            return tensor.cpu()  # No room for a second copy: pay the stall rather than lose the checkpoint.
        self._used_cuda = True
        return copy


def _to_host(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {key: _to_host(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_to_host(item) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(_to_host(item) for item in value)
    return value
