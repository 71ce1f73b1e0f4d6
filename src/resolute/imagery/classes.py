"""The class table: from the ids that labellers used to the ids a model learns, with names.

xView's own table is packed with the package; other tables come from two files of the same form.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import msgspec

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.coco import Category

MAPPING_FILE = "category_id_mapping.json"
NAMES_FILE = "xview_class_labels.txt"


@dataclass(frozen=True)
class ClassTable:
    """`mapping`: source id to category id. `names`: source id to name, in file order."""

    mapping: dict[int, int]
    names: dict[int, str]

    def categories(self) -> list[Category]:
        """In the order of the class file. A category that several classes are mapped to has the name of the first."""
        found: dict[int, str] = {}
        for source, name in self.names.items():
            if source in self.mapping:
                found.setdefault(self.mapping[source], name)
        return [Category(id=key, name=name, supercategory=name) for key, name in found.items()]


def xview_classes() -> ClassTable:
    """The 60 classes of xView."""
    packed = files("resolute.imagery") / "data"
    mapping = _mapping((packed / MAPPING_FILE).read_bytes(), MAPPING_FILE)
    return ClassTable(mapping, _names((packed / NAMES_FILE).read_text("utf-8"), NAMES_FILE))


def read_classes(mapping_path: Path | None, names_path: Path | None) -> ClassTable:
    """A table from files; a file that is not given is xView's. Refuses tables that disagree."""
    own = xview_classes()
    mapping = own.mapping if mapping_path is None else _mapping(_bytes(mapping_path), str(mapping_path))
    names = own.names if names_path is None else _names(_text(names_path), str(names_path))
    nameless = [source for source in mapping if source not in names]
    if nameless:
        raise InvalidInput(
            f"The class tables disagree: {mapping_path or MAPPING_FILE} maps {_some(nameless)}, "
            f"which {names_path or NAMES_FILE} does not name. Add the names there, or remove the ids here."
        )
    return ClassTable(mapping, names)


def _mapping(text: bytes, place: str) -> dict[int, int]:
    try:
        pairs = msgspec.json.decode(text, type=dict[str, int | str])
        mapping = {int(source): int(target) for source, target in pairs.items()}
    except (msgspec.DecodeError, ValueError) as problem:
        raise InvalidInput(
            f'{place} is not a category mapping: {problem}. It must be a JSON object such as {{"11": "0", "12": "1"}}.'
        ) from problem
    below = [source for source, target in mapping.items() if target < 0]
    if below:
        raise InvalidInput(f"{place} maps {_some(below)} to a number below 0. Categories count from 0 or from 1.")
    return mapping


def _names(text: str, place: str) -> dict[int, str]:
    names: dict[int, str] = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        source, colon, name = line.partition(":")
        if not colon or not source.strip().isdecimal() or not name.strip():
            raise InvalidInput(
                f"{place}, line {line_number}: {line!r} is not `id:name`, such as `11:Fixed-wing Aircraft`."
            )
        if int(source) in names:
            raise InvalidInput(f"{place}, line {line_number}: class {int(source)} is named twice. Remove one line.")
        names[int(source)] = name.strip()
    return names


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}. Check the path, or leave it out to use xView's own table.") from None
    except OSError as problem:
        raise InvalidInput(f"{path} cannot be read: {problem.strerror}.") from problem


def _text(path: Path) -> str:
    try:
        return _bytes(path).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"{path} is not UTF-8 text: {problem.reason} at byte {problem.start}.") from problem


def _some(values: list[int], most: int = 5) -> str:
    shown = ", ".join(map(str, values[:most]))
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"
