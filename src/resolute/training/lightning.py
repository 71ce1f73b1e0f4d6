"""A Lightning callback: reports, checkpoints, stops in time and resumes. Lightning's own loop stays in charge."""

from typing import Any

import lightning

from resolute.domain.metric import TRAINING, VALIDATION
from resolute.training.core import Run

CHECKPOINT_FILE = "lightning.ckpt"


class Callback(lightning.Callback):
    """`Trainer(callbacks=[callback]).fit(model, ckpt_path=callback.resume_path())`.

    What the module logs is reported: training values every `report_every` steps, validation values after each
    validation. A checkpoint is made after each validation, at the end, and when the trial is asked to leave.
    """

    def __init__(self, run: Run, *, report_every: int | None = None) -> None:
        self._run = run
        self._report_every = report_every or int(run.config.get("scheduling_unit") or 100)
        self._saved_at = -1

    def resume_path(self) -> str | None:
        """Lightning's checkpoint inside the trial's latest one; None on a first start."""
        restored = self._run.checkpoint.restore()
        if restored is None:
            return None
        self._saved_at = restored.steps
        return str(restored.path / CHECKPOINT_FILE)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        steps = trainer.global_step
        if steps and steps % self._report_every == 0:
            self._report(trainer, TRAINING, steps, is_validation=False)
        if self._run.should_stop():
            trainer.should_stop = True

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if trainer.sanity_checking:
            return
        self._report(trainer, VALIDATION, trainer.global_step, is_validation=True)
        self._save(trainer)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self._saved_at != trainer.global_step:
            self._save(trainer)

    def _report(self, trainer: Any, group: str, steps: int, *, is_validation: bool) -> None:
        metrics = {
            name: value
            for name, value in trainer.callback_metrics.items()
            if name.startswith(("val", "test")) == is_validation
        }
        if metrics:
            self._run.report(group, steps, metrics)
        if trainer.estimated_stepping_batches and trainer.estimated_stepping_batches != float("inf"):
            self._run.progress(min(steps / trainer.estimated_stepping_batches, 1.0))

    def _save(self, trainer: Any) -> None:
        """Every rank enters: sharded strategies write from all of them, the others from the first."""
        steps = trainer.global_step
        metadata = {"framework": "lightning", "epochs": trainer.current_epoch}
        with self._run.checkpoint.store(steps=steps, metadata=metadata, shard=self._run.size > 1) as (folder, _):
            trainer.save_checkpoint(folder / CHECKPOINT_FILE)
        self._saved_at = steps
