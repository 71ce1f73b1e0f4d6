"""A detector behind V1 and V2: names, forms, batches, slices."""

import base64
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from resolute.domain.errors import InvalidInput, NotSupported, TooLarge
from resolute.serving.model import Model
from resolute.serving.runtimes.detector import DetectorModel
from resolute.serving.runtimes.options import Options, read_options
from resolute.vision.detections import ClassName, Detections

CLASSES = (ClassName(11, "Fixed-wing Aircraft"), ClassName(12, "Small Aircraft"))


class Mirror:
    """Finds one box as large as the picture; its score is the first pixel's red in hundredths."""

    classes = CLASSES

    def __init__(self, *, label: int = 1, has_masks: bool = False) -> None:
        self.label, self.has_masks = label, has_masks
        self.batches: list[list[tuple[int, ...]]] = []

    def detect(self, images: Sequence[NDArray[np.uint8]], *, score_threshold: float | None = None) -> list[Detections]:
        self.batches.append([image.shape for image in images])
        return [self._one(image, score_threshold or 0.0) for image in images]

    def _one(self, image: NDArray[np.uint8], least: float) -> Detections:
        height, width = image.shape[:2]
        score = image[0, 0, 0] / 100
        count = int(score >= least)
        return Detections(
            np.asarray([[0, 0, width, height]], np.float32)[:count],
            np.asarray([score], np.float32)[:count],
            np.asarray([self.label])[:count],
            np.ones((count, height, width), bool) if self.has_masks else None,
        )


def _pixels(red: int, width: int = 6, height: int = 4) -> NDArray[np.uint8]:
    return np.full((height, width, 3), red, np.uint8)


def _encoded(red: int, width: int = 6, height: int = 4) -> bytes:
    target = io.BytesIO()
    Image.fromarray(_pixels(red, width, height)).save(target, "PNG")
    return target.getvalue()


def _text(red: int) -> dict[str, str]:
    return {"data": base64.b64encode(_encoded(red)).decode()}


def _bytes(*values: bytes) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def test_v1_answers_class_name_first_then_score() -> None:
    model: Model = DetectorModel(Mirror(), Options())

    answers = model.predict([_text(50), _pixels(25, 10, 8).tolist()])

    assert [list(row.items()) for found in answers for row in found] == [
        [("Fixed-wing Aircraft", [0.0, 0.0, 6.0, 4.0]), ("score", 0.5)],
        [("Fixed-wing Aircraft", [0.0, 0.0, 10.0, 8.0]), ("score", 0.25)],
    ]


def test_v2_answers_typed_tensors() -> None:
    model = DetectorModel(Mirror(label=2), Options())

    answer = model.infer([{"image": _pixels(50)}])[0]

    assert {name: (str(array.dtype), array.tolist()) for name, array in answer.items()} == {
        "boxes": ("float32", [[0.0, 0.0, 6.0, 4.0]]),
        "scores": ("float32", [0.5]),
        "labels": ("int64", [2]),
        "class_names": ("object", [b"Small Aircraft"]),
    }
    assert [spec.name for spec in model.metadata.outputs] == list(answer)


def test_v2_takes_encoded_pictures_and_batches() -> None:
    model = DetectorModel(Mirror(), Options())

    answers = model.infer(
        [
            {"image": _bytes(_encoded(50))},
            {"image": np.stack([_pixels(10), _pixels(20)])},
            {"image": _bytes(_encoded(30), _encoded(40, 9, 9))},
        ]
    )

    scores = [answer["scores"].tolist() for answer in answers]
    assert scores == [[0.5], pytest.approx([0.1, 0.2]), pytest.approx([0.3, 0.4])]
    assert "image_index" not in answers[0]
    assert answers[1]["image_index"].tolist() == [0, 1]


def test_requests_of_mixed_sizes_are_one_batch_of_the_detector() -> None:
    detector = Mirror()
    model = DetectorModel(detector, Options())

    model.infer([{"image": _pixels(1, 8, 8)}, {"image": _pixels(1, 9, 7)}])

    assert detector.batches == [[(8, 8, 3), (7, 9, 3)]]


