"""Which checkpoint a trial starts from: the newest one whose files are all there and unchanged."""

import logging

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import NotFound, ResoluteError
from resolute.domain.log import LogLevel
from resolute.domain.trial import Trial
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow

log = logging.getLogger(__name__)
_LOCAL = frozenset({"shared_fs", "directory"})


def choose_checkpoint(platform: Platform, trial: Trial) -> tuple[str | None, int]:
    """(uuid, steps) to start from. A damaged checkpoint is marked, told about, and passed over."""
    for checkpoint in _candidates(platform, trial):
        fault = find_damage(platform, checkpoint)
        if fault is None:
            steps = checkpoint.steps_completed if checkpoint.trial_id == trial.id else 0
            return checkpoint.uuid, steps
        _mark_damaged(platform, trial, checkpoint, fault)
    return None, 0


def _candidates(platform: Platform, trial: Trial) -> list[Checkpoint]:
    with platform.store.read() as tx:
        own = [c for c in tx.checkpoints.of_trial(trial.id) if c.state is CheckpointState.COMPLETED]
        own.sort(key=lambda c: (c.uuid != trial.latest_checkpoint, -c.steps_completed))
        if trial.warm_start_checkpoint is None:
            return own
        try:
            return [*own, tx.checkpoints.get(trial.warm_start_checkpoint)]
        except NotFound:
            return own


def find_damage(platform: Platform, checkpoint: Checkpoint) -> str | None:
    """A sentence on what is missing or changed; None when it is whole. Digests are read on local storage only:
    elsewhere the trial checks them as it downloads."""
    if not checkpoint.storage:
        return None
    try:
        blobs = platform.blobs(checkpoint.storage)
        present = blobs.files(checkpoint.uuid)
        for path, size in checkpoint.resources.items():
            if path.endswith("/"):
                continue
            if path not in present:
                return f"file {path} is missing"
            if present[path] != size:
                return f"file {path} has {present[path]} bytes, not {size}"
        if checkpoint.storage.get("type") in _LOCAL:
            for path, digest in (checkpoint.digests or {}).items():
                if blobs.digest(checkpoint.uuid, path) != digest:
                    return f"the content of file {path} has changed"
    except NotFound as error:
        return str(error).rstrip(".")
    except ResoluteError as error:
        log.warning("checkpoint %s cannot be checked now: %s", checkpoint.uuid, error)
    return None


def _mark_damaged(platform: Platform, trial: Trial, checkpoint: Checkpoint, fault: str) -> None:
    with flow(platform) as current:
        stored = current.tx.checkpoints.get(checkpoint.uuid)
        if stored.state is checkpoint.state:
            current.move(stored, stored.moved_to(CheckpointState.ERROR), reason=fault)
        current.tell(
            trial.task_id,
            f"Checkpoint {checkpoint.uuid} (step {checkpoint.steps_completed}) cannot be used: {fault}. "
            "Falling back to the one before it.",
            LogLevel.ERROR,
        )
