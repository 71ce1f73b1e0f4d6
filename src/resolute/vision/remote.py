"""A deployed model as a detector: pictures go to the master's serving route, detections come back.

Speaks KServe's V1 protocol. The class table is not known beforehand: names are numbered as they are met.
"""

import base64
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from resolute.client.session import Session
from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.encoding import Encoding, PictureFormat, encode
from resolute.imagery.preprocessing import PREPARED, Preprocessing, from_dict
from resolute.vision.detections import ClassName, Detections

_SCORE = "score"


class DeployedDetector:
    """`threshold` of a call is applied here: what the model left out by its own does not come back."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self._name = name
        self._path = f"/serving/{quote(name, safe='')}/v1/models/{quote(name, safe='')}:predict"
        self._labels: dict[str, int] = {}
        self._made: Preprocessing | None = None
        self._is_asked = False

    @property
    def classes(self) -> tuple[ClassName, ...]:
        """Those met so far."""
        return tuple(ClassName(label, name) for name, label in self._labels.items())

    @property
    def has_masks(self) -> bool:
        return False

    @property
    def preprocessing(self) -> Preprocessing | None:
        """What the deployed model says of itself; a model that says nothing learnt from nobody knows what."""
        if not self._is_asked:
            self._made = from_dict(self._described().get("preprocessing"), f"Deployment {self._name}")
            self._is_asked = True
        return self._made

    def _described(self) -> dict[str, Any]:
        quoted = quote(self._name, safe="")
        try:
            found = self._session.get(f"/serving/{quoted}/v2/models/{quoted}")
        except NotFound:
            return {}  # Of a server that does not describe its models.
        return dict(found.get("parameters") or {})

    def detect(self, images: Sequence[NDArray[np.uint8]], *, score_threshold: float | None = None) -> list[Detections]:
        # Without loss: what the model sees must not depend on how the picture travelled.
        packed = [base64.b64encode(encode(image, Encoding(PictureFormat.PNG))).decode() for image in images]
        answer = self._session.post(self._path, {"instances": [{"data": text, PREPARED: True} for text in packed]})
        found = answer.get("predictions")
        if not isinstance(found, list) or len(found) != len(images):
            raise InvalidInput(
                f"Deployment {self._name} answered {str(answer)[:200]} to {len(images)} image(s); a list of detections "
                "for each was expected. Is it a detector?"
            )
        return [self._detections(rows, score_threshold or 0.0) for rows in found]

    def _detections(self, rows: Any, threshold: float) -> Detections:
        boxes: list[list[float]] = []
        scores: list[float] = []
        labels: list[int] = []
        for name, box, score in map(self._read, rows if isinstance(rows, list) else [rows]):
            if score >= threshold:
                boxes.append(box)
                scores.append(score)
                labels.append(self._labels.setdefault(name, len(self._labels) + 1))
        order = np.argsort(-np.array(scores), kind="stable").astype(np.int64)
        return Detections(
            np.array(boxes, dtype=np.float32).reshape(-1, 4)[order],
            np.array(scores, dtype=np.float32)[order],
            np.array(labels, dtype=np.int64)[order],
        )

    def _read(self, row: Any) -> tuple[str, list[float], float]:
        """`{"<class>": [x1, y1, x2, y2], "score": s}`."""
        try:
            name = next(key for key in row if key != _SCORE)
            x1, y1, x2, y2 = map(float, row[name])
            return str(name), [x1, y1, x2, y2], float(row[_SCORE])
        except (TypeError, ValueError, KeyError, StopIteration):
            raise InvalidInput(
                f"Deployment {self._name} answered {str(row)[:120]} where a class with its box and a score was "
                "expected. Is it a detector?"
            ) from None
