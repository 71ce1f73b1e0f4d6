"""Training state as a file: torch's zip format, read back without running any code from it."""

import pickle
from pathlib import Path
from typing import Any

import torch

from resolute.domain.errors import CheckpointDamaged, InvalidInput


def write_state(state: Any, path: Path) -> None:
    torch.save(state, path)


def read_state(path: Path) -> Any:
    """Tensors come back on the CPU. Raises InvalidInput for content that only unsafe loading would read."""
    if not path.is_file():
        found = ", ".join(sorted(item.name for item in path.parent.iterdir())) or "nothing"
        raise CheckpointDamaged(f"The checkpoint has no file {path.name}; it holds {found}.")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise InvalidInput(
            f"{path.name} holds more than tensors and plain values, so it is not loaded automatically. "
            f"Save state_dicts and numbers, or read it yourself from {path.parent}. ({str(error).splitlines()[0]})"
        ) from None
    except (RuntimeError, EOFError) as error:
        raise CheckpointDamaged(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None
