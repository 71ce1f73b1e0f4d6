"""One run of a trainer: metrics become validation metrics, exported files one checkpoint that can be served.

The checkpoint is written when the trainer has ended, so that it carries the last metrics whichever of the two the
trainer calls first.
"""

import logging
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resolute.client.lifecycle.contract import RECORDING, SECTION, SERVING_FILE, TrialOrder
from resolute.client.lifecycle.files import add_serving
from resolute.client.lifecycle.record import number_of
from resolute.domain.errors import InvalidInput
from resolute.domain.metric import VALIDATION
from resolute.training.core import Run

_TENSORFLOW = "tensorflow"
_FIRST_VERSION = "0001"
"""Model servers for TensorFlow look for numbered folders."""


class TrainerSession:
    """Made by the runner in every process; what it keeps and sends is the chief's."""

    def __init__(self, run: Run, order: TrialOrder, home: Path) -> None:
        self._run = run
        self._order = order
        self._home = home
        self._count = 0
        self._scratch = Path(tempfile.mkdtemp(prefix="resolute-export-"))

    def record(self, metrics: Mapping[str, Any]) -> None:
        if not isinstance(metrics, Mapping) or not metrics:
            raise InvalidInput(f"record_metrics was given {metrics!r}; give a dictionary of names and numbers.")
        values = {str(name): number_of(str(name), value) for name, value in metrics.items()}
        self._count += 1
        self._run.report(VALIDATION, self._count, {**values, RECORDING: self._count})
        # Asked only where searches end trials early: the answer is agreed on by all ranks, so all must be here.
        if self._order.is_stopped_early and self._run.should_stop():
            logging.info("The search ends this trial here: others are better.")
            raise SystemExit(0)

    def export(self, path: str | Path, extra_files: Sequence[str | Path] = ()) -> None:
        """Copies now: the trainer may go on and write over its files."""
        if not self._run.is_chief:
            return
        target = self._scratch / _FIRST_VERSION if self._order.framework == _TENSORFLOW else self._scratch
        for each in (path, *extra_files):
            _copy_into(target, Path(each))

    def finish(self) -> None:
        """Upload what was exported. Nothing was: nothing happens."""
        exported = sorted(str(file.relative_to(self._scratch)) for file in self._scratch.rglob("*") if file.is_file())
        if not exported or not self._run.is_chief:
            return
        facts = {
            "model_id": self._order.model_id,
            "phase": self._order.phase,
            "exported": exported,
            "serving_digest": self._order.serving_digest,
        }
        with self._run.checkpoint.store(steps=self._count, metadata={SECTION: facts}) as (folder, _):
            shutil.copytree(self._scratch, folder, dirs_exist_ok=True)
            if self._order.serving and not (folder / SERVING_FILE).exists():
                files = {name: self._home / name for name in self._order.serving_files}
                add_serving(folder, self._order.serving, files)
        self._run.checkpoint.wait()

    def close(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)


def _copy_into(target: Path, source: Path) -> None:
    """A file under its name; of a folder, what is in it."""
    if not source.exists():
        raise InvalidInput(
            f"upload_model: there is no {str(source)!r} in {Path.cwd()}. Save the model before, and give the same path."
        )
    target.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target / source.name)


_current: list[TrainerSession] = []


def current() -> TrainerSession | None:
    """None where no trainer was started by `Model`: the script runs by itself."""
    return _current[-1] if _current else None


def begin(session: TrainerSession) -> TrainerSession:
    _current.append(session)
    return session


def end(session: TrainerSession) -> None:
    _current.remove(session)
    session.close()
