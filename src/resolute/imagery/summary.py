"""`data stats`: counts and areas of a COCO set, by class. Pure."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from resolute.imagery.coco import Dataset


@dataclass(frozen=True)
class ClassStatistics:
    id: int
    name: str
    images: int
    annotations: int
    min_area: float
    mean_area: float
    max_area: float


@dataclass(frozen=True)
class Statistics:
    """Areas in pixels. `annotations_per_image` counts images that have any."""

    images: int
    negative_images: int
    annotations: int
    categories: int
    annotations_per_image: float
    max_annotations_in_image: int
    small: int
    medium: int
    large: int
    classes: list[ClassStatistics]


_SMALL, _MEDIUM = 32**2, 96**2
"""COCO's own limits of small and medium objects."""


def statistics(dataset: Dataset) -> Statistics:
    per_image = Counter(annotation.image_id for annotation in dataset.annotations)
    counts = [per_image.get(image.id, 0) for image in dataset.images]
    positives = sum(count > 0 for count in counts)
    sizes = np.array([_area(a.bbox) for a in dataset.annotations])
    kinds = np.array([a.category_id for a in dataset.annotations], dtype=np.int64)
    owners = np.array([a.image_id for a in dataset.annotations], dtype=np.int64)
    classes = []
    for category in dataset.categories:
        mine = kinds == category.id
        found = sizes[mine]
        low, mean, high = (float(found.min()), float(found.mean()), float(found.max())) if len(found) else (0, 0, 0)
        images = len(np.unique(owners[mine]))
        classes.append(ClassStatistics(category.id, category.name, images, len(found), low, mean, high))
    return Statistics(
        images=len(dataset.images),
        negative_images=len(dataset.images) - positives,
        annotations=len(dataset.annotations),
        categories=len(dataset.categories),
        annotations_per_image=len(dataset.annotations) / positives if positives else 0.0,
        max_annotations_in_image=max(counts, default=0),
        small=int((sizes < _SMALL).sum()),
        medium=int(((sizes >= _SMALL) & (sizes < _MEDIUM)).sum()),
        large=int((sizes >= _MEDIUM).sum()),
        classes=classes,
    )


def _area(bbox: list[int | float]) -> float:
    return float(bbox[2] * bbox[3]) if len(bbox) == 4 else 0.0
