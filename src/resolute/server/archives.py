"""A checkpoint as one download: tar, tar.gz or zip, made while it is sent. Holds one chunk at a time in memory."""

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from resolute.engine.ports.blobs import Blobs

_BLOCK = 512
_CHUNK = 1 << 20


def tar_chunks(blobs: Blobs, uuid: str, files: dict[str, int]) -> Iterator[bytes]:
    """`files`: relative path to size."""
    for path, size in sorted(files.items()):
        entry = tarfile.TarInfo(path)
        entry.size, entry.mode = size, 0o644
        yield entry.tobuf(tarfile.PAX_FORMAT)
        yield from blobs.read(uuid, path)
        yield b"\0" * (-size % _BLOCK)
    yield b"\0" * 2 * _BLOCK


def path_chunks(root: Path) -> Iterator[bytes]:
    """A file or folder of this machine as a tar, under its own name."""
    for path in [root] if root.is_file() else sorted(each for each in root.rglob("*") if each.is_file()):
        entry = tarfile.TarInfo(path.relative_to(root.parent).as_posix())
        entry.size, entry.mode = path.stat().st_size, 0o644
        yield entry.tobuf(tarfile.PAX_FORMAT)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
        yield b"\0" * (-entry.size % _BLOCK)
    yield b"\0" * 2 * _BLOCK


def tar_gz_chunks(blobs: Blobs, uuid: str, files: dict[str, int]) -> Iterator[bytes]:
    # Weights hardly compress: the fastest level costs least.
    zipper = zlib.compressobj(level=1, wbits=31)
    for chunk in tar_chunks(blobs, uuid, files):
        packed = zipper.compress(chunk)
        if packed:
            yield packed
    yield zipper.flush()


def zip_chunks(blobs: Blobs, uuid: str, files: dict[str, int]) -> Iterator[bytes]:
    sink = _Sink()
    with zipfile.ZipFile(cast(IO[bytes], sink), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(files):
            with archive.open(path, "w", force_zip64=True) as entry:
                for chunk in blobs.read(uuid, path):
                    entry.write(chunk)
                    yield sink.drained()
            yield sink.drained()
    yield sink.drained()


class _Sink:
    """A file that cannot be sought; what is written waits until it is drained."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._chunks.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits anywhere else."""

    def drained(self) -> bytes:
        data = b"".join(self._chunks)
        self._chunks.clear()
        return data


FORMATS: dict[str, tuple[str, Callable[[Blobs, str, dict[str, int]], Iterator[bytes]]]] = {
    "application/gzip": ("tar.gz", tar_gz_chunks),
    "application/x-tar": ("tar", tar_chunks),
    "application/zip": ("zip", zip_chunks),
}
