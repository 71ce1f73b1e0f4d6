"""The model definition a user uploads: which tar.gz archives are accepted, and why one is refused.

Pure: it looks at bytes or at plain descriptions of members and writes nothing. Memory stays bounded whatever the
archive claims: nothing is decompressed beyond the limits and no single header may ask for more than a few MiB.
Only the standard library and `domain` may be imported: the process that unpacks runs in foreign Python environments.
"""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, BinaryIO

from resolute.domain.errors import InvalidInput, TooLarge

MAX_ENTRIES = 100_000
MAX_UNPACKED_BYTES = 2 * 1024**3
_LARGEST_READ = 4 * 1024**2
_BYTES_PER_HEADER = 4096
_MAX_NAME = 255
_REMEDY = "Pack the model definition again without it, or list it in .detignore."
_DAMAGED = (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, OverflowError, RecursionError)


class MemberKind(StrEnum):
    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symbolic link"
    HARDLINK = "hard link"
    OTHER = "device, pipe or sparse file"


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    kind: MemberKind = MemberKind.FILE
    size: int = 0
    link_target: str = ""
    mode: int = 0o644


def check_context(content: bytes) -> None:
    """Raise InvalidInput or TooLarge when this archive must not be stored or unpacked."""
    for _member, _reader in read_context(io.BytesIO(content)):
        pass


def read_context(stream: BinaryIO) -> Iterator[tuple[Member, IO[bytes] | None]]:
    """Every member that may be unpacked, in order, with a reader for files. Raises at the first that may not."""
    checker = _Checker()
    try:
        with gzip.GzipFile(fileobj=stream) as unzipped, tarfile.open(fileobj=_Bounded(unzipped), mode="r:") as tar:
            while (entry := tar.next()) is not None:
                vars(tar)["members"].clear()  # tarfile would keep all of them
                member = _described(entry)
                if checker.admits(member):
                    yield member, tar.extractfile(entry) if member.kind is MemberKind.FILE else None
    except _DAMAGED as error:
        raise InvalidInput(
            f"The model definition is not a readable tar.gz archive: {error or type(error).__name__}. Upload it again."
        ) from error


def checked(members: Iterable[Member]) -> Iterator[Member]:
    """Pass on the members that may be unpacked; raise at the first that may not."""
    checker = _Checker()
    return (member for member in members if checker.admits(member))


class _Checker:
    """What was seen so far. Links are judged by where they lead when unpacked, not by how they are spelled: no
    member may pass through a link, so `..` at the start of a target climbs real directories only."""

    def __init__(self) -> None:
        self._entries = 0
        self._unpacked_bytes = 0
        self._links: set[str] = set()
        self._files: set[str] = set()
        self._directories: set[str] = set()

    def admits(self, member: Member) -> bool:
        """False: nothing to do for it (the archive's own root). Raises when it is refused."""
        self._count(member)
        parts = _parts(member.name, member.name)
        if not parts:
            return False
        name = "/".join(parts)
        parents = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        for parent in parents:
            if parent in self._links:
                raise _refused(member, f"lies behind the link {parent!r} of the same archive")
        self._directories.update(parents)
        self._note(member, name, depth=len(parts) - 1)
        return True

    def _count(self, member: Member) -> None:
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise TooLarge(
                f"The model definition has more than {MAX_ENTRIES:,} entries. "
                "Keep data out of it: list it in .detignore and read it from storage instead."
            )
        if member.size < 0:
            raise _refused(member, f"claims a size of {member.size} bytes")
        self._unpacked_bytes += member.size
        if self._unpacked_bytes > MAX_UNPACKED_BYTES:
            raise TooLarge(
                f"The model definition unpacks to more than {MAX_UNPACKED_BYTES // 1024**3} GiB at {member.name!r}. "
                "Keep data out of it: list it in .detignore and read it from storage instead."
            )

    def _note(self, member: Member, name: str, *, depth: int) -> None:
        match member.kind:
            case MemberKind.FILE:
                self._files.add(name)
            case MemberKind.DIRECTORY:
                self._directories.add(name)
            case MemberKind.SYMLINK:
                self._check_symlink(member, name, depth)
                self._links.add(name)
            case MemberKind.HARDLINK:
                target = "/".join(_parts(member.link_target, member.name))
                if target not in self._files or target in self._links:
                    raise _refused(member, f"is a hard link to {member.link_target!r}, which is no file before it")
                self._files.add(name)
            case MemberKind.OTHER:
                raise _refused(member, f"is a {member.kind}; only files, directories and links are allowed")

    def _check_symlink(self, member: Member, name: str, depth: int) -> None:
        target = member.link_target
        if name in self._directories:
            raise _refused(member, "is a link in one place of the archive and a directory in another")
        parts = [part for part in target.split("/") if part not in ("", ".")]
        climbs = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
        if target.startswith("/") or not target or climbs > depth or ".." in parts[climbs:] or "\0" in target:
            raise _refused(member, f"is a link to {target!r}, which may lead out of the archive")


class _Bounded(io.RawIOBase):
    """A decompressed stream that refuses to give more than an honest archive needs, in one read or in all."""

    def __init__(self, inner: gzip.GzipFile) -> None:
        self._inner = inner
        self._limit = MAX_UNPACKED_BYTES + MAX_ENTRIES * _BYTES_PER_HEADER

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _LARGEST_READ:
            raise tarfile.ReadError(f"a header asks for {size:,} bytes")
        return self._inner.read(size)

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        return self._inner.readinto(buffer)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if offset > self._limit:
            raise tarfile.ReadError(f"it goes on beyond {self._limit:,} bytes")
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _described(entry: tarfile.TarInfo) -> Member:
    kind = MemberKind.OTHER
    if entry.isreg() and not entry.issparse():
        kind = MemberKind.FILE
    elif entry.isdir():
        kind = MemberKind.DIRECTORY
    elif entry.issym():
        kind = MemberKind.SYMLINK
    elif entry.islnk():
        kind = MemberKind.HARDLINK
    size = entry.size if kind in (MemberKind.FILE, MemberKind.OTHER) else 0
    return Member(entry.name, kind, size, entry.linkname, entry.mode)


def _parts(path: str, name: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise _refused(Member(name), f"leads out of the archive ({path!r})")
    if any(len(part.encode(errors="replace")) > _MAX_NAME for part in parts):
        raise _refused(Member(name[:80]), f"has a part of more than {_MAX_NAME} bytes, which no file system takes")
    return parts


def _refused(member: Member, why: str) -> InvalidInput:
    return InvalidInput(f"The model definition is refused: {member.name[:200]!r} {why}. {_REMEDY}")
