"""A trained detector on disk: `detector.json` says what it is, `weights.safetensors` holds its weights.

The same two files lie in a trainer's checkpoint, in a registered model version and beside a model server.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.preprocessing import Preprocessing, from_dict
from resolute.vision.detections import ClassName

RECORD_FILE = "detector.json"
WEIGHTS_FILE = "weights.safetensors"
_KIND = "detector"
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorRecord:
    architecture: str
    classes: tuple[ClassName, ...]
    options: dict[str, Any] = field(default_factory=dict)
    """What `build_model` needs to build the same model again."""
    dataset: str | None = None
    """`name:version` of what it was trained on."""
    training: dict[str, Any] = field(default_factory=dict)
    preprocessing: Preprocessing | None = None
    """How the pictures were made that it learnt from."""

    @property
    def num_classes(self) -> int:
        """With the background."""
        return len(self.classes) + 1


def write_detector(folder: Path, record: DetectorRecord, weights: Mapping[str, torch.Tensor]) -> None:
    content = {"kind": _KIND, "format": _FORMAT, **asdict(record)}
    content["preprocessing"] = record.preprocessing.as_dict() if record.preprocessing else None
    # A tensor that shares memory with another, or lies transposed, cannot be written as it is.
    plain = {name: value.detach().cpu().contiguous().clone() for name, value in weights.items()}
    save_file(plain, folder / WEIGHTS_FILE, metadata={"architecture": record.architecture})
    (folder / RECORD_FILE).write_text(json.dumps(content, indent=1) + "\n")


def read_record(folder: Path) -> DetectorRecord:
    """Raises NotFound or InvalidInput when `folder` does not hold a detector that this version can read."""
    path = folder / RECORD_FILE
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}. Give the folder of a checkpoint.")
    if not path.is_file():
        raise NotFound(
            f"{folder} has no {RECORD_FILE}, so it is not a detector's checkpoint. "
            "Those of `python -m resolute.vision.train` have one."
        )
    try:
        content = json.loads(path.read_text())
        return _record(content, path)
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"{path} is not JSON: {problem}. Was it cut off while being copied?") from problem
    except (KeyError, TypeError, ValueError) as problem:
        raise InvalidInput(f"{path} is not whole: {type(problem).__name__} at {problem}. Fetch it again.") from problem


def read_weights(folder: Path) -> dict[str, torch.Tensor]:
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise NotFound(f"{folder} has no {WEIGHTS_FILE}, so the detector has no weights. Fetch the whole checkpoint.")
    try:
        weights: dict[str, torch.Tensor] = load_file(path)
        return weights
    except (SafetensorError, OSError) as problem:
        raise InvalidInput(f"{path} is damaged: {problem}. Fetch the checkpoint again.") from problem


def _record(content: Any, path: Path) -> DetectorRecord:
    kind = content.get("kind") if isinstance(content, dict) else type(content).__name__
    if kind != _KIND:
        raise InvalidInput(f"{path} does not describe a detector, its kind is {kind!r}. Give a detector's checkpoint.")
    if content["format"] != _FORMAT:
        raise InvalidInput(
            f"{path} has format {content['format']}; this version reads format {_FORMAT}. Install a newer resolute."
        )
    return DetectorRecord(
        architecture=str(content["architecture"]),
        classes=tuple(ClassName(int(row["id"]), str(row["name"])) for row in content["classes"]),
        options=dict(content.get("options") or {}),
        dataset=content.get("dataset"),
        training=dict(content.get("training") or {}),
        preprocessing=from_dict(content.get("preprocessing"), str(path)),
    )
