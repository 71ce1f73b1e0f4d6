"""A model definition on its way to the master: which files of a folder go, and the form they travel in."""

import base64
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from resolute.domain.errors import InvalidInput, TooLarge

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

LIMIT = 95 * 1024**2
IGNORE_FILES = (".detignore", ".resoluteignore")
ALWAYS_IGNORED = (
    "__pycache__/",
    "*.py[co]",
    "*$py.class",
    "terraform*",
    ".git/",
    ".vscode/",
    ".idea/",
    ".mypy_cache/",
    "/shared_fs",
)
_FILE, _DIRECTORY = 48, 53
"""Tar's type flags, as numbers."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Entry:
    name: PurePosixPath
    source: Path
    status: Any

    @property
    def size(self) -> int:
        return 0 if stat.S_ISDIR(self.status.st_mode) else int(self.status.st_size)


def pack(model_dir: Path | str | None, include: Sequence[Path | str] = ()) -> list[dict[str, Any]]:
    """Files of `model_dir` at the root, and each of `include` under its own name, as the API wants them.

    Refused before anything is read when it is more than 95 MiB, naming the largest files.
    """
    entries: dict[PurePosixPath, _Entry] = {}
    for entry in _collect(model_dir, include):
        if entry.name in entries and not (stat.S_ISDIR(entry.status.st_mode)):
            raise InvalidInput(
                f"{entry.source} and {entries[entry.name].source} would both become {entry.name}. Rename one."
            )
        entries.setdefault(entry.name, entry)
    _check_size(list(entries.values()))
    return [_travelling(entry) for entry in entries.values()]


def _collect(model_dir: Path | str | None, include: Sequence[Path | str]) -> Iterator[_Entry]:
    if model_dir is not None:
        root = Path(model_dir)
        if root.is_dir():
            yield from _walk(root, PurePosixPath(), root, _spec(root))
        else:
            yield _described(PurePosixPath(root.name), root)
    for item in map(Path, include):
        name = PurePosixPath(item.resolve().name)
        yield _described(name, item)
        if item.is_dir():
            yield from _walk(item, name, item, _spec(item))


def _walk(folder: Path, prefix: PurePosixPath, root: Path, ignored: "GitIgnoreSpec") -> Iterator[_Entry]:
    """Folders before what is in them. A link to a file is read through; a link to a folder is not followed."""
    for source in sorted(folder.iterdir()):
        is_folder = source.is_dir()
        relative = source.relative_to(root).as_posix()
        if ignored.match_file(f"{relative}/" if is_folder else relative):
            continue
        if not is_folder and not source.is_file():
            continue  # sockets, pipes, dead links: nothing to send
        yield _described(prefix / source.name, source)
        if is_folder and not source.is_symlink():
            yield from _walk(source, prefix / source.name, root, ignored)


def _spec(root: Path) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # only packing needs it

    lines = list(ALWAYS_IGNORED)
    for name in IGNORE_FILES:
        file = root / name
        if file.is_file():
            lines += file.read_text().splitlines()
    return GitIgnoreSpec.from_lines(lines)


def _described(name: PurePosixPath, source: Path) -> _Entry:
    try:
        return _Entry(name, source, source.stat())
    except OSError as problem:
        raise InvalidInput(
            f"Model definition {source} cannot be read: {problem.strerror}. Check the path."
        ) from problem


def _check_size(entries: Sequence[_Entry]) -> None:
    total = sum(entry.size for entry in entries)
    if total <= LIMIT:
        return
    largest = sorted(entries, key=lambda e: (-e.size, str(e.name)))[:_SHOWN]
    shown = ", ".join(f"{entry.name} ({_mebibytes(entry.size)})" for entry in largest)
    raise TooLarge(
        f"The model definition is {_mebibytes(total)}; {_mebibytes(LIMIT)} is the limit. Largest: {shown}. "
        "List what is not code in .detignore and read data from storage or a bind mount."
    )


def _mebibytes(size: int) -> str:
    return f"{size / 1024**2:.1f} MiB"


def _travelling(entry: _Entry) -> dict[str, Any]:
    is_folder = stat.S_ISDIR(entry.status.st_mode)
    content = b"" if is_folder else entry.source.read_bytes()
    return {
        "path": str(entry.name),
        "type": _DIRECTORY if is_folder else _FILE,
        "content": base64.b64encode(content).decode(),
        "mtime": str(int(entry.status.st_mtime)),
        "mode": entry.status.st_mode,
        "uid": 0,
        "gid": 0,
    }
