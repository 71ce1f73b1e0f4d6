"""What the model server asks of a model, whatever is inside. No transport, no torch.

A model lives in a process of its own; one thread calls it, so calls never overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Tensor = NDArray[Any]
"""A V2 tensor: numeric and bool dtypes as they are, BYTES as an object array of bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpec:
    """One input or output as V2 metadata shows it. -1 in `shape`: any size."""

    name: str
    datatype: str
    """BOOL, UINT8 ... UINT64, INT8 ... INT64, FP16, FP32, FP64, BYTES."""
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMetadata:
    platform: str
    """`pytorch_torchscript`, `onnx`, `pytorch_detector`, `python_handler`, ..."""
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    """JSON shown with the model: the class table, the dataset it was trained on ..."""
    takes_requests: bool = False
    """It also has the methods of `TakesRequests`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRequest:
    """A request as TorchServe hands it to a handler."""

    fields: dict[str, Any]
    headers: dict[str, Any]
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeAnswer:
    """`content` is bytes, text, or anything that JSON has a form for."""

    content: Any
    content_type: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class TakesRequests(Protocol):
    """The optional power of a model whose metadata says `takes_requests`."""

    def handle(self, requests: Sequence[WholeRequest], *, is_explain: bool) -> list[WholeAnswer]:
        """Requests with all of their fields and headers; one answer each, in order."""


class Model(Protocol):
    """One loaded model version."""

    @property
    def metadata(self) -> ModelMetadata: ...

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        """V1: JSON values in and out, one answer per instance and in order. A bad instance raises
        `InvalidInput` naming it; instances of several requests arrive as one batch, of mixed sizes."""

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        """V1. Raises NotSupported for a model that cannot."""

    def infer(self, requests: Sequence[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        """V2: one dict of named tensors per request, answers in order. Requests arrive as one batch. Wrong names,
        shapes or dtypes raise InvalidInput with which input, wanted and got."""


class Load(Protocol):
    """How a model process gets its model. `serving.loading.load_model` is the real one."""

    def __call__(self, source: Path, options: dict[str, Any]) -> Model:
        """Raises InvalidInput for what cannot be served, with the reason and the remedy."""


def datatype_of(array: Tensor) -> str:
    """The V2 name of a tensor's type."""
    if array.dtype == object or array.dtype.kind in "SU":
        return "BYTES"
    kind = {"b": "BOOL", "i": "INT", "u": "UINT", "f": "FP"}[array.dtype.kind]
    return kind if kind == "BOOL" else f"{kind}{array.dtype.itemsize * 8}"


NUMPY_TYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(bool),
    **{f"{sign}INT{bits}": np.dtype(f"{sign.lower()}int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)},
    **{f"FP{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    "BYTES": np.dtype(object),
}
