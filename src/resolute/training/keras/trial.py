"""The class form for Keras on torch: the PyTorch Trainer drives it, so slots, periods and exact resume are the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import Dataset

from resolute.domain.errors import InvalidInput
from resolute.training.keras.callback import MODEL_FILE
from resolute.training.pytorch.callbacks import Callback
from resolute.training.pytorch.context import TrialContext
from resolute.training.pytorch.data import DataLoader
from resolute.training.pytorch.trial import Trial as PyTorchTrial


class Trial(PyTorchTrial):
    """Subclass it: `build_model` returns a compiled model, the loaders return `(x, y)` arrays or torch loaders.

    Validation metrics are reported under Keras's names, `val_loss` and so on.
    """

    def __init__(self, context: TrialContext) -> None:
        super().__init__(context)
        if keras.backend.backend() != "torch":
            raise InvalidInput(
                f"resolute.keras.Trial needs the torch backend, not {keras.backend.backend()!r}. "
                "Set KERAS_BACKEND=torch, or use resolute.keras.Callback with model.fit, which takes every backend."
            )
        self._is_built = False
        keras.utils.set_random_seed(context.run.seed % 2**32)
        self.model = self.build_model()
        if not self.model.compiled:
            raise InvalidInput(f"{type(self).__name__}.build_model returned a model that is not compiled; compile it.")
        if context.distributed.size > 1:
            _average_gradients(self.model.optimizer, context)

    def build_model(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} needs build_model.")

    def training_data(self) -> Any:
        return _as_loader(self.build_training_data_loader(), shuffle=True)

    def validation_data(self) -> Any:
        return _as_loader(self.build_validation_data_loader(), shuffle=False)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
        self.model.train()
        if not self._is_built:
            self._is_built = True
            return self.model.train_on_batch(*batch[:2], return_dict=True)
        # The same step without Keras's checks around it, which cost more than a small model's step.
        self.model.reset_metrics()
        return self.model.train_step(tuple(batch[:2]))

    def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        self.model.eval()
        metrics = self.model.test_on_batch(*batch[:2], return_dict=True)
        return {f"val_{name}": value for name, value in metrics.items()}

    def build_callbacks(self) -> dict[str, Callback]:
        return {"keras": ModelState(self.model)}


class ModelState(Callback):
    """Carries the model's and optimizer's variables in checkpoints, and adds a `model.keras` for everyone."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def on_trial_startup(self, first_batch_idx: int, checkpoint_uuid: str | None) -> None:
        if dist.is_initialized():
            for variable in self._model.variables:
                dist.broadcast(variable.value.data, src=0)

    def on_checkpoint_write_end(self, checkpoint_dir: Path) -> None:
        self._model.save(checkpoint_dir / MODEL_FILE)

    def state_dict(self) -> dict[str, Any]:
        self._build_optimizer()
        return {"model": _values(self._model), "optimizer": _values(self._model.optimizer)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._build_optimizer()
        _check_shapes(state["model"], _values(self._model))
        for owner, values in ((self._model, state["model"]), (self._model.optimizer, state["optimizer"])):
            for variable, value in zip(owner.variables, values, strict=True):
                variable.assign(value)

    def _build_optimizer(self) -> None:
        if not self._model.optimizer.built:
            self._model.optimizer.build(self._model.trainable_variables)


class _Arrays(Dataset[Any]):
    def __init__(self, arrays: Sequence[Any]) -> None:
        self._arrays = [np.asarray(array) for array in arrays]
        lengths = {len(array) for array in self._arrays}
        if len(lengths) != 1:
            raise InvalidInput(f"The data arrays have different lengths: {sorted(lengths)}; they must be the same.")

    def __len__(self) -> int:
        return len(self._arrays[0])

    def __getitem__(self, index: int) -> Any:
        return tuple(array[index] for array in self._arrays)


def _as_loader(data: Any, *, shuffle: bool) -> Any:
    """`(x, y)` arrays as a loader; anything else is passed through."""
    return DataLoader(_Arrays(data), shuffle=shuffle) if isinstance(data, tuple) else data


def _average_gradients(optimizer: Any, context: TrialContext) -> None:
    """Before each update, gradients become the mean over ranks, each weighted by its share of the global batch."""
    apply = optimizer.apply
    size = context.distributed.size

    def averaged(grads: Any, trainable_variables: Any = None) -> Any:
        for gradient in grads:
            gradient.mul_(context.loss_weight / size)
            dist.all_reduce(gradient)
        return apply(grads, trainable_variables)

    optimizer.apply = averaged


def _values(owner: Any) -> list[torch.Tensor]:
    return [torch.as_tensor(keras.ops.convert_to_numpy(variable)) for variable in owner.variables]


def _check_shapes(saved: list[torch.Tensor], own: list[torch.Tensor]) -> None:
    theirs, ours = [tuple(value.shape) for value in saved], [tuple(value.shape) for value in own]
    if theirs != ours:
        raise InvalidInput(
            f"The checkpoint is of another model: its variables have shapes {theirs}, this model's {ours}. "
            "Use the hyperparameters it was trained with, or start without it."
        )
