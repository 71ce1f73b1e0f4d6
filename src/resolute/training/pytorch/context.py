"""What a Trial is given: devices, wrapped models and optimizers, mixed precision, batch sizes, hyperparameters.

It holds what a checkpoint must hold. The training loop itself is the Trainer's.
"""

import contextlib
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from resolute.domain.errors import InvalidInput
from resolute.training.core import Run
from resolute.training.pytorch.data import share_of
from resolute.training.pytorch.distributed import Strategy, gather_objects, pick_device, wrap_for_ranks
from resolute.training.pytorch.reducers import FunctionReducer, MetricReducer, NamedReducer

_log = logging.getLogger("resolute")
O = TypeVar("O", bound=torch.optim.Optimizer)  # noqa: E741

_DTYPES = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}


class StepMode(StrEnum):
    """When a wrapped learning-rate scheduler moves on."""

    STEP_EVERY_BATCH = "batch"
    STEP_EVERY_OPTIMIZER_STEP = "optimizer_step"
    STEP_EVERY_EPOCH = "epoch"
    MANUAL_STEP = "manual"


@dataclass(slots=True)
class Scheduled:
    scheduler: Any
    mode: StepMode
    frequency: int


class LRScheduler:
    """Kept for scripts that write `LRScheduler.StepMode.STEP_EVERY_EPOCH`."""

    StepMode = StepMode


