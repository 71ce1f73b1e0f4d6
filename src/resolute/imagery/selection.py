"""`data filter`: a part of a COCO set, by class and area. Pure.

Category ids stay as they are unless they are renumbered, so that a filtered set still fits its model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from resolute.domain.errors import InvalidInput
from resolute.imagery.coco import Category, Dataset
from resolute.imagery.report import Reason, Report


@dataclass(frozen=True, kw_only=True)
class Selection:
    """`classes`: names or ids; None is all. Areas in pixels, both ends included."""

    classes: tuple[str, ...] | None = None
    min_area: float = 0.0
    max_area: float = float("inf")
    keeps_negatives: bool = False
    renumbers: bool = False
    """Categories count from 1 in the order given, 0 being left for background."""

    def __post_init__(self) -> None:
        if not 0 <= self.min_area <= self.max_area:
            raise InvalidInput(
                f"The areas go from {self.min_area:g} to {self.max_area:g}. The first must not be negative or larger."
            )


def select(dataset: Dataset, selection: Selection, report: Report) -> Dataset:
    """Images that lose all their labels go too, unless negatives are kept; ids of images and labels count from 1."""
    chosen = _chosen(dataset.categories, selection.classes)
    targets = {c.id: (place if selection.renumbers else c.id) for place, c in enumerate(chosen, 1)}
    result = Dataset(categories=[msgspec.structs.replace(c, id=targets[c.id]) for c in chosen])
    labels = dataset.by_image()
    for image in dataset.images:
        kept = []
        for annotation in labels[image.id]:
            if annotation.category_id not in targets:
                report.add(Reason.FILTERED_CLASS, f"annotation {annotation.id}, class {annotation.category_id}")
            elif not selection.min_area <= annotation.area <= selection.max_area:
                report.add(Reason.FILTERED_AREA, f"annotation {annotation.id}, area {annotation.area}")
            else:
                kept.append(annotation)
        if not kept and not selection.keeps_negatives:
            report.add(Reason.EMPTY_IMAGE, image.file_name)
            continue
        image_id = len(result.images) + 1
        result.images.append(msgspec.structs.replace(image, id=image_id))
        for annotation in kept:
            category, number = targets[annotation.category_id], len(result.annotations) + 1
            result.annotations.append(
                msgspec.structs.replace(annotation, id=number, image_id=image_id, category_id=category)
            )
    return result


def _chosen(categories: Sequence[Category], wanted: Sequence[str] | None) -> list[Category]:
    if wanted is None:
        return list(categories)
    by_name = {category.name.lower(): category for category in categories}
    by_id = {str(category.id): category for category in categories}
    unknown = [name for name in wanted if name.lower() not in by_name and name not in by_id]
    if unknown:
        names = ", ".join(category.name for category in categories[:8])
        more = f" and {len(categories) - 8} more" if len(categories) > 8 else ""
        raise InvalidInput(f"There is no class {unknown[0]!r} in this set. It has: {names}{more}.")
    found = [by_name.get(name.lower()) or by_id[name] for name in wanted]
    return list({category.id: category for category in found}.values())
