"""The manifest of a dataset: every file with its size and sha256, as JSON lines. Pure.

Sorted and written in one way, so that equal files give equal bytes, and the sha256 of those bytes names the content.
"""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable

import msgspec

from resolute.domain.dataset import DatasetFile
from resolute.domain.errors import InvalidInput, TooLarge

MAX_FILES = 1_000_000
MAX_BYTES = 256 << 20
"""Of the unpacked text."""
_PIECE_BYTES = 1 << 20
_LONGEST_LINE = 64 << 10
"""Bytes: a path is a few thousand at most."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_GZIP = 31
_lines = msgspec.json.Decoder(DatasetFile)
_encode = msgspec.json.Encoder().encode_lines


def pack(files: Iterable[DatasetFile]) -> bytes:
    """The manifest as it travels and is kept: gzip, the same bytes for the same files."""
    return gzip.compress(_text(files), compresslevel=6, mtime=0)


def content_hash(files: Iterable[DatasetFile]) -> str:
    """sha256 hex of the sorted JSON lines."""
    return hashlib.sha256(_text(files)).hexdigest()


def _text(files: Iterable[DatasetFile]) -> bytes:
    return _encode(sorted(files, key=lambda file: file.path))


def unpack(packed: bytes) -> list[DatasetFile]:
    """What `pack` made. Raises InvalidInput with the line; nothing about the files themselves is checked. Read piece by
    piece: what a small manifest unpacks to is never in memory at once, and other threads get their turn."""
    files: list[DatasetFile] = []
    unzipping = zlib.decompressobj(_GZIP)
    size, begun = 0, b""
    while not unzipping.eof:
        try:
            piece = unzipping.decompress(packed, _PIECE_BYTES)
        except zlib.error as problem:
            raise InvalidInput(
                f"The manifest is not gzip: {problem}. Send the gzip of one JSON object a line."
            ) from problem
        packed = unzipping.unconsumed_tail
        if not piece and not packed and not unzipping.eof:
            raise InvalidInput("The manifest is cut off. Send it again, whole.")
        size += len(piece)
        whole, _, begun = (begun + piece).rpartition(b"\n")
        files += _files_in(whole, after=len(files))
        if size > MAX_BYTES or len(files) > MAX_FILES:
            raise TooLarge(
                f"The manifest has more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB. Register the set in parts."
            )
        if len(begun) > _LONGEST_LINE:
            raise InvalidInput(f"The manifest, line {len(files) + 1}: has more than {_LONGEST_LINE} bytes.")
    return files + _files_in(begun, after=len(files))


def _files_in(text: bytes, *, after: int) -> list[DatasetFile]:
    try:
        return _lines.decode_lines(text)
    except msgspec.DecodeError as problem:
        raise InvalidInput(_bad_line(text, problem, after)) from problem


def _bad_line(text: bytes, problem: msgspec.DecodeError, after: int) -> str:
    for number, line in enumerate(text.splitlines(), after + 1):
        try:
            _lines.decode(line)
        except msgspec.DecodeError as fault:
            return (
                f"The manifest, line {number}: {line[:120].decode(errors='replace')!r} is no file: {fault}. "
                'Write {"path": "images/1.jpg", "size": 1234, "sha256": "..."}.'
            )
    return f"The manifest cannot be read: {problem}."


def check(files: list[DatasetFile]) -> None:
    """Refuse names that leave the folder or come twice, sizes below zero and digests that are none."""
    if not files:
        raise InvalidInput("The manifest names no file. A dataset has at least one.")
    seen: set[str] = set()
    for file in files:
        if not is_inside(file.path):
            raise InvalidInput(
                f"The manifest names {file.path!r}, which is no path inside the set. Use relative paths with '/'."
            )
        if file.path in seen:
            raise InvalidInput(f"The manifest names {file.path!r} twice. Name every file once.")
        if file.size < 0:
            raise InvalidInput(f"The manifest gives {file.path!r} {file.size} bytes. Sizes start at 0.")
        if not _SHA256.fullmatch(file.sha256):
            raise InvalidInput(
                f"The manifest gives {file.path!r} the sha256 {file.sha256[:80]!r}; it needs 64 lower-case hex digits."
            )
        seen.add(file.path)


def is_inside(path: str) -> bool:
    """Whether a relative path stays in the folder that it is joined to."""
    parts = path.split("/")
    return bool(path) and "\\" not in path and "\0" not in path and not any(part in ("", ".", "..") for part in parts)
