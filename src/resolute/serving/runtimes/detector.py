"""A detector behind V1 and V2: pictures in any form to boxes with names; large pictures in slices."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.imagery.preprocessing import PREPARED
from resolute.serving.detections import as_objects, as_tensors, names_of
from resolute.serving.images import Pixels, from_bytes, from_numbers, picture_of
from resolute.serving.model import ModelMetadata, Tensor, TensorSpec, datatype_of
from resolute.serving.runtimes.options import Options
from resolute.serving.trained_decoder import TrainedDecoder
from resolute.vision.detections import Detections, Detector, preprocessing_of

IMAGE = "image"
SLICE_SIZE = 640
_INDEX = "image_index"


class DetectorModel:
    """The `Model` of a `Detector`."""

    def __init__(self, detector: Detector, options: Options, extra: dict[str, Any] | None = None) -> None:
        self._detector, self._options = detector, options
        self._names = names_of(detector.classes)
        made = preprocessing_of(detector)
        self._decode = TrainedDecoder(made) if made is not None else None
        self._slice_size = options.slice_size or (made.tile_size if made else None) or SLICE_SIZE
        if made is not None:
            extra = {**(extra or {}), "preprocessing": made.as_dict()}
        classes = [{"id": row.id, "name": row.name} for row in detector.classes]
        self._metadata = ModelMetadata(
            platform="pytorch_detector",
            inputs=(TensorSpec(name=IMAGE, datatype="UINT8", shape=(-1, -1, 3)),),
            outputs=_outputs(detector.has_masks),
            extra={"classes": classes, **(extra or {})},
        )

    @property
    def metadata(self) -> ModelMetadata:
        return self._metadata

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        limit = self._options.max_pixels
        pictures = [
            picture_of(each, f"instance {index}", max_pixels=limit, decoder=self._decoder_of(each))
            for index, each in enumerate(instances)
        ]
        return [as_objects(found, self._names) for found in self._detect(pictures)]

    def _decoder_of(self, instance: Any) -> TrainedDecoder | None:
        is_prepared = isinstance(instance, Mapping) and instance.get(PREPARED) is True
        return None if is_prepared else self._decode

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        raise NotSupported("Detectors cannot explain their answers; they can predict.")

    def infer(self, requests: Sequence[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        groups = [self._pictures(request) for request in requests]
        found = iter(self._detect([picture for pictures, _ in groups for picture in pictures]))
        return [self._answer([next(found) for _ in pictures], is_batch) for pictures, is_batch in groups]

    def _detect(self, pictures: list[Pixels]) -> list[Detections]:
        """Small ones in one batch; each large one by slices."""
        is_large = [self._is_large(picture) for picture in pictures]
        small = [picture for picture, large in zip(pictures, is_large, strict=True) if not large]
        together = iter(self._detector.detect(small, score_threshold=self._options.score_threshold) if small else [])
        return [
            self._in_slices(picture) if large else next(together)
            for picture, large in zip(pictures, is_large, strict=True)
        ]

    def _is_large(self, picture: Pixels) -> bool:
        return 0 < self._options.slice_limit < int(max(picture.shape[:2]))

    def _in_slices(self, picture: Pixels) -> Detections:
        # Merging and windowed reading are needed for large pictures only.
        from resolute.vision.slicing import predict_large

        found: Detections = predict_large(
            self._detector,
            picture,
            slice_size=self._slice_size,
            overlap=self._options.overlap,
            score_threshold=self._options.score_threshold,
        )
        return found

    def _pictures(self, request: dict[str, Tensor]) -> tuple[list[Pixels], bool]:
        """The pictures of one request, and whether it is a batch."""
        if set(request) != {IMAGE}:
            raise InvalidInput(f"A detector takes one input, {IMAGE!r}; got {', '.join(sorted(request)) or 'none'}.")
        value, limit = request[IMAGE], self._options.max_pixels
        if datatype_of(value) == "BYTES":
            encoded = value.reshape(-1).tolist()
            names = [f"input {IMAGE!r}" + (f"[{index}]" if len(encoded) > 1 else "") for index in range(len(encoded))]
            if not encoded:
                raise InvalidInput(f"input {IMAGE!r} is empty; wanted: BYTES [n], one encoded picture each.")
            pairs = zip(encoded, names, strict=True)
            return [from_bytes(_raw(each), name, max_pixels=limit, decoder=self._decode) for each, name in pairs], len(
                encoded
            ) > 1
        rows, is_batch = _rows(value)
        return [from_numbers(row, f"input {IMAGE!r}", max_pixels=limit) for row in rows], is_batch

    def _answer(self, found: list[Detections], is_batch: bool) -> dict[str, Tensor]:
        parts = [as_tensors(each, self._names) for each in found]
        if not is_batch:
            return parts[0]
        if len({part["masks"].shape[1:] for part in parts if "masks" in part}) > 1:
            raise InvalidInput(
                "Masks of pictures of different sizes do not fit one tensor; send one picture a request."
            )
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        joined[_INDEX] = np.repeat(np.arange(len(found), dtype=np.int64), [len(each) for each in found])
        return joined


def _rows(value: NDArray[Any]) -> tuple[list[NDArray[Any]], bool]:
    if value.ndim == 4 and len(value):
        return list(value), True
    if value.ndim != 3 or value.shape[2] != 3:
        raise InvalidInput(
            f"input {IMAGE!r} is {datatype_of(value)} {list(value.shape)}; wanted: UINT8 [height, width, 3] or "
            "[n, height, width, 3], or BYTES [1] with an encoded picture."
        )
    return [value], False


def _raw(value: Any) -> bytes:
    return value.encode("latin-1") if isinstance(value, str) else bytes(value)


def _outputs(has_masks: bool) -> tuple[TensorSpec, ...]:
    rows = [
        ("boxes", "FP32", (-1, 4)),
        ("scores", "FP32", (-1,)),
        ("labels", "INT64", (-1,)),
        ("class_names", "BYTES", (-1,)),
    ]
    masks = [("masks", "BOOL", (-1, -1, -1))] if has_masks else []
    return tuple(TensorSpec(name=name, datatype=datatype, shape=shape) for name, datatype, shape in (*rows, *masks))
