"""An uploaded directory: from a list of files in a message to checked tar.gz bytes.

The same files always give the same bytes, so that an unchanged directory is stored once.
"""

import base64
import gzip
import io
import tarfile
from collections import deque
from collections.abc import Sequence

from resolute.domain.errors import InvalidInput
from resolute.spec.context import Member, MemberKind, checked
from resolute.spec.wire.experiments import File

_DIRECTORY = ord("5")
_REGULAR = (ord("0"), 0)


def pack_files(files: Sequence[File]) -> bytes | None:
    """None when there are none. Raises InvalidInput or TooLarge naming the file."""
    if not files:
        return None
    # Every path is looked at before anything is packed.
    deque(checked(map(_member, files)), maxlen=0)
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=1, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in files:
            _add(tar, file)
    return buffer.getvalue()


def _member(file: File) -> Member:
    if file.type == _DIRECTORY:
        return Member(file.path, MemberKind.DIRECTORY)
    if file.type in _REGULAR:
        return Member(file.path, MemberKind.FILE, len(file.content) * 3 // 4)
    raise InvalidInput(
        f"The model definition is refused: {file.path[:200]!r} has type {file.type}; only files (48) and "
        "directories (53) can be uploaded. Leave it out with .detignore."
    )


def _add(tar: tarfile.TarFile, file: File) -> None:
    entry = tarfile.TarInfo(file.path)
    entry.mtime = file.mtime
    entry.mode = file.mode & 0o777
    if file.type == _DIRECTORY:
        entry.type = tarfile.DIRTYPE
        tar.addfile(entry)
        return
    content = _decoded(file)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


def _decoded(file: File) -> bytes:
    try:
        return base64.b64decode(file.content, validate=True)
    except ValueError as error:
        raise InvalidInput(f"The content of {file.path[:200]!r} is not base64: {error}. Upload it again.") from error
