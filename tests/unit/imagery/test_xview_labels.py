"""From GeoJSON to COCO: every fault is counted with its reason, and the good labels come through."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput
from resolute.imagery.classes import xview_classes
from resolute.imagery.coco import Dataset
from resolute.imagery.geojson import parse, parse_bounds
from resolute.imagery.labels import SizedImage, convert, subset
from resolute.imagery.report import Effect, Reason, Report

IMAGES = [SizedImage("5.tif", "5.png", 700, 650), SizedImage("8.tif", "8.png", 300, 300)]


def feature(bounds: Any = "10,20,30,40", *, image: Any = "5.tif", kind: Any = 11) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"bounds_imcoords": bounds, "image_id": image, "type_id": kind, "cat_id": "x"},
        "geometry": {"type": "Polygon", "coordinates": [[[1.0, 2.0]]]},
    }


def text_of(*features: Any) -> bytes:
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def converted(*features: Any, is_parity: bool = False) -> tuple[Dataset, Report]:
    report = Report()
    parsed = parse(text_of(*features), "labels.geojson", report)
    return convert(parsed, IMAGES, xview_classes(), report, is_parity=is_parity), report


def test_a_good_label_becomes_a_coco_annotation() -> None:
    dataset, report = converted(feature("10,20,30,50", kind=12))

    (annotation,) = dataset.annotations
    assert annotation.bbox == [10, 20, 20, 30]
    assert (annotation.category_id, annotation.image_id, annotation.id, annotation.area) == (1, 1, 1, 600)
    assert dataset.images[0].file_name == "5.png"
    assert not report


FAULTS = [
    ("", Reason.EMPTY_BOUNDS),
    ("   ", Reason.EMPTY_BOUNDS),
    ([], Reason.EMPTY_BOUNDS),
    (None, Reason.EMPTY_BOUNDS),
    ("10,20,30", Reason.NOT_FOUR_NUMBERS),
    ("10,20,30,40,50", Reason.NOT_FOUR_NUMBERS),
    ([1, 2, 3], Reason.NOT_FOUR_NUMBERS),
    ("a,b,c,d", Reason.NOT_NUMBERS),
    ("10,20,nan,40", Reason.NOT_NUMBERS),
    ("10,20,,40", Reason.NOT_NUMBERS),
    (["x", 1, 2, 3], Reason.NOT_NUMBERS),
    ("10,20,10,40", Reason.ZERO_AREA),
    ("900,20,950,40", Reason.OUTSIDE_IMAGE),
    ("-90,20,-50,40", Reason.OUTSIDE_IMAGE),
]


@pytest.mark.parametrize(("bounds", "reason"), FAULTS)
def test_a_fault_is_dropped_and_counted_and_the_rest_goes_on(bounds: Any, reason: Reason) -> None:
    dataset, report = converted(feature(), feature(bounds), feature())

    assert len(dataset.annotations) == 2
    assert report.count(reason) == 1
    assert report.total(Effect.DROPPED) == 1
    assert "feature 1" in report.examples(reason)[0]


def test_bounds_as_a_list_of_four_numbers_are_taken() -> None:
    dataset, report = converted(feature([10, 20, 30, 40]))

    assert dataset.annotations[0].bbox == [10, 20, 20, 20]
    assert not report


def test_odd_but_clear_numbers_are_taken_beside_plain_ones() -> None:
    dataset, report = converted(feature("1,2,30,40"), feature("+1, 002,30.5,40"))

    assert [a.bbox for a in dataset.annotations] == [[1, 2, 29, 38], [1, 2, 29.5, 38]]
    assert not report


def test_an_inverted_box_is_put_in_order_and_counted_as_changed() -> None:
    dataset, report = converted(feature("80,80,60,90"))

    assert dataset.annotations[0].bbox == [60, 80, 20, 10]
    assert report.count(Reason.INVERTED) == 1


def test_a_box_beyond_the_edge_is_cut_there() -> None:
    dataset, report = converted(feature("-5,640,20,700"))

    assert dataset.annotations[0].bbox == [0, 640, 20, 10]
    assert dataset.annotations[0].area == 200
    assert report.count(Reason.CLIPPED_TO_IMAGE) == 1


def test_parity_keeps_boxes_beyond_the_edge_as_they_are() -> None:
    dataset, _ = converted(feature("-5,640,20,700"), is_parity=True)

    assert dataset.annotations[0].bbox == [-5, 640, 25, 60]


@pytest.mark.parametrize("kind", [75, 82, 0, -1])
def test_an_unknown_class_is_dropped_and_its_image_kept(kind: int) -> None:
    dataset, report = converted(feature(kind=kind))

    assert dataset.annotations == []
    assert [image.file_name for image in dataset.images] == ["5.png"]
    assert f"class {kind}" in report.examples(Reason.UNKNOWN_CLASS)[0]


def test_a_label_for_a_missing_image_is_dropped() -> None:
    dataset, report = converted(feature(), feature(image="1395.tif"))

    assert len(dataset.annotations) == 1
    assert report.count(Reason.IMAGE_NOT_FOUND) == 1


@pytest.mark.parametrize(
    "odd",
    [
        feature(kind="eleven"),
        feature(kind=None),
        feature(kind=10**30),
        feature(image=5),
        feature({"x": 1}),
        {"type": "Feature"},
        {"properties": None},
        17,
        "text",
        None,
    ],
)
def test_a_feature_of_the_wrong_type_is_set_aside(odd: Any) -> None:
    dataset, report = converted(feature(), odd, feature(image="8.tif"))

    assert len(dataset.annotations) == 2
    assert report.count(Reason.WRONG_TYPE) == 1
    assert report.examples(Reason.WRONG_TYPE)[0].startswith("feature 1: ")


@pytest.mark.parametrize("text", [b"", b"{", b'{"features": [', b"\x00\xff", text_of(feature())[:-9]])
def test_a_file_that_is_cut_off_is_refused_by_name(text: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"labels.geojson is not JSON"):
        parse(text, "labels.geojson", Report())


@pytest.mark.parametrize("text", [b"[]", b"{}", b'{"features": 3}', b'"x"'])
def test_json_without_features_is_refused_by_name(text: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"labels.geojson is JSON, but not a GeoJSON"):
        parse(text, "labels.geojson", Report())


def test_images_keep_the_given_order_and_those_without_features_are_left_out() -> None:
    dataset, _ = converted(feature(image="8.tif"))

    assert [(image.id, image.file_name) for image in dataset.images] == [(1, "8.png")]


def test_parity_leaves_an_image_out_that_has_only_an_empty_list_of_bounds() -> None:
    dataset, _ = converted(feature([], image="8.tif"), feature("1,2,3", image="5.tif"), is_parity=True)

    assert [image.file_name for image in dataset.images] == ["5.png"]


def test_annotations_lie_by_image_then_in_file_order() -> None:
    dataset, _ = converted(feature("1,1,9,9", image="8.tif"), feature("2,2,9,9"), feature("3,3,9,9", image="8.tif"))

    assert [(a.image_id, a.bbox[0]) for a in dataset.annotations] == [(1, 2), (2, 1), (2, 3)]
    assert [a.id for a in dataset.annotations] == [1, 2, 3]


def test_a_subset_counts_from_one_again() -> None:
    dataset, _ = converted(feature(image="8.tif"), feature())

    part = subset(dataset, [1])

    assert [(image.id, image.file_name) for image in part.images] == [(1, "8.png")]
    assert [(a.id, a.image_id) for a in part.annotations] == [(1, 1)]


numbers = st.integers(-2000, 2000)
any_bounds = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.tuples(numbers, numbers, numbers, numbers).map(lambda four: ",".join(map(str, four))),
    st.lists(st.one_of(numbers, st.text(max_size=2), st.none()), max_size=5),
)
any_feature = st.builds(
    feature,
    any_bounds,
    image=st.sampled_from(["5.tif", "8.tif", "x"]),
    kind=st.sampled_from([11, 94, 75, "11", None, 2.5]),
)


@given(st.lists(any_feature, max_size=8), st.booleans())
def test_whatever_the_features_none_is_lost_without_being_counted(features: list[Any], is_parity: bool) -> None:
    dataset, report = converted(*features, is_parity=is_parity)

    assert len(dataset.annotations) + report.total(Effect.DROPPED) == len(features)


@given(st.lists(any_feature, max_size=8))
def test_whatever_the_features_boxes_lie_in_their_images(features: list[Any]) -> None:
    dataset, _ = converted(*features)

    sizes = {image.id: (image.width, image.height) for image in dataset.images}
    for annotation in dataset.annotations:
        x, y, width, height = annotation.bbox
        assert min(x, y) >= 0
        assert min(width, height) > 0
        assert (x + width, y + height) <= sizes[annotation.image_id] or y + height <= sizes[annotation.image_id][1]
        assert annotation.area == width * height


def test_bounds_are_read_as_columns() -> None:
    report = Report()
    parsed = parse(text_of(*(feature(f"{n},{n},{n + 5},{n + 7}") for n in range(100))), "x", report)

    boxes, has_box = parse_bounds(parsed, report)

    assert has_box.all()
    assert (boxes[:, 2] - boxes[:, 0] == 5).all()
    assert np.array_equal(boxes[:, 0], np.arange(100))
