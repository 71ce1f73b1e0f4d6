"""A trial's whole state, to and from a checkpoint: what makes a resumed run equal to one that never stopped.

`shared` is the same on all ranks and written by the chief. `own` is each rank's: its random generators and sums.
"""

import logging
from dataclasses import asdict
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from resolute.domain.errors import InvalidInput
from resolute.training.pytorch.averages import Averages
from resolute.training.pytorch.callbacks import Callback
from resolute.training.pytorch.context import TrialContext
from resolute.training.pytorch.data import Position
from resolute.training.pytorch.rng import capture_rng, restore_rng, seed_everything

_log = logging.getLogger("resolute")
_LISTED = 5


def shared_state(context: TrialContext, position: Position, callbacks: dict[str, Callback], best: float | None) -> Any:
    """Collective where models are sharded: every rank must call it."""
    models, optimizers = _weights(context)
    return {
        "format": 1,
        "models": models,
        "optimizers": optimizers,
        "lr_schedulers": [each.scheduler.state_dict() for each in context.schedulers],
        "scaler": context.scaler.state_dict() if context.scaler is not None else None,
        "steps": context.steps,
        "position": asdict(position),
        "best": best,
        "callbacks": {name: callback.state_dict() for name, callback in callbacks.items()},
        "size": context.distributed.size,
    }


def own_state(averages: Averages) -> dict[str, Any]:
    return {"rng": capture_rng(), "averages": averages.state_dict()}


def restore_shared(context: TrialContext, state: dict[str, Any], callbacks: dict[str, Callback]) -> Position:
    for index, model in enumerate(context.raw_models):
        saved = state["models"][index] if index < len(state["models"]) else {}
        _check_same_model(f"model {index}" if len(context.raw_models) > 1 else "the model", model, saved)
    _load_weights(context, state)
    for scheduled, saved in zip(context.schedulers, state["lr_schedulers"], strict=True):
        scheduled.scheduler.load_state_dict(saved)
    if context.scaler is not None and state["scaler"] is not None:
        context.scaler.load_state_dict(state["scaler"])
    for name, callback in callbacks.items():
        if name in state["callbacks"]:
            callback.load_state_dict(state["callbacks"][name])
    context.steps = state["steps"]
    return Position(**state["position"])


def restore_own(context: TrialContext, state: dict[str, Any] | None, saved_size: int, averages: Averages) -> None:
    size = context.distributed.size
    if state is not None and saved_size == size:
        restore_rng(state["rng"])
        averages.load_state_dict(state["averages"])
        return
    if context.distributed.is_chief:
        _log.warning(
            "The checkpoint was made on %d slots and goes on with %d: no sample is lost or repeated, but the curve "
            "is not bit-exact.", saved_size, size,
        )  # fmt: skip
    seed_everything(context.run.seed + 7919 * context.steps + context.distributed.rank)


def _is_sharded(model: nn.Module) -> bool:
    return any(
        type(parameter).__name__ == "DTensor" or hasattr(parameter, "full_tensor") for parameter in model.parameters()
    )


def _weights(context: TrialContext) -> tuple[list[Any], list[Any]]:
    if not any(_is_sharded(model) for model in context.raw_models):
        return (
            [model.state_dict() for model in context.raw_models],
            [optimizer.state_dict() for optimizer in context.optimizers],
        )
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict

    _check_one_to_one(context)
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    pairs = [get_state_dict(m, o, options=options) for m, o in zip(context.raw_models, context.optimizers, strict=True)]
    return [model for model, _ in pairs], [optimizer for _, optimizer in pairs]


def _load_weights(context: TrialContext, state: dict[str, Any]) -> None:
    if not any(_is_sharded(model) for model in context.raw_models):
        for model, saved in zip(context.raw_models, state["models"], strict=True):
            model.load_state_dict(saved)
        for optimizer, saved in zip(context.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        return
    from torch.distributed.checkpoint.state_dict import StateDictOptions, set_state_dict

    _check_one_to_one(context)
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=dist.is_initialized())
    for index, (model, optimizer) in enumerate(zip(context.raw_models, context.optimizers, strict=True)):
        set_state_dict(
            model,
            optimizer,
            model_state_dict=state["models"][index],
            optim_state_dict=state["optimizers"][index],
            options=options,
        )


def _check_one_to_one(context: TrialContext) -> None:
    if len(context.raw_models) != len(context.optimizers):
        raise InvalidInput(
            f"Sharded training needs one optimizer per model; there are {len(context.raw_models)} models and "
            f"{len(context.optimizers)} optimizers."
        )


def _check_same_model(label: str, model: nn.Module, saved: dict[str, Any]) -> None:
    own = model.state_dict()
    missing = [key for key in own if key not in saved]
    unexpected = [key for key in saved if key not in own]
    shapes = [
        f"{key} ({tuple(saved[key].shape)} saved, {tuple(own[key].shape)} here)"
        for key in own
        if key in saved and isinstance(saved[key], torch.Tensor) and saved[key].shape != own[key].shape
    ]
    parts = [
        f"{title}: {', '.join(keys[:_LISTED])}{f' and {len(keys) - _LISTED} more' if len(keys) > _LISTED else ''}"
        for title, keys in (("only here", missing), ("only in the checkpoint", unexpected), ("other shape", shapes))
        if keys
    ]
    if parts:
        raise InvalidInput(
            f"The checkpoint is of another model than {label}; {'; '.join(parts)}. "
            "Use the hyperparameters it was trained with, or start without it."
        )
