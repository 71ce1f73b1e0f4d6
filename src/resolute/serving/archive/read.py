"""Unpacking a model archive that a stranger may have made. Nothing is written outside the folder; no code runs here.

Refused with a sentence: names that leave the folder, links and devices, members that unpack to far more than they
weigh, too much in all, a missing manifest, and a manifest that names files the archive does not have.
"""

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO

from resolute.domain.errors import InvalidInput, TooLarge
from resolute.serving.archive.bounds import check_index, open_tar
from resolute.serving.archive.manifest import MANIFEST_PATH, Manifest, parse_manifest

_BLOCK = 1 << 20
_SMALL = 16 << 20
"""Below this a high ratio means a text file, not a bomb."""
_DRIVE = ":"
_LARGEST_MANIFEST = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    total_bytes: int = 32 << 30
    files: int = 20_000
    ratio: int = 200
    """Unpacked to packed; weights hardly shrink, so more is a bomb."""


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    size: int
    packed: int
    kind: str
    open: Callable[[], IO[bytes] | None]


def is_archive(path: Path) -> bool:
    """By content, not by name."""
    return path.is_file() and (zipfile.is_zipfile(path) or _is_tar(path))


def extract_archive(path: Path, folder: Path, *, limits: Limits | None = None) -> Manifest:
    """Unpack into `folder`, which must not exist or be empty. On refusal nothing is left there."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _unpack(path, folder, limits or Limits())
        return read_manifest(folder, path.name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def read_manifest(folder: Path, where: str) -> Manifest:
    """The manifest of an unpacked archive. Every file that it names is there."""
    file = folder / MANIFEST_PATH
    if not file.is_file():
        held = ", ".join(sorted(item.name for item in folder.iterdir())[:8]) or "nothing"
        raise InvalidInput(
            f"{where} is not a model archive: it has no {MANIFEST_PATH}; it holds {held}. "
            "Make one with `resolute model package`."
        )
    manifest = parse_manifest(file.read_bytes(), where)
    for role, name in manifest.files().items():
        if not (folder / name).is_file():
            raise InvalidInput(f"{where} names {name} as {role}, but has no such file. Make the archive again with it.")
    return manifest


def peek_manifest(path: Path) -> Manifest:
    """Of a zip that is not unpacked; whether the files it names are there is not looked at."""
    try:
        check_index(path, Limits().files)
        with zipfile.ZipFile(path) as archive, archive.open(MANIFEST_PATH) as file:
            return parse_manifest(file.read(_LARGEST_MANIFEST), path.name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError, zlib.error) as error:
        raise InvalidInput(f"{path.name} has no {MANIFEST_PATH} that can be read: {error}.") from None


def _unpack(path: Path, folder: Path, limits: Limits) -> None:
    try:
        if zipfile.is_zipfile(path):
            check_index(path, limits.files)
            with zipfile.ZipFile(path) as archive:
                _unpack_members(_zip_members(archive), path, folder, limits)
        elif _is_tar(path):
            with open_tar(path) as tar:
                _unpack_members(_tar_members(tar, limits), path, folder, limits)
        else:
            raise InvalidInput(f"{path.name} is neither a zip (.mar) nor a tar.gz archive.")
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
        zlib.error,
    ) as error:
        raise InvalidInput(f"{path.name} is damaged: {error}. Copy or make it again.") from None


def _unpack_members(members: list[_Member], path: Path, folder: Path, limits: Limits) -> None:
    _check_sizes(members, path, limits)
    names = _inside_names(members, path)
    allowance = limits.total_bytes
    for member, name in zip(members, names, strict=True):
        if member.kind == "folder" or not name.parts:
            continue
        target = folder.joinpath(*name.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        allowance -= _copy(member, target, path, min(allowance, member.size))


def _check_sizes(members: list[_Member], path: Path, limits: Limits) -> None:
    if len(members) > limits.files:
        raise TooLarge(f"{path.name} has {len(members):,} files; at most {limits.files:,} are unpacked.")
    total = sum(member.size for member in members)
    if total > limits.total_bytes:
        raise TooLarge(f"{path.name} unpacks to {total:,} bytes; at most {limits.total_bytes:,} are unpacked.")
    for member in members:
        if member.size > _SMALL and member.size > limits.ratio * max(member.packed, 1):
            raise _bomb(path, member, limits)
    packed = path.stat().st_size
    if total > _SMALL and total > limits.ratio * max(packed, 1):
        raise TooLarge(f"{path.name} unpacks from {packed:,} to {total:,} bytes: more than {limits.ratio} times.")


def _bomb(path: Path, member: _Member, limits: Limits) -> TooLarge:
    return TooLarge(
        f"{path.name}: {member.name} unpacks from {member.packed:,} to {member.size:,} bytes, more than "
        f"{limits.ratio} times. It is taken for a decompression bomb."
    )


def _inside_names(members: list[_Member], path: Path) -> list[PurePosixPath]:
    names = [_checked_name(member, path) for member in members]
    return _without_top_folder(names)


def _checked_name(member: _Member, path: Path) -> PurePosixPath:
    if member.kind not in ("file", "folder"):
        raise InvalidInput(f"{path.name}: {member.name} is a {member.kind}; archives may hold plain files only.")
    name = PurePosixPath(member.name)
    first = name.parts[0] if name.parts else ""
    if name.is_absolute() or ".." in name.parts or "\\" in member.name or _DRIVE in first or "\0" in member.name:
        raise InvalidInput(f"{path.name}: the name {member.name!r} leads out of the archive. It is not unpacked.")
    return name


def _without_top_folder(names: list[PurePosixPath]) -> list[PurePosixPath]:
    """A tar.gz keeps everything in a folder of the model's name."""
    tops = {name.parts[0] for name in names if name.parts}
    if len(tops) == 1 and PurePosixPath(*tops, MANIFEST_PATH) in names:
        return [PurePosixPath(*name.parts[1:]) for name in names]
    return names


