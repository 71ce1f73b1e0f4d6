"""Pictures: what is drawn where."""

import itertools

import cv2
import numpy as np
import pytest

from resolute.vision.detections import ClassName, Detections
from resolute.vision.drawing import (
    class_colour,
    contact_sheet,
    detection_marks,
    draw,
    draw_detections,
    side_by_side,
    truth_marks,
)
from resolute.vision.slicing import Patch, Regions

CLASSES = (ClassName(7, "plane"), ClassName(9, "ship"))
GREY = np.full((120, 160, 3), 90, dtype=np.uint8)


def _found(masks: bool = False) -> Detections:
    shapes = np.zeros((2, 120, 160), bool)
    shapes[0, 40:80, 40:100] = True
    boxes = np.array([[40, 40, 100, 80], [5, 90, 30, 110]], np.float32)
    return Detections(boxes, np.array([0.9, 0.3], np.float32), np.array([1, 2]), shapes if masks else None)


def test_boxes_are_drawn_in_the_colour_of_their_class_and_nothing_else_changes() -> None:
    before = GREY.copy()

    picture = draw(GREY, detection_marks(_found(), CLASSES), has_text=False)

    assert tuple(picture[60, 40]) == class_colour(0)
    assert tuple(picture[109, 20]) == class_colour(1)
    assert tuple(picture[60, 70]) == (90, 90, 90)
    assert np.array_equal(GREY, before)


def test_masks_tint_their_area() -> None:
    picture = draw(GREY, detection_marks(_found(masks=True), CLASSES), has_text=False)

    changed = (picture != 90).any(axis=2)
    assert changed[42:78, 42:98].all()
    assert not changed[:38].any()
    assert tuple(picture[60, 70]) not in {(90, 90, 90), class_colour(0)}


def test_a_mask_that_hangs_off_the_picture_is_cut() -> None:
    patch = Patch(140, 100, np.ones((60, 60), bool))
    regions = Regions(
        160, 120, np.array([[140, 100, 200, 160]], np.float32), np.ones(1, np.float32), np.ones(1, np.int64), [patch]
    )

    picture = draw_detections(GREY, regions, CLASSES)

    assert (picture[110:, 150:] != 90).any(axis=2).all()


def test_names_and_scores_are_written() -> None:
    marks = detection_marks(_found(), CLASSES, min_score=0.5)

    assert [mark.text for mark in marks] == ["plane 0.90"]
    assert (draw(GREY, marks) != draw(GREY, marks, has_text=False)).any()


def test_names_in_other_scripts_do_not_stop_the_drawing() -> None:
    marks = truth_marks(np.array([[10, 10, 40, 40]]), [7], {7: "Flugzeug-Größe 飛機"})

    assert draw(GREY, marks).shape == GREY.shape


def test_a_smaller_copy_gets_smaller_boxes() -> None:
    small = np.full((60, 80, 3), 90, dtype=np.uint8)

    picture = draw(small, detection_marks(_found(), CLASSES), scale=0.5, has_text=False)

    assert tuple(picture[30, 20]) == class_colour(0)


def test_labels_have_the_colour_that_detections_of_the_class_have() -> None:
    marks = truth_marks(np.array([[0, 0, 5, 5], [1, 1, 9, 9]]), [9, 7], {7: "plane", 9: "ship"})

    assert [mark.colour for mark in marks] == [class_colour(1), class_colour(0)]
    assert [mark.text for mark in marks] == ["ship", "plane"]


@pytest.mark.parametrize(("classes", "distance"), [(12, 40.0), (60, 15.0)])
def test_colours_can_be_told_apart(classes: int, distance: float) -> None:
    colours = np.array([[class_colour(place) for place in range(classes)]], dtype=np.float32) / 255

    lab = cv2.cvtColor(colours, cv2.COLOR_RGB2LAB)[0]

    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(lab, 2)) > distance


def test_a_class_keeps_its_colour_beyond_the_palette() -> None:
    assert class_colour(3) == class_colour(3 + 256)


def test_two_pictures_stand_side_by_side_at_one_height() -> None:
    red = np.full((100, 50, 3), (255, 0, 0), dtype=np.uint8)
    blue = np.full((200, 300, 3), (0, 0, 255), dtype=np.uint8)

    picture = side_by_side(red, blue)

    assert picture.shape == (122, 50 + 6 + 150, 3)
    assert tuple(picture[70, 20]) == (255, 0, 0)
    assert tuple(picture[70, 120]) == (0, 0, 255)


def test_a_sheet_has_a_cell_for_every_picture() -> None:
    pictures = [np.full((40, 80, 3), 200, np.uint8), np.full((80, 40, 3), 220, np.uint8), GREY]

    sheet = contact_sheet(pictures, ["a", "b", "c"], columns=2, cell=64)

    assert sheet.shape == (2 * (64 + 22 + 6) + 6, 2 * 70 + 6, 3)
    assert tuple(sheet[20, 20]) == (200, 200, 200)
    assert tuple(sheet[20, 90]) == (220, 220, 220)
    assert contact_sheet([], []).ndim == 3
