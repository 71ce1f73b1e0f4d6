"""How pixels become what a model sees: one record that travels from tiles to the dataset version, the checkpoint, the
exported model and whoever asks it.

A folder of prepared pictures holds it as `preprocessing.json`. A file is read by it (`origins.options_for`) with
the same bands, stretch and value without meaning as in training, or refused. No image library is needed here.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from resolute.domain.errors import InvalidInput
from resolute.imagery.files import write_atomic
from resolute.imagery.render_options import RenderOptions, StretchKind
from resolute.imagery.report import Reason, Report

RECORD = "preprocessing.json"
PREPARED = "is_prepared"
"""What a client says of a picture in a request whose bands it has chosen and stretched itself."""
_FORMAT = 1
_PICTURES = frozenset({"png", "jpeg"})
_SHOWN = 4


class Origin(msgspec.Struct, frozen=True, order=True):
    """What a file was before anything was done to it. `bands` without an alpha channel."""

    format: str
    """tiff, png, jpeg, or GDAL's own name for another."""
    dtype: str
    bands: int
    nodata: str | None = None
    """As text, so that nan and infinities survive JSON."""

    def __str__(self) -> str:
        return f"{self.bands} band(s) of {self.dtype}"

    @property
    def is_picture(self) -> bool:
        """Of the kind that is written after bands were chosen and stretched."""
        return self.format in _PICTURES and self.dtype == "uint8"

    def is_like(self, other: "Origin") -> bool:
        return (self.dtype, self.bands) == (other.dtype, other.bands)


