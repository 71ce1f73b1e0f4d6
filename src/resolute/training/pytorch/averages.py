"""Running means of training metrics that never make the device wait: tensors are summed where they are."""

from collections.abc import Mapping
from typing import Any

import torch

from resolute.domain.errors import InvalidInput


class Averages:
    """Sums since the last report. Its state travels in checkpoints, so that a resumed curve has the same points."""

    def __init__(self) -> None:
        self._pending: list[Any] = []
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def add(self, output: Any) -> None:
        """Takes what `train_batch` returned; its numbers are looked at when someone asks."""
        if isinstance(output, torch.Tensor):
            self._pending.append(output.detach())
        elif isinstance(output, Mapping):
            self._pending.append({k: v.detach() if isinstance(v, torch.Tensor) else v for k, v in output.items()})
        else:
            self._pending.append(output)

    def means(self) -> dict[str, float]:
        self._fold()
        return {name: total / self._counts[name] for name, total in self._sums.items()}

    def totals(self) -> dict[str, tuple[float, int]]:
        self._fold()
        return {name: (total, self._counts[name]) for name, total in self._sums.items()}

    def reset(self) -> None:
        self._pending.clear()
        self._sums, self._counts = {}, {}

    def fold_if_long(self, limit: int = 256) -> None:
        """Keep memory bounded between far-apart reports."""
        if len(self._pending) >= limit:
            self._fold()

    def state_dict(self) -> dict[str, Any]:
        self._fold()
        return {"sums": dict(self._sums), "counts": dict(self._counts)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._pending.clear()
        self._sums, self._counts = dict(state["sums"]), dict(state["counts"])

    def _fold(self) -> None:
        columns: dict[str, list[Any]] = {}
        for output in self._pending:
            for name, value in _named(output).items():
                columns.setdefault(name, []).append(value)
        self._pending.clear()
        for name, values in columns.items():
            total = self._sums.get(name, 0.0)
            for number in _numbers(name, values):
                total += number
            self._sums[name] = total
            self._counts[name] = self._counts.get(name, 0) + len(values)


def combine(totals: list[dict[str, tuple[float, int]]]) -> dict[str, float]:
    """Means over all ranks, each batch counting the same."""
    names = list(dict.fromkeys(name for each in totals for name in each))
    return {
        name: sum(each[name][0] for each in totals if name in each)
        / max(sum(each[name][1] for each in totals if name in each), 1)
        for name in names
    }


def _named(output: Any) -> Mapping[str, Any]:
    if output is None:
        return {}
    return output if isinstance(output, Mapping) else {"loss": output}


def _numbers(name: str, values: list[Any]) -> list[float]:
    if all(isinstance(value, torch.Tensor) and value.numel() == 1 for value in values):
        # One transfer, one wait, however many values there are.
        return [float(number) for number in torch.stack([value.reshape(()) for value in values]).tolist()]
    return [_number(name, value) for value in values]


def _number(name: str, value: Any) -> float:
    if isinstance(value, torch.Tensor) and value.numel() != 1:
        raise InvalidInput(f"train_batch returned {name!r} of shape {tuple(value.shape)}; return one number each.")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"train_batch returned {name!r} as a {type(value).__name__}; return numbers or one-element tensors."
        ) from None
