"""What happened to labels and images on the way: every drop and every change, by reason, counted, with examples.

A report is a plain tally. It decides nothing and prints nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

EXAMPLES_KEPT = 3


class Effect(StrEnum):
    DROPPED = "dropped"
    CHANGED = "changed"
    NOTED = "noted"


class Reason(StrEnum):
    """Why. Each has one sentence and one effect in `MEANING`."""

    WRONG_TYPE = "wrong_type"
    EMPTY_BOUNDS = "empty_bounds"
    NOT_FOUR_NUMBERS = "not_four_numbers"
    NOT_NUMBERS = "not_numbers"
    UNKNOWN_CLASS = "unknown_class"
    IMAGE_NOT_FOUND = "image_not_found"
    IMAGE_UNREADABLE = "image_unreadable"
    UNKNOWN_IMAGE_ID = "unknown_image_id"
    ZERO_AREA = "zero_area"
    OUTSIDE_IMAGE = "outside_image"
    INVERTED = "inverted"
    CLIPPED_TO_IMAGE = "clipped_to_image"
    BELOW_AREA_RATIO = "below_area_ratio"
    NOT_AN_AREA = "not_an_area"
    REPAIRED = "repaired"
    HOLES_FILLED = "holes_filled"
    TURNED_BOX = "turned_box"
    NO_GEOREFERENCE = "no_georeference"
    ON_NO_IMAGE = "on_no_image"
    ON_SEVERAL_IMAGES = "on_several_images"
    RLE_LEFT_OUT = "rle_left_out"
    SIZE_DIFFERS = "size_differs"
    MIXED_KINDS = "mixed_kinds"
    LITTER = "litter"
    DUPLICATE_IMAGE_ID = "duplicate_image_id"
    DUPLICATE_FILE_NAME = "duplicate_file_name"
    DUPLICATE_LABEL_ID = "duplicate_label_id"
    DUPLICATE_LABEL = "duplicate_label"
    BEYOND_IMAGE = "beyond_image"
    CLASS_ON_ONE_SIDE = "class_on_one_side"
    CLASS_UNUSED = "class_unused"
    FILTERED_CLASS = "filtered_class"
    FILTERED_AREA = "filtered_area"
    EMPTY_IMAGE = "empty_image"


MEANING: dict[Reason, tuple[Effect, str]] = {
    Reason.WRONG_TYPE: (Effect.DROPPED, "a field has the wrong type or is missing"),
    Reason.EMPTY_BOUNDS: (Effect.DROPPED, "the bounds are empty"),
    Reason.NOT_FOUR_NUMBERS: (Effect.DROPPED, "the bounds do not have four numbers"),
    Reason.NOT_NUMBERS: (Effect.DROPPED, "the bounds are not numbers"),
    Reason.UNKNOWN_CLASS: (Effect.DROPPED, "the class is not in the class table"),
    Reason.IMAGE_NOT_FOUND: (Effect.DROPPED, "the image is not there"),
    Reason.IMAGE_UNREADABLE: (Effect.DROPPED, "the image cannot be read"),
    Reason.UNKNOWN_IMAGE_ID: (Effect.DROPPED, "the label names an image id that does not exist"),
    Reason.ZERO_AREA: (Effect.DROPPED, "the box has no area"),
    Reason.OUTSIDE_IMAGE: (Effect.DROPPED, "the box lies wholly outside of the image"),
    Reason.INVERTED: (Effect.CHANGED, "corners the wrong way round were put in order"),
    Reason.CLIPPED_TO_IMAGE: (Effect.CHANGED, "the box was cut at the image's edge"),
    Reason.BELOW_AREA_RATIO: (Effect.DROPPED, "too little of the box lies in a tile (counted for each tile)"),
    Reason.NOT_AN_AREA: (Effect.DROPPED, "the label is a point or a line, which has no area"),
    Reason.REPAIRED: (Effect.CHANGED, "an outline that crosses itself was repaired"),
    Reason.HOLES_FILLED: (Effect.CHANGED, "holes of an outline were filled, for which COCO has no word"),
    Reason.TURNED_BOX: (Effect.CHANGED, "a turned box became the upright one around it; its corners stay as a mask"),
    Reason.NO_GEOREFERENCE: (Effect.DROPPED, "the image does not say where on earth it lies"),
    Reason.ON_NO_IMAGE: (Effect.DROPPED, "the label lies on none of the images"),
    Reason.ON_SEVERAL_IMAGES: (Effect.NOTED, "the label lies on several images and is put on each"),
    Reason.RLE_LEFT_OUT: (Effect.CHANGED, "a run-length mask was left out; the box stays"),
    Reason.SIZE_DIFFERS: (Effect.NOTED, "the image has another size than its label file says; its own size was used"),
    Reason.MIXED_KINDS: (
        Effect.NOTED,
        "images differ from most in data type or bands; each was read in its way",
    ),
    Reason.LITTER: (Effect.NOTED, "macOS litter (._ files) was left alone"),
    Reason.DUPLICATE_IMAGE_ID: (Effect.DROPPED, "an image id is used twice; the first one counts"),
    Reason.DUPLICATE_FILE_NAME: (Effect.NOTED, "two images have the same file name"),
    Reason.DUPLICATE_LABEL_ID: (Effect.NOTED, "two labels have the same id"),
    Reason.DUPLICATE_LABEL: (Effect.NOTED, "two labels of an image have the same box and class"),
    Reason.BEYOND_IMAGE: (Effect.NOTED, "the box reaches beyond the image's edge"),
    Reason.CLASS_ON_ONE_SIDE: (Effect.NOTED, "the class is on one side of the split only"),
    Reason.CLASS_UNUSED: (Effect.NOTED, "the class has no label"),
    Reason.FILTERED_CLASS: (Effect.DROPPED, "the class was not asked for"),
    Reason.FILTERED_AREA: (Effect.DROPPED, "the area is outside of the asked range"),
    Reason.EMPTY_IMAGE: (Effect.DROPPED, "the image has no label left"),
}


@dataclass
class Finding:
    count: int = 0
    examples: list[str] = field(default_factory=list)


class Report:
    """A tally by reason. Adding is cheap; examples beyond the first few are not kept."""

    def __init__(self) -> None:
        self._findings: dict[Reason, Finding] = {}

    def add(self, reason: Reason, example: str = "", *, count: int = 1) -> None:
        self.add_many(reason, count, (example,) if example else ())

    def add_many(self, reason: Reason, count: int, examples: Iterable[str] = ()) -> None:
        """`examples` may be lazy: only as many as are kept are taken from it."""
        if count <= 0:
            return
        finding = self._findings.setdefault(reason, Finding())
        finding.count += count
        wanted = EXAMPLES_KEPT - len(finding.examples)
        if wanted > 0:
            finding.examples.extend(example for _, example in zip(range(wanted), examples, strict=False))

    def merge(self, other: "Report") -> None:
        for reason, finding in other._findings.items():
            self.add_many(reason, finding.count, finding.examples)

    def count(self, reason: Reason) -> int:
        return self._findings.get(reason, Finding()).count

    def examples(self, reason: Reason) -> list[str]:
        return list(self._findings.get(reason, Finding()).examples)

    def total(self, effect: Effect) -> int:
        return sum(found.count for reason, found in self._findings.items() if MEANING[reason][0] is effect)

    def __iter__(self) -> Iterator[tuple[Reason, Finding]]:
        return iter(sorted(self._findings.items(), key=lambda pair: list(Reason).index(pair[0])))

    def __bool__(self) -> bool:
        return bool(self._findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            reason.value: {
                "effect": MEANING[reason][0].value,
                "meaning": MEANING[reason][1],
                "count": finding.count,
                "examples": finding.examples,
            }
            for reason, finding in self
        }
