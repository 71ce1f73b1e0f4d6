"""Which label format a file or folder holds, told by what is in it."""

import csv
from pathlib import Path

import msgspec

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.coco import BYTE_ORDER_MARK
from resolute.imagery.vector import VECTOR_SUFFIXES

_XVIEW = ("bounds_imcoords", "image_id")
_WKT = frozenset({"wkt", "geometry", "the_geom"})
_HEAD = 1 << 16
_LOOKED_AT = 100


class _Feature(msgspec.Struct):
    properties: dict[str, msgspec.Raw] | None = None


class _Document(msgspec.Struct):
    """Features are not parsed: there may be a million."""

    features: list[msgspec.Raw] | None = None
    images: msgspec.Raw = msgspec.Raw()
    annotations: msgspec.Raw = msgspec.Raw()


def detect(source: Path) -> str:
    """`xview`, `map`, `coco`, `csv`, `voc`, `yolo` or `dota`. Raises NotFound or InvalidInput when it is none."""
    if not source.exists():
        raise NotFound(f"There are no labels at {source}. Check the path.")
    if source.is_dir():
        return _folder(source)
    suffix = source.suffix.lower()
    if suffix in (".json", ".geojson"):
        return _json(source)
    if suffix == ".csv":
        return _csv(source)
    if suffix in VECTOR_SUFFIXES:
        return "map"
    raise InvalidInput(f"{source} is of no known label format. Say which it is with --from.")


def _json(path: Path) -> str:
    try:
        document = msgspec.json.decode(path.read_bytes().removeprefix(BYTE_ORDER_MARK), type=_Document)
    except (msgspec.DecodeError, OSError):
        return "xview"  # Its reader says best what is wrong with a file.
    if document.features is None:
        return "coco" if document.images or document.annotations else "xview"
    # The first few: a single odd feature must not decide.
    return "map" if document.features and not any(map(_is_xview, document.features[:_LOOKED_AT])) else "xview"


def _is_xview(raw: msgspec.Raw) -> bool:
    try:
        properties = msgspec.json.decode(raw, type=_Feature).properties or {}
    except msgspec.ValidationError:
        return False
    return any(name in properties for name in _XVIEW)


def _csv(path: Path) -> str:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            head = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise InvalidInput(f"{path} cannot be read as CSV: {problem}. Write it as UTF-8 with commas.") from problem
    return "map" if {cell.strip().lower() for cell in head} & _WKT else "csv"


def _folder(folder: Path) -> str:
    if next(folder.rglob("*.xml"), None) is not None:
        return "voc"
    if any((folder / name).exists() or (folder.parent / name).exists() for name in ("classes.txt", "data.yaml")):
        return "yolo"
    if (folder / "labelTxt").is_dir() or _has_corners(folder):
        return "dota"
    raise InvalidInput(
        f"{folder} holds no labels that are known by their looks: VOC has .xml files, YOLO classes.txt or data.yaml, "
        "DOTA lines of eight corners. Say which it is with --from."
    )


def _has_corners(folder: Path) -> bool:
    text = next(iter(sorted(folder.glob("*.txt"))), None)
    if text is None:
        return False
    lines = text.read_bytes()[:_HEAD].decode("utf-8", "replace").splitlines()
    return any(len(line.split()) >= 9 for line in lines)
