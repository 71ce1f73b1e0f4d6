"""A checkpoint stripped to the weights of its model, whoever wrote it. No code of the file runs unless it is allowed.

Layouts: our checkpoint folders and detectors, Determined's `state_dict.pth`, torchvision's {"model": ...}, plain state
dicts, safetensors, TorchScript.
"""

import re
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from resolute.domain.errors import InvalidInput
from resolute.serving.programs import is_script, read_script
from resolute.vision.zoo.weights import read_state

WRAPPERS = ("module.", "_orig_mod.")
"""Put in front of every name by data parallelism and by torch.compile."""
PICKLES = (".pkl", ".pickle", ".joblib", ".dill", ".npy")
HOW_TO_ALLOW = (
    "If you trust whoever wrote it with this process, allow it: --allow-pickle, or serving.allow_pickle: true."
)
_GLOBAL = re.compile(r"GLOBAL ([\w.]+)")


def strip_checkpoint(path: Path, *, allow_pickle: bool = False) -> dict[str, Tensor]:
    """The first model's state dict, on the CPU, names without wrappers."""
    if path.suffix in PICKLES:
        raise InvalidInput(refusal_of_pickle(path))
    if path.is_file() and is_script(path):
        return dict(read_script(path)[0].state_dict())
    try:
        state = read_state(path, allow_pickle=allow_pickle)
    except InvalidInput as refused:
        raise _explained(path, refused) from refused.__cause__
    return _unwrapped(state)


def load_weights(model: nn.Module, path: Path, *, allow_pickle: bool = False) -> None:
    """Every weight, none left over. Raises InvalidInput that names the first differences."""
    state = strip_checkpoint(path, allow_pickle=allow_pickle)
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise InvalidInput(
            f"{path.name} does not fit {type(model).__name__}: {' '.join(lines[1:3])[:400]} "
            "Use the model file that these weights were trained with."
        ) from None


def write_safetensors(state: dict[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Tensors that share memory are written once each: safetensors knows no sharing."""
    seen: set[int] = set()
    separate: dict[str, Tensor] = {}
    for name, value in state.items():
        tensor = value.detach().cpu().contiguous()
        start = tensor.untyped_storage().data_ptr()
        separate[name] = tensor.clone() if start in seen else tensor
        seen.add(start)
    save_file(separate, path, metadata or {"format": "pt"})


def write_state_dict(state: dict[str, Tensor], path: Path) -> None:
    torch.save({name: value.detach().cpu() for name, value in state.items()}, path)


def refusal_of_pickle(path: Path) -> str:
    return (
        f"{path.name} is a pickle: loading it would run whatever code it carries, so it is not served. Save weights as "
        f"safetensors, or export the model to ONNX, TorchScript or torch.export. {HOW_TO_ALLOW}"
    )


def _explained(path: Path, refused: InvalidInput) -> InvalidInput:
    found = _GLOBAL.search(str(refused.__cause__))
    if found is None:
        return refused
    return InvalidInput(
        f"{path.name} asks for `{found.group(1)}` to be run while it is loaded. It is refused: weights are read as "
        f"data only. Save them with torch.save(model.state_dict(), ...) or as safetensors. {HOW_TO_ALLOW}"
    )


def _unwrapped(state: dict[str, Tensor]) -> dict[str, Tensor]:
    for prefix in WRAPPERS * 2:
        if state and all(name.startswith(prefix) for name in state):
            state = {name.removeprefix(prefix): value for name, value in state.items()}
    return state