def _copy(member: _Member, target: Path, path: Path, allowance: int) -> int:
    """Sizes in the index may lie, so what really comes out is counted."""
    source = member.open()
    if source is None:
        raise InvalidInput(f"{path.name}: {member.name} cannot be read. Make the archive again.")
    written = 0
    with source, target.open("wb") as sink:
        while block := source.read(_BLOCK):
            written += len(block)
            if written > allowance:
                raise TooLarge(
                    f"{path.name}: {member.name} unpacks to more than the {member.size:,} bytes it declares."
                )
            sink.write(block)
    return written


def _zip_members(archive: zipfile.ZipFile) -> list[_Member]:
    return [
        _Member(info.filename, info.file_size, info.compress_size, _zip_kind(info), _opener(archive, info))
        for info in archive.infolist()
    ]


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(info)


def _zip_kind(info: zipfile.ZipInfo) -> str:
    mode = (info.external_attr >> 16) & 0o170000
    if mode == 0o120000:
        return "link"
    if info.is_dir():
        return "folder"
    return "file" if mode in (0, 0o100000) else "special file"


def _tar_members(archive: tarfile.TarFile, limits: Limits) -> list[_Member]:
    """One more than there may be, at most: the rest need not be read to be refused."""
    return [_tar_member(archive, info) for info in islice(archive, limits.files + 1)]


def _tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo) -> _Member:
    kind = (
        "file" if info.isreg() else "folder" if info.isdir() else "link" if info.issym() or info.islnk() else "device"
    )
    # A tar is compressed as a whole: the ratio is judged over all of it.
    return _Member(info.name, info.size, info.size, kind, lambda: archive.extractfile(info))


def _is_tar(path: Path) -> bool:
    try:
        with open_tar(path):
            return True
    except TooLarge:
        # It is one, and what opens it says what is wrong with it.
        return True
    except (tarfile.TarError, OSError, EOFError, zlib.error):
        return False
