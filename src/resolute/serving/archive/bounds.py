"""How much of an archive is looked at before it is known to be small: its index must not cost more than its content."""

import gzip
import struct
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from resolute.domain.errors import TooLarge

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_LONGEST_COMMENT = 1 << 16
_BYTES_PER_FILE = 512
"""Of the index: 46, the name, and what is noted beside it."""
_MOST_AT_ONCE = 4 << 20
"""A header of a tar says how long it is, and is read in one go."""


def check_index(path: Path, most_files: int) -> None:
    """Raises TooLarge for a zip whose index is longer than so many files need. Reads its end only."""
    size = _index_bytes(path)
    if size > most_files * _BYTES_PER_FILE:
        raise TooLarge(f"{path.name} has an index of {size:,} bytes; at most {most_files:,} files are unpacked.")


def _index_bytes(path: Path) -> int:
    with path.open("rb") as file:
        length = file.seek(0, 2)
        file.seek(max(0, length - _END.size - _LONGEST_COMMENT))
        start, tail = file.tell(), file.read()
        at = tail.rfind(b"PK\5\6")
        if at < 0 or at + _END.size > len(tail):
            return 0
        size = int(_END.unpack_from(tail, at)[5])
        file.seek(max(0, start + at - _LOCATOR.size))
        locator = file.read(_LOCATOR.size)
        if not locator.startswith(b"PK\6\7"):
            return size
        file.seek(max(0, start + at - _LOCATOR.size - _END_64.size))
        end = file.read(_END_64.size)
        return max(size, int(_END_64.unpack(end)[8])) if end.startswith(b"PK\6\6") else size


class _Bounded:
    """A file of which nobody takes much at once."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MOST_AT_ONCE:
            raise TooLarge(f"{self._name} has a header of {size:,} bytes. It is taken for a decompression bomb.")
        return self._file.read(size)


@contextmanager
def open_tar(path: Path) -> Iterator[tarfile.TarFile]:
    with path.open("rb") as plain:
        is_packed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        unpacked = cast("IO[bytes]", gzip.GzipFile(fileobj=plain)) if is_packed else plain
        with tarfile.open(fileobj=cast("IO[bytes]", _Bounded(unpacked, path.name)), mode="r:") as archive:
            yield archive
