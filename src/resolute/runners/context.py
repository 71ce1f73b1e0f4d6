"""Unpacks a model definition into a run's working directory, with the checks of `spec.context`.

Only the standard library, `domain` and `spec.context` may be imported: it runs inside trial environments.
"""

import os
import shutil
from pathlib import Path

from resolute.spec.context import Member, MemberKind, read_context

_CHUNK_BYTES = 1024 * 1024


def unpack_context(archive: Path, target: Path) -> None:
    """Unpack into the existing directory `target`. Raises InvalidInput or TooLarge; what was written stays."""
    with archive.open("rb") as stream:
        for member, reader in read_context(stream):
            path = target / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            _make_way(path, member)
            match member.kind:
                case MemberKind.DIRECTORY:
                    path.mkdir(exist_ok=True)
                    path.chmod(0o700 | (member.mode & 0o777))
                case MemberKind.SYMLINK:
                    path.symlink_to(member.link_target)
                case MemberKind.HARDLINK:
                    os.link(target / member.link_target, path, follow_symlinks=False)
                case _:
                    assert reader is not None
                    with open(path, "xb", opener=_opener(member.mode)) as file:
                        shutil.copyfileobj(reader, file, _CHUNK_BYTES)


def _make_way(path: Path, member: Member) -> None:
    """A later member of the same name replaces the earlier one, as tar does."""
    if member.kind is not MemberKind.DIRECTORY and path.is_symlink() | path.is_file():
        path.unlink()


def _opener(mode: int):  # type: ignore[no-untyped-def]
    permissions = 0o600 | (mode & 0o777)
    return lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, permissions)
