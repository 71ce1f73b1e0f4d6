"""Writing a model archive: the members, manifest and formats that torch-model-archiver 0.12 makes of the same parts."""

import glob
import io
import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from resolute.domain.errors import AlreadyExists, InvalidInput
from resolute.serving.archive.manifest import (
    BUILT_IN_HANDLERS,
    MANIFEST_PATH,
    Manifest,
    check_name,
    manifest_text,
)

_SKIPPED_FOLDERS = ("__pycache__", "__MACOSX")


class ArchiveFormat(StrEnum):
    DEFAULT = "default"
    TGZ = "tgz"
    NO_ARCHIVE = "no-archive"
    ZIP_STORE = "zip-store"


_SUFFIX = {
    ArchiveFormat.DEFAULT: ".mar",
    ArchiveFormat.TGZ: ".tar.gz",
    ArchiveFormat.NO_ARCHIVE: "",
    ArchiveFormat.ZIP_STORE: ".mar",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveParts:
    """What goes in. `handler`: a built-in's name, a path, or `path:function`."""

    name: str
    version: str
    handler: str
    serialized_file: Path | None = None
    model_file: Path | None = None
    extra_files: str | None = None
    """Paths separated by commas; wildcards are filled in, of a folder its content is taken."""
    requirements_file: Path | None = None
    config_file: Path | None = None
    runtime: str = "python"


def write_archive(
    parts: ArchiveParts,
    export_path: Path,
    *,
    now: datetime,
    archive_format: ArchiveFormat = ArchiveFormat.DEFAULT,
    force: bool = False,
) -> Path:
    """The archive's path. All parts are looked at before anything is written; a half archive is never seen."""
    check_name(parts.name)
    if not export_path.is_dir():
        raise InvalidInput(f"{export_path} is not a folder. Make it, or name another one to write the archive into.")
    target = export_path / f"{parts.name}{_SUFFIX[archive_format]}"
    if target.exists() and not force:
        raise AlreadyExists(f"{target} already exists. Use --force to replace it, or another name.")
    members = _members(parts)
    text = manifest_text(_manifest(parts), now=now)
    with tempfile.TemporaryDirectory(dir=export_path, prefix=".archive-") as scratch:
        fresh = Path(scratch) / target.name
        _WRITERS[archive_format](fresh, parts.name, members, text, now)
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(fresh, target)
    return target


def _manifest(parts: ArchiveParts) -> Manifest:
    named = (parts.serialized_file, parts.model_file, parts.requirements_file, parts.config_file)
    serialized, model, requirements, config = (path.name if path else None for path in named)
    manifest = Manifest(name=parts.name, version=parts.version, handler=Path(parts.handler).name, runtime=parts.runtime)
    return replace(
        manifest,
        serialized_file=serialized,
        model_file=model,
        requirements_file=requirements,
        config_file=config,
    )


def _members(parts: ArchiveParts) -> dict[str, Path]:
    """Name inside to file outside, in the order in which the parts are given."""
    members: dict[str, Path] = {}
    for role, path in (("model-file", parts.model_file), ("serialized-file", parts.serialized_file)):
        if path is not None:
            members[path.name] = _existing(path, role)
    handler = _handler_file(parts.handler)
    if handler is not None:
        members[handler.name] = _existing(handler, "handler")
    for name, path in _extra(parts.extra_files):
        members[name] = path
    for role, path in (("requirements-file", parts.requirements_file), ("config-file", parts.config_file)):
        if path is not None:
            members[path.name] = _existing(path, role)
    if MANIFEST_PATH in members:
        raise InvalidInput(f"An extra file is called {MANIFEST_PATH}; that name belongs to the archive itself.")
    return members


def _handler_file(handler: str) -> Path | None:
    if handler in BUILT_IN_HANDLERS:
        return None
    file = handler.partition(":")[0]
    return Path(file if file.endswith(".py") else f"{file}.py")


def _existing(path: Path, role: str) -> Path:
    if path.is_file():
        return path
    remedy = f" Built-in handlers are {', '.join(BUILT_IN_HANDLERS)}." if role == "handler" else ""
    raise InvalidInput(f"--{role} {path}: there is no such file.{remedy}")


def _extra(listed: str | None) -> Iterator[tuple[str, Path]]:
    for pattern in (part.strip() for part in (listed or "").split(",")):
        if not pattern:
            continue
        found = [Path(pattern)] if Path(pattern).exists() else [Path(path) for path in sorted(glob.glob(pattern))]
        if not found:
            raise InvalidInput(f"--extra-files {pattern}: there is no such file or folder.")
        for path in found:
            yield from _files_below(path) if path.is_dir() else [(path.name, path)]


def _files_below(folder: Path) -> Iterator[tuple[str, Path]]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS and not name.startswith("."))
        for name in sorted(files):
            path = Path(root) / name
            yield path.relative_to(folder).as_posix(), path


def _write_zip(target: Path, name: str, members: dict[str, Path], text: str, now: datetime) -> None:
    _zip(target, members, text, zipfile.ZIP_DEFLATED)


def _write_stored(target: Path, name: str, members: dict[str, Path], text: str, now: datetime) -> None:
    _zip(target, members, text, zipfile.ZIP_STORED)


def _zip(target: Path, members: dict[str, Path], text: str, compression: int) -> None:
    with zipfile.ZipFile(target, "w", compression, strict_timestamps=False) as archive:
        for inside, path in members.items():
            archive.write(path, inside)
        archive.writestr(MANIFEST_PATH, text)


def _write_tar(target: Path, name: str, members: dict[str, Path], text: str, now: datetime) -> None:
    with tarfile.open(target, "w:gz") as archive:
        for inside, path in members.items():
            archive.add(path.resolve(), arcname=f"{name}/{inside}", recursive=False)
        info = tarfile.TarInfo(f"{name}/{MANIFEST_PATH}")
        content = text.encode()
        info.size, info.mtime = len(content), int(now.timestamp())
        archive.addfile(info, io.BytesIO(content))


def _write_folder(target: Path, name: str, members: dict[str, Path], text: str, now: datetime) -> None:
    for inside, path in members.items():
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / inside)
    manifest = target / MANIFEST_PATH
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(text)


_WRITERS = {
    ArchiveFormat.DEFAULT: _write_zip,
    ArchiveFormat.ZIP_STORE: _write_stored,
    ArchiveFormat.TGZ: _write_tar,
    ArchiveFormat.NO_ARCHIVE: _write_folder,
}
