"""A detector that was exported to one file: picture in, boxes, scores and labels out. No torch here."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput
from resolute.imagery.preprocessing import Preprocessing, from_dict
from resolute.vision.detections import ClassName, Detections

Call = Callable[[NDArray[np.uint8]], Sequence[NDArray[Any]]]
DETECTOR = "detector"


class ExportedDetector:
    """The `Detector` of an exported file. `note` is what the exporter wrote into it."""

    has_masks = False

    def __init__(self, call: Call, note: dict[str, Any]) -> None:
        self._call = call
        self.classes = tuple(ClassName(int(row["id"]), str(row["name"])) for row in note.get("classes", ()))
        self._preprocessing = from_dict(note.get("preprocessing"), "The exported file")
        self._size: list[int] | None = note.get("image_size")
        """[height, width] where the program takes no other."""

    @property
    def preprocessing(self) -> Preprocessing | None:
        return self._preprocessing

    def detect(self, images: Sequence[NDArray[np.uint8]], *, score_threshold: float | None = None) -> list[Detections]:
        return [self._one(image, score_threshold) for image in images]

    def _one(self, image: NDArray[np.uint8], score_threshold: float | None) -> Detections:
        if self._size is not None and list(image.shape[:2]) != self._size:
            height, width = self._size
            raise InvalidInput(
                f"The picture is {image.shape[1]} x {image.shape[0]}; this program was exported for {width} x {height} "
                "only. Resize the picture, or export the model to ONNX or TorchScript, which take any size."
            )
        boxes, scores, labels = self._call(np.ascontiguousarray(image))
        keep = scores >= (score_threshold if score_threshold is not None else -np.inf)
        return Detections(
            np.asarray(boxes, np.float32).reshape(-1, 4)[keep],
            np.asarray(scores, np.float32)[keep],
            np.asarray(labels, np.int64)[keep],
        )
