"""A checkpoint's manifest: size and sha256 of each file, written at upload and checked at restore. Reads files only."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from resolute.domain.errors import CheckpointDamaged

METADATA_FILE = "metadata.json"


@dataclass(frozen=True, slots=True)
class FileFacts:
    size: int
    sha256: str


def describe_folder(folder: Path) -> dict[str, FileFacts]:
    """Every file below `folder`, by its posix path relative to it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): FileFacts(path.stat().st_size, _sha256(path)) for path in files}


def check_folder(uuid: str, folder: Path, sizes: Mapping[str, int], digests: Mapping[str, str]) -> None:
    """Raises CheckpointDamaged naming every file that is missing or differs."""
    problems = list(_problems(folder, sizes, digests))
    if problems:
        raise CheckpointDamaged(f"Checkpoint {uuid} is damaged: {'; '.join(problems)}.")


def _problems(folder: Path, sizes: Mapping[str, int], digests: Mapping[str, str]) -> Iterable[str]:
    for path, size in sizes.items():
        if path.endswith("/"):
            continue
        file = folder / path
        if not file.is_file():
            yield f"{path} is missing"
        elif file.stat().st_size != size:
            yield f"{path} has {file.stat().st_size} bytes instead of {size}"
        elif path in digests and _sha256(file) != digests[path]:
            yield f"{path} has other content than was saved (sha256 differs)"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
