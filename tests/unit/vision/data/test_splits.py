"""Data is found where it usually lies; what is missing, unreadable or contradictory is refused or counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest
import torch

from resolute.domain.errors import InvalidInput, NotFound
from resolute.vision.data.dataset import CocoDetection, TrainingSamples, collate
from resolute.vision.data.labels import MISSING
from resolute.vision.settings import read_settings
from resolute.vision.splits import open_splits

Write = Callable[..., Path]


def opened(data_dir: Path | str, **hparams: Any) -> Any:
    return open_splits(read_settings({"data_dir": str(data_dir), **hparams}), with_masks=False, seed=0)


def training(splits: Any, **options: Any) -> TrainingSamples:
    dataset = CocoDetection(splits.train, splits.train_source, bad_images="skip")
    return TrainingSamples(dataset, None, seed=1, batch_size=2, **options)


def test_tiles_and_their_labels_are_found_by_their_names(write_set: Write) -> None:
    write_set("train", 4)
    root = write_set("val", 2)

    splits = opened(root)

    image, target = CocoDetection(splits.train, splits.train_source)[0]
    assert (len(splits.train.samples), len(splits.val.samples)) == (4, 2)
    assert image.dtype == torch.uint8
    assert image.shape == (3, 64, 64)
    assert target["boxes"].tolist() == [[4, 5, 24, 35]]
    assert target["labels"].tolist() == [2]


def test_pixels_are_red_green_blue(write_set: Write) -> None:
    write_set("train", 1)
    root = write_set("val", 1)
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[:, :, 2] = 250  # Red, in the order OpenCV writes.
    cv2.imwrite(str(root / "train_images_64_02" / "1.png"), picture)
    splits = opened(root)

    image, _ = CocoDetection(splits.train, splits.train_source)[0]

    assert image[:, 0, 0].tolist() == [250, 0, 0]


def test_places_can_be_named(write_set: Write) -> None:
    write_set("train", 3, tag="_a")
    write_set("val", 2, tag="_a")
    root = write_set("train", 1, tag="_b")

    with pytest.raises(InvalidInput, match="several label files for train"):
        opened(root)
    splits = opened(root, train_labels="train_b.json", train_images="train_images_b")

    assert len(splits.train.samples) == 1


def test_a_registered_class_count_that_disagrees_is_refused(write_set: Write) -> None:
    write_set("train")
    root = write_set("val")

    with pytest.raises(
        InvalidInput, match=r"num_classes is 61, but .* has 2 categories; with the background that is 3"
    ):
        opened(root, num_classes=61)
    assert len(opened(root, num_classes=3).classes) == 2


def test_tables_of_train_and_val_must_agree(write_set: Write) -> None:
    write_set("train", categories=2)
    root = write_set("val", categories=3)

    with pytest.raises(InvalidInput, match="The category tables disagree"):
        opened(root)


def test_no_data_dir_and_no_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no data_dir"):
        opened("")
    with pytest.raises(NotFound, match="is not a folder here"):
        opened(tmp_path / "nowhere")
    with pytest.raises(NotFound, match="no label file for train"):
        opened(tmp_path)


def test_missing_images_are_refused_or_counted(write_set: Write) -> None:
    write_set("train", 4)
    root = write_set("val", 2)
    (root / "train_images_64_02" / "2.png").unlink()

    with pytest.raises(NotFound, match=r"1 of them are not there, such as 2\.png"):
        opened(root)
    splits = opened(root, bad_images="skip")

    assert len(splits.train.samples) == 3
    assert splits.train.report[MISSING] == 1


@pytest.mark.parametrize("damage", [b"", b"no picture at all"])
def test_a_truncated_image_is_refused_or_replaced_by_its_neighbour(write_set: Write, damage: bytes) -> None:
    write_set("train", 3)
    root = write_set("val", 2)
    (root / "train_images_64_02" / "1.png").write_bytes(damage)
    splits = opened(root)

    with pytest.raises(InvalidInput, match=r"1\.png cannot be read"):
        CocoDetection(splits.train, splits.train_source)[0]
    samples = training(splits)
    seen = [samples[position][1]["image_id"] for position in range(3)]

    assert sorted(seen) == [2, 2, 3]


def test_a_cut_off_png_is_not_taken_for_a_picture(write_set: Write) -> None:
    write_set("train", 1)
    root = write_set("val", 1)
    path = root / "train_images_64_02" / "1.png"
    path.write_bytes(path.read_bytes()[:2000])
    splits = opened(root)

    with pytest.raises(InvalidInput, match="cut off"):
        CocoDetection(splits.train, splits.train_source)[0]


def test_an_unreadable_picture_is_measured_as_blank_when_it_may_be_skipped(write_set: Write) -> None:
    write_set("train", 1)
    root = write_set("val", 1)
    (root / "val_images_64_02" / "1.png").write_bytes(b"broken")
    splits = opened(root, bad_images="skip")

    dataset = CocoDetection(splits.val, splits.val_source, bad_images="skip")
    image, target = dataset[0]

    assert not image.any()
    assert len(target["boxes"]) == 1
    assert sum(dataset.problems.values()) == 1


def test_an_image_of_another_size_than_its_label_says_is_refused(write_set: Write) -> None:
    write_set("train", 1)
    root = write_set("val", 1)
    cv2.imwrite(str(root / "train_images_64_02" / "1.png"), np.zeros((32, 64, 3), np.uint8))
    splits = opened(root)

    with pytest.raises(InvalidInput, match="is 64 x 32 pixels, but the labels say 64 x 64"):
        CocoDetection(splits.train, splits.train_source)[0]


def test_large_images_are_tiled_while_they_are_read(write_set: Write) -> None:
    write_set("train", 2)
    root = write_set("val", 1)
    whole = opened(root)

    splits = opened(root, tile_size=32, tile_overlap=0.0)

    assert len(splits.val.samples) == 4
    tile, target = CocoDetection(splits.train, splits.train_source)[0]
    image, _ = CocoDetection(whole.train, whole.train_source)[0]
    assert torch.equal(tile, image[:, :32, :32])
    assert target["boxes"].tolist() == [[4, 5, 24, 32]]


def test_the_same_place_in_an_epoch_is_the_same_picture_in_any_process(write_set: Write) -> None:
    write_set("train", 4)
    root = write_set("val", 1)
    splits = opened(root)
    here, there = training(splits), training(splits)

    def pictures(samples: TrainingSamples, epoch: int) -> list[int]:
        samples.set_epoch(epoch)
        return [samples[position][1]["image_id"] for position in range(len(samples))]

    assert pictures(here, 3) == pictures(there, 3)
    assert sorted(pictures(here, 0)) == [1, 2, 3, 4]
    assert len({tuple(pictures(here, epoch)) for epoch in range(6)}) > 1


def test_a_batch_is_two_lists(write_set: Write) -> None:
    write_set("train", 2)
    splits = opened(write_set("val", 1))
    samples = training(splits)

    images, targets = collate([samples[0], samples[1]])

    assert len(images) == len(targets) == 2


def test_labels_that_are_not_json_are_refused(write_set: Write) -> None:
    write_set("train", 1)
    root = write_set("val", 1)
    (root / "train_64_02.json").write_text("{")

    with pytest.raises(InvalidInput, match="is not JSON"):
        opened(root)


def test_an_empty_label_file_is_refused(write_set: Write) -> None:
    write_set("train", 1)
    root = write_set("val", 1)
    empty = {"images": [], "annotations": [], "categories": [{"id": 0, "name": "a"}]}
    (root / "train_64_02.json").write_bytes(msgspec.json.encode(empty))

    with pytest.raises(InvalidInput, match="has no images"):
        opened(root)


def test_the_fake_backend_needs_no_files() -> None:
    splits = opened("", backend="fake", num_classes=5, fake_images=8, fake_size=64)

    image, target = CocoDetection(splits.train, splits.train_source)[0]
    again, _ = CocoDetection(splits.train, splits.train_source)[0]

    assert len(splits.classes) == 4
    assert image.shape == (3, 64, 64)
    assert len(target["boxes"]) >= 1
    assert torch.equal(image, again)
