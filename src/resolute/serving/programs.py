"""Files that hold a whole model for torch: TorchScript and torch.export, opened on a device.

No Python code from them runs.
"""

import os
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from resolute.domain.errors import InvalidInput
from resolute.serving.notes import NOTE, Note, read_note, unreadable

_CODE_IN_CONSTANTS = ("custom_obj_", "opaque_obj_")
_ONLY_WEIGHTS = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
_ANY_PICKLE = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"


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
            raise unreadable(path, "TorchScript", error) from None
    import torchvision  # noqa: F401 - registers the operators that detection models call

    try:
        return _script(path, device)
    except RuntimeError as error:
        raise unreadable(path, "TorchScript", error) from None


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
        raise unreadable(path, "a torch.export file", error) from None
    return module.to(device), read_note(extra[NOTE])


def _script(path: Path, device: str) -> tuple[Any, Note]:
    extra = {NOTE: ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch speaks of TorchScript's end; users have such files.
        module = torch.jit.load(path, map_location=device, _extra_files=extra)  # type: ignore[no-untyped-call]
    return module.eval(), read_note(extra[NOTE])


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
