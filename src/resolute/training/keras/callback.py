"""A Keras callback for `model.fit`: reports, checkpoints, stops in time and resumes. Works with every Keras backend."""

import math
from pathlib import Path
from typing import Any

import keras

from resolute.domain.metric import TRAINING, VALIDATION
from resolute.training.core import Run

MODEL_FILE = "model.keras"
_VALIDATION_PREFIX = "val_"


class Callback(keras.callbacks.Callback):  # type: ignore[misc]
    """`model.fit(..., callbacks=[callback], initial_epoch=callback.restore(model))`.

    Training metrics are reported every `report_every` batches (the experiment's scheduling_unit unless given) and at
    each epoch's end; validation metrics keep Keras's names (`val_...`). A checkpoint is made when the searcher's metric
    is better than before (or at each epoch with `checkpoint="all"`), at the end, and when the trial is asked to leave.
    """

    def __init__(self, run: Run, *, report_every: int | None = None, checkpoint: str | None = None) -> None:
        super().__init__()
        self._run = run
        self._report_every = report_every or int(run.config.get("scheduling_unit") or 100)
        self._policy = checkpoint or str(run.config.get("checkpoint_policy") or "best")
        self._steps = 0
        self._epochs = 0
        self._best: float | None = None
        self._saved_at = -1

    def restore(self, model: Any) -> int:
        """Load the trial's latest checkpoint into `model` (compiled, as `fit` will get it); returns the first epoch."""
        restored = self._run.checkpoint.restore()
        if restored is None:
            return 0
        copy_variables(keras.models.load_model(restored.path / MODEL_FILE), model)
        self._steps = self._saved_at = restored.steps
        self._epochs = int(restored.metadata.get("epochs", 0))
        self._best = restored.metadata.get("best")
        return self._epochs

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self._steps += 1
        if logs and self._steps % self._report_every == 0:
            self._run.report(TRAINING, self._steps, numbers(logs))
            self._report_progress()
        if self._run.should_stop():
            self.model.stop_training = True

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        metrics = numbers(logs or {})
        validation = {name: value for name, value in metrics.items() if name.startswith(_VALIDATION_PREFIX)}
        training = {name: value for name, value in metrics.items() if name not in validation}
        if self._run.stopping.agreed:
            return  # The epoch was cut short: it counts as not begun, and on_train_end saves what there is.
        self._epochs = epoch + 1
        if training and self._steps % self._report_every:
            self._run.report(TRAINING, self._steps, training)
        if validation:
            self._run.report(VALIDATION, self._steps, {**validation, **self._time_metric()})
        if self._policy == "all" or (self._policy == "best" and self._is_best(validation)):
            self._save()
        self._report_progress()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        if self._saved_at != self._steps:
            self._save()

    def _save(self) -> None:
        metadata = {"framework": "keras", "epochs": self._epochs, "best": self._best}
        with self._run.checkpoint.store(steps=self._steps, metadata=metadata) as (folder, _):
            if self._run.is_chief:
                self.model.save(folder / MODEL_FILE)
        self._saved_at = self._steps

    def _is_best(self, metrics: dict[str, float]) -> bool:
        searcher = self._run.config.get("searcher") or {}
        value = metrics.get(searcher.get("metric") or next(iter(metrics), ""))
        if value is None or math.isnan(value):
            return not metrics
        is_smaller = searcher.get("smaller_is_better", True)
        if self._best is not None and (value >= self._best if is_smaller else value <= self._best):
            return False
        self._best = value
        return True

    def _time_metric(self) -> dict[str, int]:
        name = (self._run.config.get("searcher") or {}).get("time_metric")
        values = {"batches": self._steps, "epochs": self._epochs}
        return {name: values[name]} if name in values else {}

    def _report_progress(self) -> None:
        epochs, steps = self.params.get("epochs"), self.params.get("steps")
        if epochs and steps:
            self._run.progress(min(self._steps / (epochs * steps), 1.0))


def numbers(logs: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in logs.items()}


def copy_variables(source: Any, target: Any) -> None:
    """Weights, layer states and the optimizer's, from one model to another of the same shape."""
    for theirs, ours in zip(source.variables, target.variables, strict=True):
        ours.assign(theirs)
    if target.optimizer is not None and source.optimizer is not None:
        target.optimizer.build(target.trainable_variables)
        for theirs, ours in zip(source.optimizer.variables, target.optimizer.variables, strict=True):
            ours.assign(theirs)


def load_model(path: str | Path) -> Any:
    """The model in a downloaded checkpoint."""
    return keras.models.load_model(Path(path) / MODEL_FILE)
