"""Detections as answers: V1 objects that existing clients read, and typed V2 tensors. No torch.

The V1 form is `{"<class>": [x1, y1, x2, y2], "score": s}`; clients take the first key as the class, so order matters.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from resolute.domain.errors import InvalidInput
from resolute.serving.model import Tensor
from resolute.vision.detections import ClassName, Detections

SCORE = "score"


def names_of(classes: Sequence[ClassName]) -> dict[int, str]:
    """Label to name. Label 0 is background."""
    return {label: row.name for label, row in enumerate(classes, start=1)}


def as_objects(found: Detections, names: Mapping[int, str]) -> list[dict[str, Any]]:
    labels, scores, boxes = found.labels.tolist(), found.scores.tolist(), found.boxes.tolist()
    return [
        labelled(name_of(label, names), box, score) for label, score, box in zip(labels, scores, boxes, strict=True)
    ]


def labelled(name: str, box: list[float], score: float) -> dict[str, Any]:
    """A class that is called "score" itself is written "score " so that neither value is lost."""
    return {f"{name} " if name == SCORE else name: box, SCORE: score}


def as_tensors(found: Detections, names: Mapping[int, str]) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {
        "boxes": np.asarray(found.boxes, dtype=np.float32).reshape(-1, 4),
        "scores": np.asarray(found.scores, dtype=np.float32),
        "labels": np.asarray(found.labels, dtype=np.int64),
        "class_names": _byte_strings([name_of(label, names) for label in found.labels.tolist()]),
    }
    if found.masks is not None:
        tensors["masks"] = np.asarray(found.masks, dtype=bool)
    return tensors


def name_of(label: int, names: Mapping[int, str]) -> str:
    name = names.get(label)
    if name is None:
        raise InvalidInput(
            f"The model answered with class {label}, which has no name: the table has {span(names)}. "
            "Serve it with the class table that it was trained with (index_to_name.json or detector.json)."
        )
    return name


def span(names: Mapping[int, str]) -> str:
    """A class table in a few words."""
    return f"{len(names)} names, from {min(names)} to {max(names)}" if names else "no names"


def _byte_strings(texts: list[str]) -> Tensor:
    array = np.empty(len(texts), dtype=object)
    array[:] = [text.encode() for text in texts]
    return array
