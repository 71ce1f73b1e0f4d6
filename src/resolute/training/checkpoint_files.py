"""What a trial asks of the store its checkpoints go to: less than the master does, and nothing of the engine."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol


class CheckpointFiles(Protocol):
    """Files by the uuid of their checkpoint and their relative path. Raises Unavailable when a retry may help."""

    def files(self, uuid: str) -> dict[str, int]:
        """Relative path to size; empty when there is nothing."""

    def read(self, uuid: str, path: str) -> Iterator[bytes]:
        """Chunks. Raises NotFound."""

    def write(self, uuid: str, path: str, content: bytes) -> None: ...
    def upload(self, uuid: str, source: Path) -> dict[str, int]:
        """All files under `source`; returns relative path to size."""

    def download(self, uuid: str, target: Path, paths: Sequence[str] | None = None) -> None: ...
    def remove(self, uuid: str, globs: Sequence[str]) -> dict[str, int]:
        """Delete what matches; returns what is left."""
