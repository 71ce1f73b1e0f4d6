"""Which file is the label file of a split, and which folder has its pictures, by names alone."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.geometry import Window
from resolute.vision.data.labels import Sample
from resolute.vision.data.sources import FakeImages, LocalImages, StoredImages, class_colour, decoded
from resolute.vision.data.split_files import _Listing


def listing(*names: str) -> _Listing:
    files = tuple(name for name in names if name.endswith(".json"))
    return _Listing(files, tuple(name for name in names if not name.endswith(".json")))


@pytest.mark.parametrize(
    ("names", "labels", "images"),
    [
        (("train_300_02.json", "train_images_300_02", "val_300_02.json"), "train_300_02.json", "train_images_300_02"),
        (("train.json", "train_old.json", "images/train"), "train.json", "images/train"),
        (("train.json", "images"), "train.json", "images"),
        (("annotations/instances_train2017.json",), "annotations/instances_train2017.json", "annotations"),
        (("deep/train_a.json", "train_b.json"), "train_b.json", ""),
        (("sliced/train_9.json", "sliced/train_images_9"), "sliced/train_9.json", "sliced/train_images_9"),
    ],
)
def test_labels_and_pictures_are_found_in_common_layouts(names: tuple[str, ...], labels: str, images: str) -> None:
    found = listing(*names)

    assert found.labels_of("train", "here") == labels
    assert found.images_of("train", labels) == images


def test_a_word_that_holds_the_name_is_not_the_split() -> None:
    with pytest.raises(NotFound, match=r"no label file for train in here.*found constraint\.json, val\.json"):
        listing("constraint.json", "val.json").labels_of("train", "here")


def test_two_candidates_are_not_guessed_between() -> None:
    with pytest.raises(InvalidInput, match=r"several label files for val: val_1\.json, val_2\.json"):
        listing("val_1.json", "val_2.json").labels_of("val", "here")


def sample(name: str, *, window: Window | None = None, side: int = 40) -> Sample:
    return Sample(
        image_id=3,
        file_name=name,
        width=window.width if window else side,
        height=window.height if window else side,
        boxes=np.array([[4, 4, 20, 20]], np.float32),
        labels=np.array([2]),
        areas=np.array([256], np.float32),
        is_crowd=np.zeros(1, np.bool_),
        window=window,
    )


def test_tiffs_of_sixteen_bits_and_windows_are_read_as_eight_bit_colours(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 4000, (40, 40, 3), dtype=np.uint16)
    cv2.imwrite(str(tmp_path / "large.tif"), pixels)
    source = LocalImages(tmp_path)

    whole = source.read(sample("large.tif"))
    part = source.read(sample("large.tif", window=Window(8, 4, 24, 20)))

    assert whole.dtype == np.uint8
    assert whole.shape == (40, 40, 3)
    assert np.array_equal(part, whole[4:20, 8:24])


def test_a_folder_knows_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    cv2.imwrite(str(tmp_path / "inner" / "a.png"), np.zeros((40, 40, 3), np.uint8))
    source = LocalImages(tmp_path)

    assert source.has(sample("inner/a.png"))
    assert not source.has(sample("b.png"))
    with pytest.raises(NotFound, match=r"There is no image .*b\.png"):
        source.read(sample("b.png"))


def test_fake_pictures_show_their_class_in_their_box() -> None:
    pixels = FakeImages().read(sample("any"))

    assert pixels[10, 10].tolist() == list(class_colour(2))
    assert pixels[30, 30].tolist() != list(class_colour(2))
    assert len({class_colour(label) for label in range(1, 61)}) == 60


def test_grey_and_transparent_pictures_become_red_green_blue() -> None:
    for shape in ((8, 8), (8, 8, 4)):
        ok, content = cv2.imencode(".png", np.full(shape, 90, np.uint8))

        assert ok
        assert decoded(content.tobytes(), "a.png").shape == (8, 8, 3)


def test_a_window_of_a_stored_picture_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cannot be tiled while training"):
        StoredImages("s3://bucket").read(sample("a.png", window=Window(0, 0, 8, 8)))
