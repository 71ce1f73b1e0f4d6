"""Port of checkpoint files."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol


class Blobs(Protocol):
    """Files of checkpoints in one `checkpoint_storage`. Keys are `<uuid>/<relative path>`."""

    def files(self, uuid: str) -> dict[str, int]:
        """Relative path to size; empty when there is nothing."""

    def read(self, uuid: str, path: str) -> Iterator[bytes]:
        """Chunks. Raises NotFound."""

    def digest(self, uuid: str, path: str) -> str:
        """sha256 hex of the stored bytes."""

    def write(self, uuid: str, path: str, content: bytes) -> None: ...
    def upload(self, uuid: str, source: Path, paths: Sequence[str] | None = None) -> dict[str, int]:
        """Files under `source` (all, or just `paths`), in parallel; returns relative path to size."""

    def download(self, uuid: str, target: Path, paths: Sequence[str] | None = None) -> None: ...
    def remove(self, uuid: str, globs: Sequence[str] = ("**/*",)) -> dict[str, int]:
        """Delete what matches; returns what is left."""

    def remove_folder(self, path: str) -> None:
        """Delete all files below a folder beside the checkpoints; fine when there are none."""


BlobStores = Callable[[dict[str, object]], Blobs]
"""Opens the store that a `checkpoint_storage` section describes."""
