"""What a detector says about one image. Plain arrays: no torch here, so that servers and metrics need none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from resolute.imagery.preprocessing import Preprocessing


@dataclass(frozen=True, slots=True)
class Detections:
    """Best first. Boxes are x1, y1, x2, y2 in pixels of the image that was given."""

    boxes: NDArray[np.float32]
    """[n, 4]"""
    scores: NDArray[np.float32]
    """[n]"""
    labels: NDArray[np.int64]
    """[n]; the model's own label: 0 is background, label i is `classes[i - 1]`."""
    masks: NDArray[np.bool_] | None = None
    """[n, height, width], for models that have them."""

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class ClassName:
    """A row of the class table that travels from the labels to the served model."""

    id: int
    """The category id in the label file."""
    name: str


class Detector(Protocol):
    """A loaded model, ready to look at images."""

    @property
    def classes(self) -> tuple[ClassName, ...]:
        """Label i of a detection is `classes[i - 1]`."""

    @property
    def has_masks(self) -> bool: ...

    def detect(self, images: Sequence[NDArray[np.uint8]], *, score_threshold: float | None = None) -> list[Detections]:
        """One result per image, in order; sizes may differ. Images are height x width x 3, RGB.
        `score_threshold` None: the model's own."""


def preprocessing_of(detector: Detector) -> "Preprocessing | None":
    """How the pictures were made that it learnt from. A detector need not say: the attribute `preprocessing` is its own
    choice."""
    found: Preprocessing | None = getattr(detector, "preprocessing", None)
    return found
