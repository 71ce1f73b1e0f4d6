"""ONNX files run by onnxruntime, as models. Torch is not needed."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput
from resolute.serving.model import Model, TensorSpec
from resolute.serving.onnx_session import open_session, session_note
from resolute.serving.runtimes.detector import IMAGE, DetectorModel
from resolute.serving.runtimes.exported_detector import DETECTOR, ExportedDetector
from resolute.serving.runtimes.options import Options
from resolute.serving.runtimes.tensors import Arrays, Signature, TensorModel

_TYPES = {
    "tensor(bool)": "BOOL",
    "tensor(float16)": "FP16",
    "tensor(float)": "FP32",
    "tensor(double)": "FP64",
    "tensor(string)": "BYTES",
    **{f"tensor({sign}int{bits})": f"{sign.upper()}INT{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def onnx_model(path: Path, options: Options) -> Model:
    session = open_session(path, options.device)
    note = session_note(session)
    if note.get("kind") == DETECTOR:
        extra = {key: note[key] for key in ("architecture", "dataset") if note.get(key)}
        return DetectorModel(ExportedDetector(_detector_call(session), note), options, extra)
    specs = tuple(_spec(each, path) for each in session.get_inputs())
    outputs = tuple(_spec(each, path) for each in session.get_outputs())
    names = [spec.name for spec in outputs]

    def run(inputs: Arrays) -> Arrays:
        return dict(zip(names, session.run(names, inputs), strict=True))

    signature = Signature(names=tuple(spec.name for spec in specs), specs=specs, outputs=outputs)
    return TensorModel(run, signature, "onnx")


def _spec(value: Any, path: Path) -> TensorSpec:
    datatype = _TYPES.get(value.type)
    if datatype is None:
        raise InvalidInput(
            f"{path.name}: {value.name} is of type {value.type}; tensors of numbers and text are served."
        )
    shape = tuple(size if isinstance(size, int) and size > 0 else -1 for size in value.shape)
    return TensorSpec(name=value.name, datatype=datatype, shape=shape)


def _detector_call(session: Any) -> Any:
    def call(image: NDArray[np.uint8]) -> list[NDArray[Any]]:
        found: list[NDArray[Any]] = session.run(["boxes", "scores", "labels"], {IMAGE: image})
        return found

    return call
