"""Names of files inside a checkpoint: which are safe to write, and which a pattern means. Pure."""

import re
from collections.abc import Iterable

from resolute.domain.errors import InvalidInput


def check_path(path: str) -> str:
    """`path` itself, if it stays inside the folder it is joined to; raises InvalidInput otherwise."""
    parts = path.split("/")
    if (
        not path
        or path.startswith("/")
        or "\\" in path
        or "\0" in path
        or any(part in ("", ".", "..") for part in parts)
    ):
        raise InvalidInput(
            f"{path!r} is no path inside a checkpoint. Use a relative path without '..', empty parts or backslashes."
        )
    if re.search(r"#\d+$", path):
        raise InvalidInput(
            f"{path!r} ends like the name of an unfinished file. Rename it so that it has no '#1' at its end."
        )
    return path


def check_uuid(uuid: str) -> str:
    """`uuid` itself, if it is a single safe name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", uuid):
        raise InvalidInput(f"{uuid!r} is no checkpoint id. Use letters, digits, '-', '_' and '.'.")
    return uuid


def matching(paths: Iterable[str], globs: Iterable[str]) -> list[str]:
    """Paths that at least one pattern means. `**` crosses folders, `*` and `?` do not; a folder means all in it."""
    tests = [_compiled(glob) for glob in globs]
    return [path for path in paths if any(test.fullmatch(path) for test in tests)]


def _compiled(glob: str) -> re.Pattern[str]:
    pieces: list[str] = []
    rest = glob.removeprefix("./").rstrip("/")
    while rest:
        if found := re.match(r"\*\*/", rest):
            pieces.append("(?:.*/)?")
        elif found := re.match(r"\*\*", rest):
            pieces.append(".*")
        elif found := re.match(r"\*", rest):
            pieces.append("[^/]*")
        elif found := re.match(r"\?", rest):
            pieces.append("[^/]")
        elif found := re.match(r"\[(!?)([^\]/]+)\]", rest):
            pieces.append(f"[{'^' if found[1] else ''}{_escaped_class(found[2])}]")
        else:
            found = re.match(r".", rest, re.DOTALL)
            assert found is not None
            pieces.append(re.escape(found[0]))
        rest = rest[found.end() :]
    return re.compile("".join(pieces) + "(?:/.*)?", re.DOTALL)


def _escaped_class(characters: str) -> str:
    return re.sub(r"([\\\[\]^])", r"\\\1", characters)
