"""`load_model`: looks at what is there and loads it with the runtime that fits. Called in the model process only.

Order of a folder: an unpacked archive, a detector, a TorchServe folder, a serving configuration, then single files.
"""

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.serving.archive.manifest import MANIFEST_PATH, Manifest, parse_manifest
from resolute.serving.archive.read import extract_archive, read_manifest
from resolute.serving.model import Model
from resolute.serving.runtimes.model_store import choose_archive, is_model_store
from resolute.serving.runtimes.options import Options, read_options
from resolute.serving.runtimes.python_model import PREFIX, python_model

DETECTOR_FILE = "detector.json"
SERVING_FILE = "serving.json"
MODEL_FILE = "model.py"
_ARCHIVES = (".mar", ".tar.gz", ".tgz")
_WEIGHTS = ("weights.safetensors", "model.safetensors", "model.pt", "model.pth", "state_dict.pth", "state-rank0.pt")
_PICKLES = (".pkl", ".pickle", ".joblib", ".dill")
_TORCH = (".pt", ".pth", ".ts")
_SERVED = (
    "a detector (detector.json), a .mar archive, TorchScript (.pt), torch.export (.pt2), ONNX (.onnx), model.py with "
    "weights, a TorchServe folder, or python:module:Class"
)


def load_model(source: Path, options: dict[str, Any]) -> Model:
    """Raises InvalidInput with what is there and what could be served."""
    if str(source).startswith(PREFIX):
        return python_model(str(source), options)
    checked = read_options(options)
    if source.is_dir():
        return _from_folder(source, checked)
    if source.is_file():
        return _from_file(source, checked)
    raise InvalidInput(f"There is nothing at {source}. Served is {_SERVED}.")


def _from_folder(folder: Path, options: Options) -> Model:
    if (folder / MANIFEST_PATH).is_file():
        return _handler(folder, read_manifest(folder, folder.name), options)
    if (folder / DETECTOR_FILE).is_file():
        return _detector(folder, options)
    if is_model_store(folder):
        choice = choose_archive(folder, options.model)
        batch_size = int(choice.settings.get("batchSize", options.batch_size))
        return _from_archive(choice.archive, replace(options, batch_size=batch_size), {"serving": choice.settings})
    if (folder / SERVING_FILE).is_file():
        return _handler(folder, serving_manifest(folder), options)
    if (folder / MODEL_FILE).is_file():
        return _module(folder / MODEL_FILE, weights_of(folder), options)
    return _from_file(_only_file(folder), options)


def _from_file(path: Path, options: Options) -> Model:
    if path.name.endswith(_ARCHIVES):
        return _from_archive(path, options)
    if path.suffix in _PICKLES:
        return _pickled(path, options)
    load = _BY_SUFFIX.get(path.suffix)
    if load is None:
        raise InvalidInput(f"{path.name} cannot be served. Served is {_SERVED}.")
    return load(path, options)


