"""An exported file answers as the model does: both are run on the same input before the file is kept."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from resolute.serving.export.detectors import OUTPUTS
from resolute.serving.export.formats import ExportFormat
from resolute.serving.export.source import Exportable
from resolute.serving.limits import ModelFailed
from resolute.serving.onnx_session import open_session
from resolute.serving.programs import read_program, read_script

_RELATIVE, _ABSOLUTE = 1e-2, 1e-3


def check_same(source: Exportable, path: Path, export_format: ExportFormat) -> None:
    """Raises ModelFailed when answers differ by more than the arithmetic of another runtime explains."""
    if not source.example or export_format not in _RUN:
        return
    wanted, found = _expected(source), _RUN[export_format](path, source)
    for name, first, second in zip(_names(source, len(wanted)), wanted, found, strict=True):
        if first.shape != second.shape or not np.allclose(first, second, rtol=_RELATIVE, atol=_ABSOLUTE):
            raise ModelFailed(
                f"{source.name} as {export_format} answers otherwise than the model: "
                f"{name} {_difference(first, second)}. The file was not kept; use another format."
            )


def _expected(source: Exportable) -> list[NDArray[Any]]:
    with torch.inference_mode():
        if not source.is_detector:
            return _arrays(source.module(*source.example))
        picture = source.example[0].permute(2, 0, 1).to(torch.float32) / 255
        # Scores alone: boxes of equal scores may change places between runtimes.
        return [source.module([picture])[0]["scores"].numpy()]


def _names(source: Exportable, count: int) -> list[str]:
    return [OUTPUTS[1]] if source.is_detector else [f"output {index}" for index in range(count)]


def _run_torch(module: Any, source: Exportable) -> list[NDArray[Any]]:
    with torch.inference_mode():
        return _compared(_arrays(module(*source.example)), source)


def _run_session(path: Path, source: Exportable) -> list[NDArray[Any]]:
    inputs = dict(zip(source.input_names, (each.numpy() for each in source.example), strict=True))
    return _compared(open_session(path).run(None, inputs), source)


def _compared(outputs: list[NDArray[Any]], source: Exportable) -> list[NDArray[Any]]:
    return [outputs[1]] if source.is_detector else outputs


_RUN = {
    ExportFormat.TORCHSCRIPT: lambda path, source: _run_torch(read_script(path)[0], source),
    ExportFormat.TORCH_EXPORT: lambda path, source: _run_torch(read_program(path)[0], source),
    ExportFormat.ONNX: _run_session,
}


def _arrays(answer: Any) -> list[NDArray[Any]]:
    values = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, tuple | list) else [answer]
    return [value.detach().numpy() for value in values]


def _difference(first: NDArray[Any], second: NDArray[Any]) -> str:
    if first.shape != second.shape:
        return f"has shape {list(second.shape)} instead of {list(first.shape)}"
    return f"differs by up to {np.abs(first - second).max():.3g}"
