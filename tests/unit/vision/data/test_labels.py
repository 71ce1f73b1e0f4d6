"""Labels become samples: every one that is dropped or changed is counted, and tables that disagree are refused."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.geometry import Window
from resolute.vision.data import labels
from resolute.vision.data.fake import fake_labels
from resolute.vision.data.labels import as_coco, check_same_classes, read_labels, tiled, to_learn_from
from resolute.vision.data.masks import masks_of
from resolute.vision.detections import ClassName


def dataset(*annotations: dict[str, Any], images: int = 2, categories: tuple[int, ...] = (7, 3)) -> coco.Dataset:
    return coco.Dataset(
        images=[coco.Image(id=i, file_name=f"{i}.png", width=100, height=80) for i in range(1, images + 1)],
        annotations=[
            coco.Annotation(**{"id": number, "image_id": 1, "category_id": 3, "bbox": [0, 0, 9, 9], **given})
            for number, given in enumerate(annotations, 1)
        ],
        categories=[coco.Category(id=number, name=f"kind {number}") for number in categories],
    )


def test_labels_count_from_one_in_the_order_of_category_ids() -> None:
    table = read_labels(dataset({"category_id": 7}, {"category_id": 3}), "train.json")

    assert table.classes == (ClassName(3, "kind 3"), ClassName(7, "kind 7"))
    assert table.samples[0].labels.tolist() == [2, 1]
    assert table.label_to_category == {1: 3, 2: 7}


def test_boxes_are_cut_to_the_image_and_all_that_is_left_out_is_counted() -> None:
    table = read_labels(
        dataset(
            {"bbox": [90, 70, 30, 30]},
            {"bbox": [10, 10, 0, 5]},
            {"bbox": [200, 10, 5, 5]},
            {"bbox": [10, 10, -4, 5]},
            {"category_id": 99},
            {"image_id": 55},
            {"bbox": [1, 2, 3, 4]},
        ),
        "train.json",
    )

    assert table.samples[0].boxes.tolist() == [[90, 70, 100, 80], [1, 2, 4, 6]]
    assert table.report == Counter({labels.CUT: 1, labels.DEGENERATE: 3, labels.STRANGER: 1, labels.ORPHAN: 1})
    assert "3 boxes without area" in table.sentence()


def test_crowds_and_empty_images_are_measured_but_not_learnt_from() -> None:
    table = read_labels(dataset({"iscrowd": 1}, {"bbox": [5, 5, 5, 5]}), "train.json")

    learnt = to_learn_from(table)

    assert len(table.samples) == 2
    assert table.samples[0].is_crowd.tolist() == [True, False]
    assert [len(sample.boxes) for sample in learnt.samples] == [1]
    assert learnt.report == Counter({labels.CROWD: 1, labels.UNLABELLED: 1})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (dataset(categories=()), "has no categories"),
        (dataset(images=0), "has no images"),
        (dataset(categories=(1, 1)), r"category .*2 times"),
    ],
)
def test_a_file_that_cannot_be_learnt_from_is_refused(given: coco.Dataset, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read_labels(given, "train.json")


def test_a_set_without_any_usable_box_is_refused() -> None:
    with pytest.raises(InvalidInput, match="nothing to learn from"):
        to_learn_from(read_labels(dataset({"bbox": [1, 1, 0, 0]}), "train.json"))


def test_class_tables_that_disagree_are_refused_with_the_difference() -> None:
    train = read_labels(dataset(), "train.json")
    val = read_labels(dataset(categories=(3, 8)), "val.json")

    with pytest.raises(InvalidInput, match=r"Only in the first: kind 7; only in the second: kind 8"):
        check_same_classes(train, val)


def test_windows_of_an_image_hold_their_parts_of_the_labels() -> None:
    table = read_labels(dataset({"bbox": [30, 10, 20, 20]}, {"bbox": [70, 60, 10, 10]}, images=1), "train.json")

    tiles = tiled(table, 40, 0.0)

    assert [sample.window for sample in tiles.samples][:3] == [
        Window(0, 0, 40, 40),
        Window(40, 0, 80, 40),
        Window(60, 0, 100, 40),
    ]
    assert tiles.samples[0].boxes.tolist() == [[30, 10, 40, 30]]
    assert tiles.samples[1].boxes.tolist() == [[0, 10, 10, 30]]
    assert len({sample.image_id for sample in tiles.samples}) == len(tiles.samples)
    assert (tiles.samples[0].width, tiles.samples[0].height) == (40, 40)


def test_samples_go_back_to_the_same_coco_labels() -> None:
    given = dataset({"bbox": [1, 2, 3, 4], "area": 10, "iscrowd": 1}, {"category_id": 7, "bbox": [5, 5, 5, 5]})

    back = as_coco(read_labels(given, "val.json"))

    assert [row["bbox"] for row in back["annotations"]] == [[1, 2, 3, 4], [5, 5, 5, 5]]
    assert [row["category_id"] for row in back["annotations"]] == [3, 7]
    assert [row["area"] for row in back["annotations"]] == [10, 25]
    assert [row["iscrowd"] for row in back["annotations"]] == [1, 0]
    assert [row["id"] for row in back["categories"]] == [3, 7]


def test_outlines_go_along_when_masks_are_measured_and_boxes_stand_in_for_missing_ones() -> None:
    square = [10, 10, 19, 10, 19, 19, 10, 19]
    table = read_labels(dataset({"segmentation": [square]}, {"bbox": [1, 2, 3, 4]}), "val.json", with_masks=True)

    with_outlines = as_coco(table, with_masks=True)["annotations"]
    without = as_coco(table)["annotations"]

    assert [row["segmentation"] for row in with_outlines] == [[square], [[1, 2, 4, 2, 4, 6, 1, 6]]]
    assert all("segmentation" not in row for row in without)


def test_masks_are_drawn_from_polygons_run_lengths_and_boxes() -> None:
    square = [10, 10, 19, 10, 19, 19, 10, 19]
    counts = {"size": [80, 100], "counts": [80 * 3, 5, 80 * 97 - 5]}
    table = read_labels(
        dataset({"segmentation": [square]}, {"segmentation": counts}, {"segmentation": [], "bbox": [1, 2, 3, 4]}),
        "train.json",
        with_masks=True,
    )

    drawn = masks_of(table.samples[0])

    assert drawn.shape == (3, 80, 100)
    assert int(drawn[0].sum()) == 81  # Nine by nine, as the corners say, and as pycocotools fills it.
    assert drawn[0, 10:19, 10:19].all()
    assert drawn[1, :5, 3].all()
    assert int(drawn[1].sum()) == 5
    assert int(drawn[2].sum()) == 12


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # pycocotools' own
@pytest.mark.parametrize("seed", range(5))
def test_an_outline_is_filled_as_the_metrics_fill_it(seed: int) -> None:
    from pycocotools import mask as reference

    points = np.random.default_rng(seed).uniform(-10, 90, (7, 2)).round(2).flatten().tolist()
    table = read_labels(dataset({"segmentation": [points]}), "train.json", with_masks=True)

    (drawn,) = masks_of(table.samples[0])

    expected = reference.decode(reference.merge(reference.frPyObjects([points], 80, 100)))
    assert np.array_equal(drawn, expected)


def test_fake_labels_are_the_same_for_a_seed_and_limited() -> None:
    first, second = (fake_labels("train", images=5, classes=3, side=64, seed=4) for _ in range(2))

    assert all(np.array_equal(a.boxes, b.boxes) for a, b in zip(first.samples, second.samples, strict=True))
    assert all((sample.boxes <= 64).all() for sample in first.samples)
    with pytest.raises(InvalidInput, match="use 1 to 1000"):
        fake_labels("train", images=1001, classes=3, side=64, seed=0)
