"""TorchScript files, torch.export files, and a user's nn.Module with weights, as models."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from resolute.domain.errors import InvalidInput
from resolute.serving.handlers.code import one_class
from resolute.serving.handlers.downloads import without_downloads
from resolute.serving.model import Model, TensorSpec
from resolute.serving.notes import Note
from resolute.serving.programs import read_program, read_script
from resolute.serving.runtimes.detector import DetectorModel
from resolute.serving.runtimes.exported_detector import DETECTOR, ExportedDetector
from resolute.serving.runtimes.options import Options
from resolute.serving.runtimes.tensors import Arrays, Run, Signature, TensorModel, from_outputs
from resolute.serving.weights import load_weights


def script_model(path: Path, options: Options) -> Model:
    module, note = read_script(path, options.device)
    names = tuple(argument.name for argument in module.forward.schema.arguments[1:] if "Tensor" in str(argument.type))
    return _model(module, note, names, options, "pytorch_torchscript")


def program_model(path: Path, options: Options) -> Model:
    module, note = read_program(path, options.device)
    # Signatures of exported programs are written by torch: every input is positional or by keyword, as traced.
    names = tuple(inspect.signature(module.forward).parameters)
    return _model(module, note, tuple(note.get("names", names)), options, "pytorch_export")


def module_model(model_file: Path, weights: Path, options: Options) -> Model:
    """The one nn.Module of `model_file` with `weights`."""
    module = build_module(model_file, weights, allow_pickle=options.allow_pickle).to(options.device)
    names = tuple(inspect.signature(module.forward).parameters)
    return _model(module, {}, names, options, "pytorch_module")


def pickled_module_model(path: Path, options: Options) -> Model:
    """A whole nn.Module as torch.save wrote it. Its loading runs what code it carries."""
    try:
        module = torch.load(path, map_location=options.device, weights_only=False)
    except Exception as error:
        raise InvalidInput(f"{path.name} cannot be loaded: {type(error).__name__}: {error}.") from error
    if not isinstance(module, nn.Module):
        raise InvalidInput(f"{path.name} holds a {type(module).__name__}, not a model. Put model.py beside it.")
    names = tuple(inspect.signature(module.forward).parameters)
    return _model(module.eval(), {}, names, options, "pytorch_module")


def build_module(model_file: Path, weights: Path, *, allow_pickle: bool = False) -> nn.Module:
    with without_downloads():
        made = one_class(model_file, nn.Module)
        try:
            module: nn.Module = made()
        except TypeError as error:
            raise InvalidInput(
                f"{model_file.name}: {made.__name__}() cannot be made without arguments: {error}."
            ) from None
    load_weights(module, weights, allow_pickle=allow_pickle)
    return module.eval()


def torch_run(module: Callable[..., Any], names: Sequence[str], device: str, outputs: Sequence[str]) -> Run:
    def run(inputs: Arrays) -> Arrays:
        given = [torch.from_numpy(np.ascontiguousarray(inputs[name])).to(device) for name in names]
        with torch.inference_mode():
            answer = module(*given)
        if isinstance(answer, dict):
            return {str(name): _array(value) for name, value in answer.items()}
        return from_outputs([_array(value) for value in _several(answer)], outputs)

    return run


def _model(module: Any, note: Note, names: tuple[str, ...], options: Options, platform: str) -> Model:
    if note.get("kind") == DETECTOR:
        extra = {key: note[key] for key in ("architecture", "dataset") if note.get(key)}
        return DetectorModel(ExportedDetector(_detector_call(module, options.device), note), options, extra)
    specs = options.inputs or specs_of(note.get("inputs", ()))
    outputs = specs_of(note.get("outputs", ()))
    named = tuple(spec.name for spec in specs) or names
    signature = Signature(names=named, specs=specs, outputs=outputs, datatype=options.datatype)
    run = torch_run(module, named, options.device, [spec.name for spec in outputs])
    return TensorModel(run, signature, platform, {"input_names": list(named)})


def specs_of(rows: Sequence[dict[str, Any]]) -> tuple[TensorSpec, ...]:
    return tuple(
        TensorSpec(name=row["name"], datatype=row["datatype"], shape=tuple(map(int, row["shape"]))) for row in rows
    )


def _detector_call(module: Any, device: str) -> Callable[[NDArray[np.uint8]], list[NDArray[Any]]]:
    def call(image: NDArray[np.uint8]) -> list[NDArray[Any]]:
        with torch.inference_mode():
            return [_array(each) for each in module(torch.from_numpy(image).to(device))]

    return call


def _several(answer: Any) -> list[Any]:
    return list(answer) if isinstance(answer, tuple | list) else [answer]


def _array(value: Any) -> NDArray[Any]:
    if not isinstance(value, torch.Tensor):
        raise InvalidInput(f"The model answered with a {type(value).__name__}; serve tensors, or write a handler.")
    return value.detach().float().cpu().numpy() if value.dtype == torch.bfloat16 else value.detach().cpu().numpy()
