"""Label files that are texts, one for each image: read with what can be wrong with them. Shared by YOLO and DOTA."""

from collections.abc import Iterable
from pathlib import Path

from resolute.imagery.report import Reason, Report

_ENCODING = "utf-8-sig"
"""UTF-8, with or without the mark that some editors put before it."""


def lines_of(path: Path, report: Report) -> list[str]:
    """Nothing for a file that is not there, nor for one that is no text; the latter is counted."""
    try:
        return path.read_text(_ENCODING).splitlines()
    except FileNotFoundError:
        return []
    except (UnicodeDecodeError, OSError) as problem:
        report.add(Reason.WRONG_TYPE, f"{path.name}: {problem}")
        return []


def count_strays(folder: Path, images: Iterable[Path], report: Report, *, but: Iterable[str] = ()) -> None:
    """Label files that belong to no image."""
    known = {image.stem for image in images}
    strays = sorted(p.name for p in folder.glob("*.txt") if p.stem not in known and p.name not in but)
    report.add_many(Reason.IMAGE_NOT_FOUND, len(strays), strays)
