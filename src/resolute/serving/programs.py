"""Files that hold a whole model: TorchScript, torch.export and ONNX, opened on a device. No Python code from them runs.

What Resolute exports carries a note (`NOTE`): kind, classes, inputs and outputs, so that it is served without options.
"""

import json
import os
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from resolute.domain.errors import InvalidInput

NOTE = "resolute.json"
_CODE_IN_CONSTANTS = ("custom_obj_", "opaque_obj_")
_ONLY_WEIGHTS = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
_ANY_PICKLE = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
Note = dict[str, Any]


def is_script(path: Path) -> bool:
    """TorchScript, as opposed to a state dict: both are zip files of the same suffixes."""
    names = _names(path)
    return any(name.endswith("/constants.pkl") for name in names) and any("/code/" in name for name in names)


def is_program(path: Path) -> bool:
    """What torch.export.save writes."""
    return any(name.endswith("/archive_format") for name in _names(path))


def read_script(path: Path, device: str = "cpu") -> tuple[Any, Note]:
    try:
        return _script(path, device)
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise _unreadable(path, "TorchScript", error) from None
    import torchvision  # noqa: F401 - registers the operators that detection models call

    try:
        return _script(path, device)
    except RuntimeError as error:
        raise _unreadable(path, "TorchScript", error) from None


def read_program(path: Path, device: str = "cpu") -> tuple[Any, Note]:
    """The callable of an exported program."""
    _refuse_objects(path)
    import torchvision  # noqa: F401 - registers the operators that detection models call

    extra = {NOTE: ""}
    try:
        with _weights_only(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.load(path, extra_files=extra)
            module = program.module()
    except Exception as error:
        raise _unreadable(path, "a torch.export file", error) from None
    return module.to(device), _note(extra[NOTE])


def open_session(path: Path, device: str = "cpu") -> Any:
    """An onnxruntime session with as many threads as OMP_NUM_THREADS says."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 0)
    options.log_severity_level = 3
    wanted = ["CUDAExecutionProvider"] if device.startswith("cuda") else []
    providers = [each for each in (*wanted, "CPUExecutionProvider") if each in onnxruntime.get_available_providers()]
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=providers)
    except Exception as error:
        raise _unreadable(path, "ONNX", error) from None


def session_note(session: Any) -> Note:
    return _note(session.get_modelmeta().custom_metadata_map.get(NOTE, ""))


def _script(path: Path, device: str) -> tuple[Any, Note]:
    extra = {NOTE: ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch speaks of TorchScript's end; users have such files.
        module = torch.jit.load(path, map_location=device, _extra_files=extra)  # type: ignore[no-untyped-call]
    return module.eval(), _note(extra[NOTE])


def _refuse_objects(path: Path) -> None:
    carried = [name for name in _names(path) if name.rpartition("/")[2].startswith(_CODE_IN_CONSTANTS)]
    if carried:
        raise InvalidInput(
            f"{path.name} carries Python objects ({carried[0]}) whose loading can run code. It is refused: export the "
            "model without them."
        )


@contextmanager
def _weights_only() -> Iterator[None]:
    """torch.export.load unpickles freely where it may; this holds every torch.load within to plain data."""
    before = {name: os.environ.pop(name, None) for name in (_ONLY_WEIGHTS, _ANY_PICKLE)}
    os.environ[_ONLY_WEIGHTS] = "1"
    try:
        yield
    finally:
        del os.environ[_ONLY_WEIGHTS]
        os.environ.update({name: value for name, value in before.items() if value is not None})


def _names(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return []


def _note(text: str | bytes) -> Note:
    try:
        note = json.loads(text or "{}")
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def _unreadable(path: Path, kind: str, error: Exception) -> InvalidInput:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return InvalidInput(f"{path.name} cannot be read as {kind}: {lines[0][:300] if lines else type(error).__name__}.")
