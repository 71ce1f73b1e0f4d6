"""Accelerate: a tracker that reports, and two functions that save and restore what the Accelerator prepared."""

from typing import Any

from accelerate.tracking import GeneralTracker

from resolute.domain.metric import TRAINING
from resolute.training.core import Run


class Tracker(GeneralTracker):  # type: ignore[misc]
    """`Accelerator(log_with=[Tracker(run)])`; then `accelerator.log({...}, step=n)` reports.

    Names that start with `val` or `eval` go to group `validation`, the others to `training`.
    """

    name = "resolute"
    requires_logging_directory = False
    main_process_only = True

    def __init__(self, run: Run) -> None:
        super().__init__(_blank=True)
        self._run = run
        self._step = 0

    @property
    def tracker(self) -> Run:
        return self._run

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """The experiment's YAML holds the configuration already."""

    def log(self, values: dict[str, Any], step: int | None = None, **_: Any) -> None:
        self._step = self._step + 1 if step is None else step
        validation = {name: value for name, value in values.items() if name.startswith(("val", "eval"))}
        training = {name: value for name, value in values.items() if name not in validation}
        for group, metrics in ((TRAINING, training), ("validation", validation)):
            if metrics:
                self._run.report(group, self._step, metrics)


def save(accelerator: Any, run: Run, *, steps: int, metadata: dict[str, Any] | None = None) -> str:
    """Everything the Accelerator prepared or registered, from all ranks, into one checkpoint."""
    facts = {"framework": "accelerate", **(metadata or {})}
    with run.checkpoint.store(steps=steps, metadata=facts, shard=run.size > 1) as (folder, uuid):
        accelerator.save_state(str(folder))
    return uuid


def restore(accelerator: Any, run: Run) -> int:
    """Load the trial's latest checkpoint; returns its steps, 0 on a first start."""
    restored = run.checkpoint.restore()
    if restored is None:
        return 0
    accelerator.load_state(str(restored.path))
    return restored.steps