def test_masks_travel_where_the_detector_has_them() -> None:
    model = DetectorModel(Mirror(has_masks=True), Options())

    answer = model.infer([{"image": _pixels(50)}])[0]

    assert answer["masks"].shape == (1, 4, 6)
    assert answer["masks"].dtype == bool
    with pytest.raises(InvalidInput, match="do not fit one tensor"):
        model.infer([{"image": _bytes(_encoded(30), _encoded(40, 9, 9))}])


def test_an_image_without_finds_gives_empty_tensors() -> None:
    model = DetectorModel(Mirror(), Options(score_threshold=0.9))

    answer = model.infer([{"image": _pixels(1)}])[0]

    assert {name: array.shape for name, array in answer.items()} == {
        "boxes": (0, 4),
        "scores": (0,),
        "labels": (0,),
        "class_names": (0,),
    }
    assert model.predict([_pixels(1).tolist()]) == [[]]


def test_a_class_that_has_no_name_is_told() -> None:
    model = DetectorModel(Mirror(label=7), Options())

    with pytest.raises(InvalidInput, match="class 7, which has no name: the table has 2 names, from 1 to 2"):
        model.predict([_text(50)])


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({}, "takes one input, 'image'; got none"),
        ({"picture": _pixels(1)}, "got picture"),
        ({"image": np.zeros((4, 6), np.uint8)}, r"input 'image' is UINT8 \[4, 6\]; wanted: UINT8 \[height, width, 3\]"),
        ({"image": np.zeros((4, 6, 4), np.uint8)}, r"UINT8 \[4, 6, 4\]"),
        ({"image": np.zeros((0, 6, 3), np.uint8)}, "none of them 0"),
        ({"image": _bytes(b"no picture!")}, "input 'image' is not a picture"),
        ({"image": _bytes(_encoded(1), b"no")}, r"input 'image'\[1\] is not a picture"),
        ({"image": _bytes()}, "is empty"),
    ],
)
def test_wrong_inputs_are_told_with_what_was_wanted(request_: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        DetectorModel(Mirror(), Options()).infer([request_])


def test_the_bad_instance_is_named() -> None:
    with pytest.raises(InvalidInput, match="instance 1 is not base64"):
        DetectorModel(Mirror(), Options()).predict([_text(1), {"data": "###"}])
    with pytest.raises(TooLarge, match="instance 0 has 6 x 4 pixels"):
        DetectorModel(Mirror(), Options(max_pixels=10)).predict([_text(1)])


def test_detectors_do_not_explain() -> None:
    with pytest.raises(NotSupported, match="cannot explain"):
        DetectorModel(Mirror(), Options()).explain([_text(1)])


def test_large_pictures_are_predicted_in_slices_and_small_ones_are_not() -> None:
    pytest.importorskip("resolute.vision.slicing")
    detector = Mirror()
    model = DetectorModel(detector, Options(slice_limit=64, slice_size=32, overlap=0.0))

    answers = model.predict([_pixels(50, 20, 20).tolist(), _pixels(50, 100, 30).tolist()])

    sizes = {size for batch in detector.batches for size in batch}
    assert (20, 20, 3) in sizes
    assert any(max(size[:2]) <= 32 and size != (20, 20, 3) for size in sizes)
    assert len(answers) == 2


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"device": "tpu"}, "The option device is 'tpu'; wanted: cpu, cuda"),
        ({"score_threshold": 2}, "score_threshold is 2; wanted: a number from 0 to 1"),
        ({"slice_size": 3}, "slice_size is 3"),
        ({"overlap": 1.0}, "overlap is 1.0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"max_pixels": "many"}, "max_pixels is 'many'"),
        ({"slice_limit": -1}, "slice_limit is -1"),
        ({"datatype": "FLOAT"}, "datatype is 'FLOAT'"),
        ({"inputs": [{"name": "x"}]}, "The option inputs holds"),
    ],
)
def test_bad_options_are_refused_before_anything_is_loaded(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read_options(given)


def test_an_unknown_option_is_told_and_not_fatal(caplog: pytest.LogCaptureFixture) -> None:
    assert read_options({"scor_threshold": 0.5, "device": None}) == Options()
    assert "is score_threshold meant" in caplog.text
