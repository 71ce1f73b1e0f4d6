"""Files on disk: which images a folder holds, and writing in one step. Decodes nothing."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from resolute.domain.errors import InvalidInput, NotFound, Unavailable

TIFF_SUFFIXES = frozenset({".tif", ".tiff"})
IMAGE_SUFFIXES = TIFF_SUFFIXES | {".png", ".jpg", ".jpeg"}
_LITTER = "._"


def list_images(folder: Path, suffixes: Iterable[str] = IMAGE_SUFFIXES) -> tuple[list[Path], list[Path]]:
    """Image files of a folder by natural order, and the macOS litter among them. Sub-folders are not entered."""
    wanted = {suffix.lower() for suffix in suffixes}
    with os.scandir(existing_folder(folder)) as entries:
        found = [Path(e.path) for e in entries if os.path.splitext(e.name)[1].lower() in wanted and e.is_file()]
    found.sort(key=natural_key)
    return [p for p in found if not is_litter(p.name)], [p for p in found if is_litter(p.name)]


def is_litter(name: str) -> bool:
    """macOS leaves `._5.tif` beside `5.tif` in archives; it holds no picture."""
    return name.startswith(_LITTER)


def natural_key(path: Path) -> tuple[int, int, str]:
    """Numbers by value, before names."""
    stem = path.stem
    return (0, int(stem), path.name) if stem.isdecimal() else (1, 0, path.name)


def existing_folder(folder: Path) -> Path:
    if not folder.exists():
        raise NotFound(f"There is no folder {folder}. Check the path.")
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is a file, but a folder is needed.")
    return folder


def make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InvalidInput(f"The folder {folder} cannot be made: {problem.strerror}. Choose another one.") from problem
    return folder


def write_atomic(path: Path, content: bytes | memoryview) -> None:
    """Write beside, then rename: what is under its name is whole, also after a crash of this process."""
    make_folder(path.parent)
    write_in_place(str(path), content)


def write_atomic_parts(path: Path, parts: Iterable[bytes]) -> None:
    """`write_atomic` of what is made piece by piece, since the whole would not fit into memory."""
    make_folder(path.parent)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.writelines(parts)
        os.replace(beside, path)
    except OSError as problem:
        raise Unavailable(f"{path} cannot be written: {problem.strerror}. Make room, then run it again.") from problem
    finally:
        with suppress(OSError):
            beside.unlink()


def write_in_place(path: str, content: bytes | memoryview) -> None:
    """`write_atomic` for a folder that is known to exist; the fast way for very many small files."""
    beside = f"{path}.{os.getpid()}.part"
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            _write_all(descriptor, content)
        finally:
            os.close(descriptor)
        os.replace(beside, path)
    except OSError as problem:
        with suppress(OSError):
            os.unlink(beside)
        # Not a fault of the input: it stops the whole run, where an unreadable image would not.
        raise Unavailable(f"{path} cannot be written: {problem.strerror}. Make room, then run it again.") from problem


def _write_all(descriptor: int, content: bytes | memoryview) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