def _from_archive(path: Path, options: Options, extra: dict[str, Any] | None = None) -> Model:
    folder = Path(tempfile.mkdtemp(prefix="resolute-model-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return _handler(folder, extract_archive(path, folder), options, extra)


def serving_manifest(folder: Path) -> Manifest:
    """serving.json of a trained folder, as the manifest that an archive of it would have."""
    try:
        given = json.loads((folder / SERVING_FILE).read_bytes())
        handler = given["handler"]
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInput(f"{SERVING_FILE} is not JSON: {error}.") from None
    except (KeyError, TypeError):
        raise InvalidInput(
            f'{SERVING_FILE} must name a handler: {{"model_file": "model.py", "handler": ...}}.'
        ) from None
    serialized = given.get("serialized_file") or next((name for name in _WEIGHTS if (folder / name).is_file()), None)
    model = {
        "modelName": str(given.get("model_name", "model")),
        "modelVersion": str(given.get("version", "1.0")),
        "handler": handler,
        "serializedFile": serialized,
        "modelFile": given.get("model_file"),
        "requirementsFile": given.get("requirements_file"),
        "configFile": given.get("config_file"),
    }
    document = {"runtime": "python", "model": {key: value for key, value in model.items() if value}}
    manifest = parse_manifest(json.dumps(document), SERVING_FILE)
    for role, name in manifest.files().items():
        if not (folder / name).is_file():
            raise InvalidInput(f"{SERVING_FILE} names {name} as {role}, but there is no such file beside it.")
    return manifest


def _detector(folder: Path, options: Options) -> Model:
    from resolute.serving.runtimes.detector import DetectorModel
    from resolute.vision.checkpoint import read_record
    from resolute.vision.detector import load_detector

    record = read_record(folder)
    extra = {"architecture": record.architecture} | ({"dataset": record.dataset} if record.dataset else {})
    return DetectorModel(load_detector(folder, device=options.device), options, extra)


def _handler(folder: Path, manifest: Manifest, options: Options, extra: dict[str, Any] | None = None) -> Model:
    from resolute.serving.runtimes.handler import HandlerModel

    return HandlerModel(folder.resolve(), manifest, options, extra)


def _pickled(path: Path, options: Options) -> Model:
    if not options.allow_pickle:
        from resolute.serving.weights import refusal_of_pickle

        raise InvalidInput(refusal_of_pickle(path))
    from resolute.serving.runtimes.pickled import pickled_model

    return pickled_model(path)


def _module(model_file: Path, weights: Path, options: Options) -> Model:
    from resolute.serving.runtimes.torch_models import module_model

    return module_model(model_file, weights, options)


def _script_or_weights(path: Path, options: Options) -> Model:
    from resolute.serving.programs import is_script
    from resolute.serving.runtimes.torch_models import script_model

    if is_script(path):
        return script_model(path, options)
    return _with_code_beside(path, options)


def _with_code_beside(path: Path, options: Options) -> Model:
    code = path.parent / MODEL_FILE
    if not code.is_file() and options.allow_pickle and path.suffix in _TORCH:
        from resolute.serving.runtimes.torch_models import pickled_module_model

        return pickled_module_model(path, options)
    if not code.is_file():
        raise InvalidInput(
            f"{path.name} holds weights, but no model. Put {MODEL_FILE} with the model's one class beside it, or "
            "export the model to TorchScript, torch.export or ONNX. A whole model that torch.save wrote is a pickle, "
            "served only if you allow that: --allow-pickle, or serving.allow_pickle: true."
        )
    return _module(code, path, options)


def _program(path: Path, options: Options) -> Model:
    from resolute.serving.runtimes.torch_models import program_model

    return program_model(path, options)


def _onnx(path: Path, options: Options) -> Model:
    from resolute.serving.runtimes.onnx import onnx_model

    return onnx_model(path, options)


_BY_SUFFIX: dict[str, Callable[[Path, Options], Model]] = {
    ".pt": _script_or_weights,
    ".pth": _script_or_weights,
    ".ts": _script_or_weights,
    ".safetensors": _with_code_beside,
    ".pt2": _program,
    ".onnx": _onnx,
}


def weights_of(folder: Path) -> Path:
    for name in _WEIGHTS:
        if (folder / name).is_file():
            return folder / name
    found = sorted(path for path in folder.iterdir() if path.suffix in (".safetensors", ".pt", ".pth"))
    if len(found) != 1:
        listed = ", ".join(path.name for path in found) or "none"
        raise InvalidInput(f"{folder.name} has {MODEL_FILE} and {len(found)} weight files ({listed}); wanted: one.")
    return found[0]


def _only_file(folder: Path) -> Path:
    """The one file that can be served, whatever lies beside it."""
    suffixes = (*_BY_SUFFIX, *_ARCHIVES, *_PICKLES)
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.name.endswith(suffixes))
    if len(found) == 1:
        return found[0]
    held = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
    raise InvalidInput(
        f"{folder.name} holds {held}: {'several files' if found else 'nothing'} to serve. Served is {_SERVED}."
    )