class TrialContext:
    """One per process."""

    def __init__(self, run: Run, *, precision: str = "", global_batch_size: int | None = None) -> None:
        self.run = run
        self.distributed = run.place
        self.device = pick_device(run.place)
        self.models: list[nn.Module] = []
        self.optimizers: list[torch.optim.Optimizer] = []
        self.schedulers: list[Scheduled] = []
        self.reducers: list[NamedReducer] = []
        self.scaler: Any = None
        self.autocast_dtype = self._read_precision(precision)
        self.channels_last = False
        self.aggregation = int(self._optimizations().get("aggregation_frequency") or 1)
        self.steps = 0
        """Batches finished."""
        self.epoch = 0
        self.loss_weight = 1.0
        self._raw: list[nn.Module] = []
        self._stop_requested = False
        self._global_batch_size = global_batch_size
        self._compiled: list[bool] = []

    # -------------------------------------------------------------------------------------------- wrapping

    def wrap_model(
        self, model: nn.Module, *, strategy: Strategy = "ddp", compile: bool = False, channels_last: bool = False
    ) -> nn.Module:
        """Move it to this rank's device and spread it over the ranks. Use the returned module."""
        model = model.to(self.device)
        if channels_last:
            model = model.to(memory_format=torch.channels_last)
            self.channels_last = True
        self._raw.append(model)
        wrapped = wrap_for_ranks(model, self.distributed, self.device, strategy)
        if compile:
            wrapped = torch.compile(wrapped)  # type: ignore[assignment]
        self.models.append(wrapped)
        return wrapped

    def wrap_optimizer(self, optimizer: O, backward_passes_per_step: int = 1) -> O:
        """Gradients of `backward_passes_per_step` batches are averaged before each optimizer step."""
        if backward_passes_per_step > 1:
            self.aggregation = backward_passes_per_step
        self.optimizers.append(optimizer)
        return optimizer

    def wrap_lr_scheduler(
        self, scheduler: Any, step_mode: StepMode = StepMode.STEP_EVERY_EPOCH, frequency: int = 1
    ) -> Any:
        self.schedulers.append(Scheduled(scheduler, StepMode(step_mode), frequency))
        return scheduler

    def wrap_scaler(self, scaler: Any) -> Any:
        self.scaler = scaler
        return scaler

    def wrap_reducer(
        self,
        reducer: MetricReducer | Callable[[list[Any]], Any],
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> Any:
        own = reducer if isinstance(reducer, MetricReducer) else FunctionReducer(reducer)
        self.reducers.append(NamedReducer(own, name, for_training=for_training, for_validation=for_validation))
        return own

    @property
    def raw_models(self) -> list[nn.Module]:
        """The models as the trial made them: their state has no prefixes of wrappers."""
        return self._raw

    # -------------------------------------------------------------------------------------------- stepping

    def backward(self, loss: torch.Tensor, **options: Any) -> None:
        """Backward with loss scaling, gradient averaging and uneven batches taken care of."""
        weight = self.loss_weight / self.aggregation
        if weight != 1.0:
            loss = loss * weight
        if self.scaler is not None:
            loss = self.scaler.scale(loss)
        loss.backward(**options)  # type: ignore[no-untyped-call]

    def step_optimizer(
        self,
        optimizer: torch.optim.Optimizer,
        clip_grads: Callable[[Iterable[torch.Tensor]], Any] | float | None = None,
        auto_zero_grads: bool = True,
        scaler: Any = None,
    ) -> None:
        """Step, unless gradients are still being gathered. `clip_grads`: a largest norm, or a function."""
        if not self.is_aggregation_end():
            return
        scaler = scaler if scaler is not None else self.scaler
        if clip_grads is not None:
            if scaler is not None:
                scaler.unscale_(optimizer)
            _clip(optimizer, clip_grads)
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        if auto_zero_grads:
            optimizer.zero_grad(set_to_none=True)

    def is_aggregation_end(self) -> bool:
        return (self.steps + 1) % self.aggregation == 0

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        if self.autocast_dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=self.autocast_dtype)

    @contextlib.contextmanager
    def gradient_sync(self) -> Any:
        """Inside it, batches in the middle of an aggregation do not talk to the other ranks."""
        with contextlib.ExitStack() as stack:
            if self.aggregation > 1 and not self.is_aggregation_end():
                for model in self.models:
                    if isinstance(model, DistributedDataParallel):
                        stack.enter_context(model.no_sync())
            yield

    def to_device(self, data: Any) -> Any:
        if isinstance(data, torch.Tensor):
            if self.channels_last and data.ndim == 4:
                return data.to(self.device, non_blocking=True, memory_format=torch.channels_last)
            return data.to(self.device, non_blocking=True)
        if isinstance(data, dict):
            return {key: self.to_device(value) for key, value in data.items()}
        if isinstance(data, tuple) and hasattr(data, "_fields"):
            return type(data)(*(self.to_device(value) for value in data))
        if isinstance(data, list | tuple):
            return type(data)(self.to_device(value) for value in data)
        return data

    # ----------------------------------------------------------------------------------------------- facts

    def get_hparam(self, name: str) -> Any:
        if name not in self.run.hparams:
            known = ", ".join(sorted(self.run.hparams)) or "none"
            raise InvalidInput(f"There is no hyperparameter {name!r}; the experiment has: {known}. Add it to the YAML.")
        return self.run.hparams[name]

    def get_hparams(self) -> dict[str, Any]:
        return self.run.hparams

    def get_experiment_config(self) -> dict[str, Any]:
        return self.run.config

    def get_global_batch_size(self) -> int:
        size = self._global_batch_size or self.get_hparam("global_batch_size")
        if not isinstance(size, int) or size < 1:
            raise InvalidInput(f"global_batch_size is {size!r}; it must be a whole number from 1.")
        slots = self.distributed.size
        if size < slots:
            raise InvalidInput(
                f"global_batch_size {size} is smaller than the {slots} slots, so some would have nothing to do. "
                f"Raise it to at least {slots}, or lower resources.slots_per_trial to {size}."
            )
        return size

    def get_per_slot_batch_size(self) -> int:
        """This slot's part of the global batch. A remainder is spread over the first slots, and said once."""
        size, slots = self.get_global_batch_size(), self.distributed.size
        start, end = share_of(size, self.distributed.rank, slots)
        if size % slots and self.distributed.is_chief and not getattr(self, "_said_uneven", False):
            self._said_uneven = True
            _log.warning(
                "global_batch_size %d does not divide by %d slots: %d slots take %d samples, the others %d; "
                "losses are weighted so that the gradient is that of the whole batch.",
                size, slots, size % slots, size // slots + 1, size // slots,
            )  # fmt: skip
        return end - start

    def current_train_batch(self) -> int:
        return self.steps

    def current_train_epoch(self) -> int:
        return self.epoch

    def set_stop_requested(self, stop: bool) -> None:
        """Ask the Trainer to end after the current batch, with a checkpoint. Ranks must agree."""
        self._stop_requested = stop

    def get_stop_requested(self) -> bool:
        return self._stop_requested

    def gather(self, value: Any) -> list[Any]:
        return gather_objects(value, self.distributed.size)

    def _optimizations(self) -> dict[str, Any]:
        return self.run.config.get("optimizations") or {}

    def _read_precision(self, precision: str) -> torch.dtype | None:
        if not precision:
            precision = "fp16" if self._optimizations().get("mixed_precision", "O0") != "O0" else "fp32"
            if precision == "fp16" and self.device.type == "cpu":
                precision = "bf16"  # CPUs have no fast half precision; bf16 needs no scaler.
        if precision not in _DTYPES:
            raise InvalidInput(f"precision is {precision!r}; use one of {', '.join(_DTYPES)}.")
        if precision == "fp16":
            self.scaler = torch.amp.GradScaler(self.device.type)
        return _DTYPES[precision]


def _clip(optimizer: torch.optim.Optimizer, clip: Callable[[Iterable[torch.Tensor]], Any] | float) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if callable(clip):
        clip(parameters)
    else:
        nn.utils.clip_grad_norm_(parameters, float(clip))
