"""A checkpoint: files under one uuid chosen by the writer, whole or not there. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from resolute.domain.transitions import check_move


class CheckpointState(StrEnum):
    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    PARTIALLY_DELETED = "PARTIALLY_DELETED"
    DELETED = "DELETED"
    ERROR = "ERROR"
    """Its files were found missing or damaged."""


_C = CheckpointState
ALLOWED: dict[CheckpointState, frozenset[CheckpointState]] = {
    _C.ACTIVE: frozenset({_C.COMPLETED, _C.ERROR, _C.DELETED}),
    _C.COMPLETED: frozenset({_C.PARTIALLY_DELETED, _C.DELETED, _C.ERROR}),
    _C.PARTIALLY_DELETED: frozenset({_C.PARTIALLY_DELETED, _C.DELETED, _C.ERROR}),
    _C.ERROR: frozenset({_C.DELETED}),
    _C.DELETED: frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    uuid: str
    state: CheckpointState
    report_time: datetime
    resources: dict[str, int]
    """Path relative to the checkpoint to size in bytes; directories end with `/` and have size 0."""
    metadata: dict[str, object]
    task_id: str | None = None
    allocation_id: str | None = None
    trial_id: int | None = None
    experiment_id: int | None = None
    run_id: int = 0
    steps_completed: int = 0
    storage: dict[str, object] | None = None
    """The `checkpoint_storage` section it was written to."""
    digests: dict[str, str] | None = None
    """sha256 per file, when the writer gave them."""

    @property
    def size(self) -> int:
        return sum(self.resources.values())

    def moved_to(self, state: CheckpointState) -> "Checkpoint":
        check_move(f"Checkpoint {self.uuid}", ALLOWED, self.state, state)
        return replace(self, state=state)
