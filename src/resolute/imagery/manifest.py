"""What a stored set consists of: every file with its size and sha256. Pure but for hashing a file."""

import hashlib
from pathlib import Path, PurePosixPath

import msgspec

from resolute.domain.errors import InvalidInput

MANIFEST = "resolute-manifest.json"
PARTIAL = "resolute-manifest.partial.json"
"""Written while a push goes on, so that the next one knows what is there already."""


class StoredFile(msgspec.Struct, frozen=True):
    path: str
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    files: list[StoredFile] = []
    version: int = 1

    def by_path(self) -> dict[str, StoredFile]:
        return {file.path: file for file in self.files}


def encode(files: list[StoredFile]) -> bytes:
    ordered = sorted(files, key=lambda file: file.path)
    return msgspec.json.format(msgspec.json.encode(Manifest(ordered)), indent=1)


def decode(text: bytes, place: str) -> Manifest:
    """Refuses names that would leave the folder they are pulled into."""
    try:
        manifest = msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as problem:
        raise InvalidInput(f"The manifest at {place} is damaged: {problem}. Push the set again.") from problem
    for file in manifest.files:
        path = PurePosixPath(file.path)
        if path.is_absolute() or ".." in path.parts or "\\" in file.path or not path.parts:
            raise InvalidInput(f"The manifest at {place} names {file.path!r}, outside of the set. It is not trusted.")
    return manifest


def describe(root: Path, path: Path) -> StoredFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return StoredFile(path.relative_to(root).as_posix(), path.stat().st_size, digest)


def files_of(root: Path) -> list[Path]:
    """Every file below, sorted, without our own manifests and files that are still being written."""
    skipped = {MANIFEST, PARTIAL}
    return sorted(p for p in root.rglob("*") if p.is_file() and p.name not in skipped and p.suffix != ".part")
