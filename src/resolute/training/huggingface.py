"""A callback for Hugging Face's Trainer: reports what it logs, uploads what it saves, stops in time and resumes."""

import shutil
from pathlib import Path
from typing import Any

from transformers import TrainerCallback
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from resolute.domain.metric import TRAINING, VALIDATION
from resolute.training.core import Run

_EVALUATION_PREFIX = "eval_"


class Callback(TrainerCallback):
    """`Trainer(..., callbacks=[callback]).train(resume_from_checkpoint=callback.resume_path(args))`.

    Names are Hugging Face's own (`loss`, `eval_loss`, ...). Asked to leave, the Trainer saves and ends.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def resume_path(self, args: Any) -> str | None:
        """The trial's latest checkpoint, put where the Trainer keeps its own; None on a first start."""
        restored = self._run.checkpoint.restore()
        if restored is None:
            return None
        target = Path(args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{restored.steps}"
        shutil.copytree(restored.path, target, dirs_exist_ok=True)
        return str(target)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if not state.is_world_process_zero or not logs:
            return
        numbers = {name: value for name, value in logs.items() if isinstance(value, int | float)}
        evaluated = {name: value for name, value in numbers.items() if name.startswith(_EVALUATION_PREFIX)}
        trained = {name: value for name, value in numbers.items() if name not in evaluated}
        if evaluated:
            self._run.report(VALIDATION, state.global_step, evaluated)
        elif trained:
            self._run.report(TRAINING, state.global_step, trained)
        if state.max_steps > 0:
            self._run.progress(min(state.global_step / state.max_steps, 1.0))

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        if self._run.should_stop():
            control.should_save = True
            control.should_training_stop = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        source = Path(args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"
        metadata = {"framework": "transformers", "epochs": state.epoch}
        with self._run.checkpoint.store(steps=state.global_step, metadata=metadata) as (folder, _uuid):
            if self._run.is_chief:
                shutil.copytree(source, folder, dirs_exist_ok=True)
