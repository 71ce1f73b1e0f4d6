"""Weights from a file, a checkpoint folder or an object store, into a model. Never from a model hub.

Layouts understood: a plain state dict; one under `model`, `state_dict` or `model_state_dict` (torchvision's scripts);
`models_state_dict[0]` (Determined's `state_dict.pth`); our own checkpoint folders; `.safetensors`. Files are read
without running any code that they may carry.
"""

import argparse
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from resolute.domain.errors import InvalidInput, NotFound
from resolute.vision.storage import fetch_file, is_address
from resolute.vision.zoo.settings import ModelSettings

_log = logging.getLogger("resolute")
M = TypeVar("M", bound=nn.Module)
State = dict[str, torch.Tensor]
_IN_FOLDER = ("weights.safetensors", "model.safetensors", "state_dict.pth", "state-rank0.pt", "checkpoint.pth")
_WRAPPERS = ("module.", "_orig_mod.", "model.")
_LISTED = 4


@dataclass(frozen=True, slots=True)
class LoadedWeights:
    """What came over. `other_shape` is normal for the head of a model with other classes."""

    loaded: int
    other_shape: tuple[str, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


def load_weights(model: nn.Module, place: str | Path, *, model_name: str = "the model") -> LoadedWeights:
    """Copy what fits; what does not is named in the log. Raises when nothing fits at all."""
    state = read_state(place)
    own = model.state_dict()
    state = _without_wrappers(state, own)
    fitting = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    result = LoadedWeights(
        loaded=len(fitting),
        other_shape=tuple(name for name in state if name in own and own[name].shape != state[name].shape),
        missing=tuple(name for name in own if name not in state and not name.endswith("num_batches_tracked")),
        unknown=tuple(name for name in state if name not in own),
    )
    if not fitting:
        raise InvalidInput(
            f"{place} holds no weight that fits {model_name}: its names begin with {_some(list(state))}, the model's "
            f"with {_some(list(own))}. Give weights of the same architecture."
        )
    model.load_state_dict(fitting, strict=False)
    _tell(place, model_name, result)
    return result


def load_trunk(network: M, settings: ModelSettings) -> M:
    """Weights of a classification network into `network`, when the settings name some."""
    if settings.backbone_weights is not None:
        load_weights(network, settings.backbone_weights, model_name=f"the backbone of {settings.name}")
    return network


def read_state(place: str | Path, *, allow_pickle: bool = False) -> State:
    """The state dict at `place`: a path or an address such as s3://bucket/key. `allow_pickle`: its code may run."""
    with _local(place) as path:
        file = _file_of(path)
        content = _read_safetensors(file) if file.suffix == ".safetensors" else _read_torch(file, allow_pickle)
    found = _find_state(content)
    if found is None:
        raise InvalidInput(
            f"{place} holds no model weights; its keys are {_some([str(key) for key in content])}. "
            "Give a state dict, or a file with one under `model` or `state_dict`."
        )
    return found


@contextmanager
def _local(place: str | Path) -> Iterator[Path]:
    if not is_address(str(place)):
        yield Path(place)
        return
    with tempfile.TemporaryDirectory(prefix="resolute-weights-") as folder:
        path = Path(folder) / str(place).rpartition("/")[2]
        fetch_file(str(place), path)
        yield path


def _file_of(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise NotFound(f"There are no weights at {path}. Give a .pth or .safetensors file, or a checkpoint folder.")
    for name in _IN_FOLDER:
        if (path / name).is_file():
            return path / name
    raise NotFound(f"The folder {path} holds none of {', '.join(_IN_FOLDER)}, so there are no weights in it.")


def _read_safetensors(path: Path) -> Any:
    try:
        return load_file(path)
    except (SafetensorError, OSError) as problem:
        raise InvalidInput(f"{path} is not a whole safetensors file: {problem}. Fetch it again.") from problem


def _read_torch(path: Path, allow_pickle: bool) -> Any:
    # Checkpoints of trainers hold the state of numpy's generator and their arguments: data, not code.
    numbers = [np.ndarray, np.dtype, np.dtypes.UInt32DType, np._core.multiarray._reconstruct]  # type: ignore[attr-defined]
    try:
        with torch.serialization.safe_globals([*numbers, argparse.Namespace, PosixPath]):
            return torch.load(path, map_location="cpu", weights_only=not allow_pickle)
    except Exception as problem:  # torch raises many kinds for files that are no checkpoints
        reason = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
        raise InvalidInput(
            f"{path} cannot be read as weights without running code from it: {reason} "
            "Save its state dict with torch.save or safetensors and give that file."
        ) from problem


def _find_state(content: Any) -> State | None:
    if isinstance(content, nn.Module):
        return content.state_dict()
    if not isinstance(content, Mapping):
        return None
    for key in ("model", "state_dict", "model_state_dict"):
        if isinstance(content.get(key), Mapping):
            return _find_state(content[key])
    for key in ("models_state_dict", "models"):
        if isinstance(content.get(key), list) and content[key]:
            return _find_state(content[key][0])
    if isinstance(content.get("shared"), Mapping):
        return _find_state(content["shared"])
    tensors = {str(name): value for name, value in content.items() if isinstance(value, torch.Tensor)}
    return tensors or None


def _without_wrappers(state: State, own: Mapping[str, Any]) -> State:
    """Names as the model has them: data parallelism and compilation put words in front."""
    while state and not any(name in own for name in state):
        prefix = next((each for each in _WRAPPERS if all(name.startswith(each) for name in state)), None)
        if prefix is None:
            return state
        state = {name.removeprefix(prefix): value for name, value in state.items()}
    return state


def _tell(place: str | Path, model_name: str, result: LoadedWeights) -> None:
    _log.info("%d weights of %s come from %s.", result.loaded, model_name, place)
    kinds = (
        ("have another shape and start anew", result.other_shape),
        ("are not in it and start anew", result.missing),
        ("of it are not used", result.unknown),
    )
    for what, names in kinds:
        if names:
            _log.warning("%s: %d weights %s: %s.", place, len(names), what, _some(list(names)))


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(names[:_LISTED]) or "nothing") + more