class Preprocessing(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to the files (`origins`) that a model learnt from. Pixels times `scale`, less `mean`, by `spread`
    is what its first layer gets."""

    bands: tuple[int, ...] | None = None
    """None: red, green and blue by each file's own description."""
    stretch: StretchKind = StretchKind.AUTO
    percentiles: tuple[float, float] = (2.0, 98.0)
    limits: tuple[float, float] | None = None
    nodata: float | None = None
    origins: tuple[Origin, ...] = ()
    tile_size: int | None = None
    overlap: float | None = None
    resampling: str = "none"
    """Tiles are cut, never resized; what a model does to sizes by itself is among its own options."""
    scale: float = 1 / 255
    mean: tuple[float, ...] | None = None
    spread: tuple[float, ...] | None = None
    format: int = _FORMAT

    @classmethod
    def of(cls, options: RenderOptions, origins: Iterable[Origin]) -> "Preprocessing":
        kinds = tuple(sorted(set(origins), key=str))
        named = {origin.nodata for origin in kinds}
        return cls(
            bands=options.bands,
            stretch=options.stretch,
            percentiles=(options.low_percent, options.high_percent),
            limits=options.limits,
            nodata=options.nodata if options.nodata is not None else _only_number(named),
            origins=kinds,
        )

    @property
    def options(self) -> RenderOptions:
        low, high = self.percentiles
        return RenderOptions(
            bands=self.bands,
            stretch=self.stretch,
            low_percent=low,
            high_percent=high,
            limits=self.limits,
            nodata=self.nodata,
        )

    @property
    def is_plain(self) -> bool:
        """Any 8-bit picture is read the same way with and without this record."""
        is_natural = self.bands in (None, (1, 2, 3)) and self.limits is None
        is_eight_bit = all(origin.dtype == "uint8" for origin in self.origins)
        return is_natural and is_eight_bit and self.stretch in (StretchKind.AUTO, StretchKind.NONE)

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it: no tuples."""
        return msgspec.json.decode(msgspec.json.encode(self), type=dict[str, Any])

    def sentence(self) -> str:
        """In a few words, for people."""
        shown = [f"bands {','.join(map(str, self.bands))}" if self.bands else "bands by each file's description"]
        if self.limits is not None:
            shown.append(f"limits {self.limits[0]:g},{self.limits[1]:g}")
        elif self.stretch in (StretchKind.PERCENTILE, StretchKind.AUTO):
            shown.append(f"stretch {self.stretch} {self.percentiles[0]:g},{self.percentiles[1]:g}")
        else:
            shown.append(f"stretch {self.stretch}")
        if self.origins:
            shown.append("of " + " or ".join(sorted({str(origin) for origin in self.origins})[:_SHOWN]))
        return ", ".join(shown)


def from_dict(content: Mapping[str, Any] | None, place: str) -> Preprocessing | None:
    """Raises InvalidInput for a record that this version cannot follow: half of it would be a silent difference."""
    if not content:
        return None
    try:
        found = msgspec.convert(dict(content), Preprocessing)
    except msgspec.ValidationError as problem:
        raise InvalidInput(f"{place}: preprocessing cannot be understood: {problem}. Install a newer resolute.") from (
            problem
        )
    if found.format != _FORMAT:
        raise InvalidInput(
            f"{place}: preprocessing has format {found.format}; this version follows format {_FORMAT}. "
            "Install a newer resolute."
        )
    return found


def decode(content: bytes, place: str) -> Preprocessing | None:
    try:
        plain = msgspec.json.decode(content, type=dict[str, Any])
    except msgspec.DecodeError as problem:
        raise InvalidInput(f"{place} is damaged: {problem}. Make the pictures again, or remove it.") from problem
    return from_dict(plain, place)


def read_record(folder: Path) -> Preprocessing | None:
    """That of the prepared pictures in a folder; None when it holds none."""
    path = folder / RECORD
    try:
        return decode(path.read_bytes(), str(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def write_record(folder: Path, preprocessing: Preprocessing) -> None:
    write_atomic(folder / RECORD, msgspec.json.format(msgspec.json.encode(preprocessing), indent=1) + b"\n")


def compose(
    before: Preprocessing | None, options: RenderOptions, origins: Iterable[Origin], place: Path
) -> Preprocessing:
    """That of pictures made with `options` from files in `place`, which may be prepared pictures themselves.

    Raises InvalidInput when bands or a stretch are chosen for what has been through that already.
    """
    if before is None:
        return Preprocessing.of(options, origins)
    if options != RenderOptions():
        raise InvalidInput(
            f"The pictures in {place} are prepared already ({before.sentence()}), so bands, stretch and limits cannot "
            "be chosen again. Start from the original files."
        )
    return before


def options_of(origin: Origin, learnt: Preprocessing, place: str) -> RenderOptions:
    """The same for a file that is known by its header alone."""
    if not learnt.origins:
        return learnt.options
    if origin.is_picture and not any(each.is_picture for each in learnt.origins):
        return RenderOptions()  # A tile, a chip: it has been through it.
    if any(origin.is_like(each) for each in learnt.origins):
        return learnt.options
    if learnt.is_plain and origin.is_picture:
        return RenderOptions()
    raise InvalidInput(
        f"{place} has {origin}, but the model learnt from {learnt.sentence()}. Its answer would mean nothing: give an "
        "image of that kind, or say with --bands and --stretch (or --limits) how this one is to be read."
    )


def note_mixed(origins: Sequence[Origin], report: Report) -> None:
    """Count images that are of another kind than most."""
    kinds = Counter(str(origin) for origin in origins)
    if len(kinds) > 1:
        most = kinds.most_common(1)[0][0]
        others = (f"{count} of {kind}" for kind, count in kinds.items() if kind != most)
        report.add_many(Reason.MIXED_KINDS, len(origins) - kinds[most], others)


def check_same(there: Preprocessing, learnt: Preprocessing, path: Path) -> None:
    differs = disagreement(there, learnt)
    if differs is not None:
        raise InvalidInput(
            f"The pictures in {path.parent} were made otherwise than those the model learnt from: {differs}. Make "
            f"them again from the originals ({learnt.sentence()}), or give --bands to use them as they are."
        )


def disagreement(first: Preprocessing, second: Preprocessing) -> str | None:
    """Why pictures of the one cannot stand beside pictures of the other; None when they can."""
    if first.bands != second.bands and not (first.is_plain and second.is_plain):
        return f"bands {_listed(first.bands)} and {_listed(second.bands)}"
    if first.limits != second.limits:
        return f"limits {_listed(first.limits)} and {_listed(second.limits)}"
    if first.is_plain and second.is_plain:
        return None
    depths = [{origin.dtype for origin in each.origins} for each in (first, second)]
    if all(depths) and not depths[0] & depths[1]:
        return f"values of {', '.join(sorted(depths[0]))} and {', '.join(sorted(depths[1]))}"
    if first.limits is None and (first.stretch, first.percentiles) != (second.stretch, second.percentiles):
        return f"{_stretch(first)} and {_stretch(second)}"
    return None


def _stretch(each: Preprocessing) -> str:
    return f"stretch {each.stretch} {each.percentiles[0]:g},{each.percentiles[1]:g}"


def _listed(values: Sequence[float] | None) -> str:
    return "by description" if values is None else ",".join(f"{value:g}" for value in values)


def _only_number(named: set[str | None]) -> float | None:
    """The one value that all files name; one that cannot be compared (nan) needs no comparing."""
    text = next(iter(named)) if len(named) == 1 else None
    value = math.nan if text is None else float(text)
    return value if math.isfinite(value) else None
