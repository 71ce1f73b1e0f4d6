"""One pass over the validation data, combined over batches and ranks."""

from typing import Any

import torch

from resolute.domain.errors import InvalidInput
from resolute.training.pytorch.callbacks import Callback
from resolute.training.pytorch.context import TrialContext
from resolute.training.pytorch.data import ValidationData
from resolute.training.pytorch.reducers import Reducer
from resolute.training.pytorch.trial import Trial


def evaluate(trial: Trial, context: TrialContext, data: ValidationData, callbacks: list[Callback]) -> dict[str, Any]:
    """Metrics of the whole validation set, the same on every rank."""
    was_training = [model.training for model in context.models]
    for model in context.models:
        model.eval()
    reducers = [each for each in context.reducers if each.for_validation]
    for each in reducers:
        each.reducer.reset()
    try:
        with torch.no_grad(), context.autocast():
            metrics = _full(trial, context, data) if _overrides(trial) else _batches(trial, context, data, callbacks)
    finally:
        for model, mode in zip(context.models, was_training, strict=True):
            model.train(mode)
    for each in reducers:
        metrics |= each.reduce(context.gather)
        each.reducer.reset()
    if not metrics:
        raise InvalidInput("Validation returned no metrics; evaluate_batch must return a mapping of names to numbers.")
    return metrics


def _overrides(trial: Trial) -> bool:
    has_full = type(trial).evaluate_full_dataset is not Trial.evaluate_full_dataset
    has_batch = type(trial).evaluate_batch is not Trial.evaluate_batch
    if has_full == has_batch:
        which = "both" if has_full else "neither"
        raise InvalidInput(
            f"{type(trial).__name__} has {which} of evaluate_batch and evaluate_full_dataset; it needs exactly one."
        )
    return has_full


def _full(trial: Trial, context: TrialContext, data: ValidationData) -> dict[str, Any]:
    metrics = dict(trial.evaluate_full_dataset(data.loader)) if context.distributed.is_chief else None
    found = context.gather(metrics)[0]
    return dict(found)


def _batches(trial: Trial, context: TrialContext, data: ValidationData, callbacks: list[Callback]) -> dict[str, Any]:
    rows: dict[str, list[tuple[Any, int]]] = {}
    outputs: list[Any] = []
    for callback in callbacks:
        callback.on_validation_epoch_start()
    for index, (batch, count) in enumerate(data.batches()):
        output = trial.evaluate_batch(context.to_device(batch), index)
        if callbacks:
            outputs.append(output)
        for name, value in output.items():
            rows.setdefault(name, []).append((value, count))
    for callback in callbacks:
        callback.on_validation_epoch_end(outputs)
    own = {name: [(_number(name, value), count) for value, count in values] for name, values in rows.items()}
    return _combine(context.gather(own), trial.evaluation_reducer())


def _combine(ranks: list[dict[str, list[tuple[float, int]]]], rule: Reducer | dict[str, Reducer]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for rank in ranks for name in rank))
    combined = {}
    for name in names:
        values = [pair for rank in ranks for pair in rank.get(name, [])]
        combined[name] = _reduce(values, rule.get(name, Reducer.AVG) if isinstance(rule, dict) else rule)
    return combined


def _reduce(values: list[tuple[float, int]], reducer: Reducer) -> float:
    numbers = [value for value, _ in values]
    if reducer is Reducer.SUM:
        return sum(numbers)
    if reducer is Reducer.MAX:
        return max(numbers)
    if reducer is Reducer.MIN:
        return min(numbers)
    # Batches may differ in size: weighting by samples gives the mean over the dataset.
    return sum(value * count for value, count in values) / max(sum(count for _, count in values), 1)


def _number(name: str, value: Any) -> float:
    if isinstance(value, torch.Tensor) and value.numel() != 1:
        raise InvalidInput(
            f"evaluate_batch returned {name!r} of shape {tuple(value.shape)}; return one number, or use a reducer."
        )
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"evaluate_batch returned {name!r} as a {type(value).__name__}; return numbers or one-element tensors."
        ) from None
