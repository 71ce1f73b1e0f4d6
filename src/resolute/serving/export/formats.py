"""One writer per format: an `Exportable` to a file. They raise what torch raises; `run.export` puts it into words."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import torch
from torch import nn

from resolute.domain.errors import InvalidInput
from resolute.serving.export.detectors import (
    OUTPUTS,
    ArchivedDetector,
    ScriptedDetector,
    TracedDetector,
    is_two_stage,
    takes_any_size,
    traceable_suppression,
)
from resolute.serving.export.source import Exportable
from resolute.serving.notes import NOTE
from resolute.serving.weights import write_safetensors

_OPSET = 17


class ExportFormat(StrEnum):
    SAFETENSORS = "safetensors"
    TORCHSCRIPT = "torchscript"
    ONNX = "onnx"
    TORCH_EXPORT = "torch.export"
    MAR = "mar"


SUFFIXES = {
    ExportFormat.SAFETENSORS: ".safetensors",
    ExportFormat.TORCHSCRIPT: ".pt",
    ExportFormat.ONNX: ".onnx",
    ExportFormat.TORCH_EXPORT: ".pt2",
    ExportFormat.MAR: ".mar",
}


def refusals_of(source: Exportable) -> dict[ExportFormat, str]:
    """Formats that do not work for this kind of model, and why; measured, see docs/export.md."""
    if source.is_detector and is_two_stage(source.module):
        return {ExportFormat.TORCH_EXPORT: "how many regions its second stage looks at depends on the picture"}
    if source.is_detector and not _is_torchvision(source.module):
        reason = "its code goes beyond what TorchScript understands"
        return {ExportFormat.TORCHSCRIPT: reason, ExportFormat.MAR: reason}
    return {}


def formats_of(source: Exportable) -> tuple[ExportFormat, ...]:
    return tuple(each for each in ExportFormat if each not in refusals_of(source))


def write_weights(source: Exportable, path: Path) -> None:
    write_safetensors(source.module.state_dict(), path, {"format": "pt", NOTE: json.dumps(source.note)})


def write_script(source: Exportable, path: Path) -> None:
    with _quiet():
        module = scripted(source)
        torch.jit.save(module, path, _extra_files={NOTE: json.dumps(source.note)})


def write_archived_script(source: Exportable, path: Path) -> None:
    """TorchScript with the interface of the handler `object_detector`."""
    with _quiet():
        module = torch.jit.script(ArchivedDetector(_scripted_model(source.module)).eval())
        torch.jit.save(module, path)


def scripted(source: Exportable) -> Any:
    """From the code where TorchScript understands it; otherwise by watching a run."""
    if source.is_detector:
        return torch.jit.script(ScriptedDetector(_scripted_model(source.module)).eval())
    try:
        return torch.jit.script(source.module)
    except Exception:
        if not source.example:
            raise
        return torch.jit.trace(source.module, source.example)  # type: ignore[no-untyped-call]


def _scripted_model(model: nn.Module) -> Any:
    if hasattr(model, "_has_warned"):
        # Else the file tells its users, once each, that it answers with a pair.
        model._has_warned = True  # type: ignore[assignment]
    return torch.jit.script(model)


def write_onnx(source: Exportable, path: Path) -> None:
    if source.is_detector and _is_torchvision(source.module):
        _write_onnx_detector(source, path)
    else:
        _write_onnx_program(source, path)
    _annotate(path, source.note)


def write_program(source: Exportable, path: Path) -> None:
    example, module = _watched(source)
    is_any = not source.is_detector or takes_any_size(source.module)
    shapes = _dynamic(source) if is_any else None
    note = source.note | {"names": list(source.input_names)}
    if not is_any:
        note["image_size"] = list(example[0].shape[:2])
    with _quiet(), torch.no_grad(), traceable_suppression():
        program = torch.export.export(module, example, dynamic_shapes=shapes, strict=False)
        torch.export.save(program, path, extra_files={NOTE: json.dumps(note)})


WRITERS: dict[ExportFormat, Callable[[Exportable, Path], None]] = {
    ExportFormat.SAFETENSORS: write_weights,
    ExportFormat.TORCHSCRIPT: write_script,
    ExportFormat.ONNX: write_onnx,
    ExportFormat.TORCH_EXPORT: write_program,
}


def _write_onnx_detector(source: Exportable, path: Path) -> None:
    """By the older exporter: it has operators for torchvision's boxes, and sizes stay open."""
    axes = {"image": {0: "height", 1: "width"}} | {name: {0: "found"} for name in OUTPUTS}
    with _quiet(), torch.no_grad():
        torch.onnx.export(
            TracedDetector(source.module).eval(),
            source.example,
            str(path),
            input_names=list(source.input_names),
            output_names=list(OUTPUTS),
            dynamic_axes=axes,
            opset_version=_OPSET,
            dynamo=False,
        )


def _write_onnx_program(source: Exportable, path: Path) -> None:
    example, module = _watched(source)
    names = list(OUTPUTS) if source.is_detector else None
    shapes = None if source.is_detector else _dynamic(source)
    with _quiet(), torch.no_grad(), traceable_suppression():
        torch.onnx.export(
            module,
            example,
            str(path),
            input_names=list(source.input_names),
            output_names=names,
            dynamic_shapes=shapes,
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def _watched(source: Exportable) -> tuple[tuple[torch.Tensor, ...], nn.Module]:
    if not source.example:
        raise InvalidInput(
            f"{source.name} must be watched while it runs, so the shape of its inputs is needed: "
            "--input-shape -1,3,224,224 (-1 stands for the batch), once for each input."
        )
    return source.example, TracedDetector(source.module).eval() if source.is_detector else source.module


def _dynamic(source: Exportable) -> tuple[dict[int, Any], ...]:
    """Sizes that stay open: those given as -1, and height and width of pictures."""
    if source.is_detector:
        return ({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},)
    return tuple(
        {axis: torch.export.Dim.AUTO for axis, size in enumerate(row["shape"]) if size == -1}
        for row in source.note["inputs"]
    )


def _annotate(path: Path, note: dict[str, Any]) -> None:
    import onnx

    model = onnx.load(path)
    onnx.helper.set_model_props(model, {NOTE: json.dumps(note)})
    onnx.save(model, path)


def _is_torchvision(module: nn.Module) -> bool:
    return any(base.__module__.startswith("torchvision.models.detection") for base in type(module).__mro__)


@contextmanager
def _quiet() -> Iterator[None]:
    """Exporters warn of every constant they fold; what counts is checked afterwards by running the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
