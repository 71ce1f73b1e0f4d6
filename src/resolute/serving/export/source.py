"""What can be exported: a trained detector, a user's model file with weights, or a module in hand."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from resolute.domain.errors import InvalidInput
from resolute.serving.loading import MODEL_FILE, weights_of
from resolute.serving.model import NUMPY_TYPES, TensorSpec
from resolute.serving.runtimes.detector import IMAGE
from resolute.serving.runtimes.exported_detector import DETECTOR
from resolute.serving.runtimes.torch_models import build_module
from resolute.vision.checkpoint import RECORD_FILE, read_record
from resolute.vision.detector import load_detector

DEFAULT_SIZE = (480, 640)
"""Height and width of the picture that a detector is watched with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exportable:
    module: nn.Module
    name: str
    example: tuple[Tensor, ...] = ()
    """Inputs to watch the module with; none for a plain module whose shapes nobody gave."""
    input_names: tuple[str, ...] = ()
    note: dict[str, Any] = field(default_factory=dict)
    """Travels inside the exported file, so that it can be served without being asked about."""
    folder: Path | None = None

    @property
    def is_detector(self) -> bool:
        return self.note.get("kind") == DETECTOR


def open_source(
    source: Path | nn.Module, *, inputs: Sequence[TensorSpec] = (), image_size: tuple[int, int] | None = None
) -> Exportable:
    """`inputs`: shapes of a plain module's inputs, -1 for the batch. `image_size`: height and width for a detector."""
    if isinstance(source, nn.Module):
        return _module(source.eval(), type(source).__name__.lower(), inputs, None)
    if (source / RECORD_FILE).is_file():
        return _detector(source, image_size or DEFAULT_SIZE)
    if (source / MODEL_FILE).is_file():
        module = build_module(source / MODEL_FILE, weights_of(source))
        return _module(module, type(module).__name__.lower(), inputs, source)
    what = "is not a folder" if not source.is_dir() else f"holds {_held(source)}"
    raise InvalidInput(
        f"{source} {what}. Exported is a folder with {RECORD_FILE} (a trained detector), or with "
        f"{MODEL_FILE} and weights."
    )


def _detector(folder: Path, image_size: tuple[int, int]) -> Exportable:
    record = read_record(folder)
    picture = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (*image_size, 3), dtype=np.uint8))
    note = {
        "kind": DETECTOR,
        "architecture": record.architecture,
        "classes": [{"id": row.id, "name": row.name} for row in record.classes],
        "dataset": record.dataset,
        "preprocessing": record.preprocessing.as_dict() if record.preprocessing else None,
    }
    model = load_detector(folder).model.eval()
    return Exportable(
        module=model, name=record.architecture, example=(picture,), input_names=(IMAGE,), note=note, folder=folder
    )


def _module(module: nn.Module, name: str, inputs: Sequence[TensorSpec], folder: Path | None) -> Exportable:
    names = tuple(inspect.signature(module.forward).parameters)
    if inputs and len(inputs) > len(names):
        raise InvalidInput(
            f"{name} takes {len(names)} inputs ({', '.join(names)}); shapes of {len(inputs)} were given."
        )
    inputs = [replace(spec, name=spec.name or own) for spec, own in zip(inputs, names, strict=False)]
    return Exportable(
        module=module,
        name=name,
        example=tuple(_example(spec) for spec in inputs),
        input_names=tuple(spec.name for spec in inputs) or names,
        note={"inputs": [_row(spec) for spec in inputs]} if inputs else {},
        folder=folder,
    )


def _example(spec: TensorSpec) -> Tensor:
    """Two rows in the place of any number: exporters take a batch of one for a fixed size."""
    shape = tuple(2 if size == -1 else size for size in spec.shape)
    values = np.random.default_rng(0).random(shape)
    return torch.from_numpy(values.astype(NUMPY_TYPES[spec.datatype]))


def _row(spec: TensorSpec) -> dict[str, Any]:
    return {"name": spec.name, "datatype": spec.datatype, "shape": list(spec.shape)}


def _held(folder: Path) -> str:
    return ", ".join(sorted(item.name for item in folder.iterdir())[:8]) or "nothing"
