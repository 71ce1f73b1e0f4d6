"""A checkpoint: files under one uuid chosen by the writer, whole or not there. Pure."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from resolute.domain.errors import InvalidInput
from resolute.domain.transitions import check_move

_UUID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MAX_NAME = 255
"""Bytes of one part of a path: no file system takes more."""


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

    def require_storable(self) -> None:
        """Names become names of files, wherever it is stored. Raises InvalidInput for what could lead elsewhere."""
        if not _UUID.fullmatch(self.uuid):
            raise InvalidInput(
                f"checkpoint: {self.uuid[:80]!r} is no checkpoint id. Use up to 128 letters, digits, '-', '_' and '.'."
            )
        for path, size in self.resources.items():
            parts = path.removesuffix("/").split("/")
            if "\0" in path or "\\" in path or any(p in ("", ".", "..") or len(p.encode()) > _MAX_NAME for p in parts):
                raise InvalidInput(
                    f"checkpoint {self.uuid}: {path[:80]!r} is no path inside it. Use relative paths without '..', and "
                    f"names of up to {_MAX_NAME} bytes."
                )
            if size < 0:
                raise InvalidInput(f"checkpoint {self.uuid}: {path[:80]!r} has {size} bytes; no file has.")

    def moved_to(self, state: CheckpointState) -> "Checkpoint":
        check_move(f"Checkpoint {self.uuid}", ALLOWED, self.state, state)
        return replace(self, state=state)
