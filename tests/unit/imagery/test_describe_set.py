"""Describing a COCO set for registration: which files, classes and counts, and what is refused."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.dataset import DatasetClass
from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.register import describe_set

PLANE, SHIP = {"id": 0, "name": "Plane"}, {"id": 7, "name": "Ship"}


def write_set(
    root: Path, labels: str, folder: str, names: list[str], categories: tuple[dict[str, Any], ...] = (PLANE, SHIP)
) -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        (root / folder / name).write_bytes(f"pixels of {name}".encode())
    images = [{"id": n, "file_name": name, "width": 100, "height": 100} for n, name in enumerate(names, 1)]
    boxes = [{"id": n, "image_id": n, "bbox": [0, 0, 10, 10], "category_id": 0} for n in range(1, len(names) + 1)]
    content = {"images": images, "annotations": boxes, "categories": list(categories)}
    (root / labels).write_text(json.dumps(content))


@pytest.fixture
def tiles(tmp_path: Path) -> Path:
    """As `data tile` leaves it, with things beside it that are no part of the set."""
    root = tmp_path / "tiles"
    write_set(root, "train_300_02.json", "train_images_300_02", ["a.jpg", "b.jpg"])
    write_set(root, "val_300_02.json", "val_images_300_02", ["c.jpg"])
    (root / ".train_images_300_02.settings.json").write_text("{}")
    (root / "resolute-manifest.json").write_text("{}")
    (root / "notes.json").write_text('{"by": "me"}')
    (root / "val_images_300_02" / "._c.jpg").write_text("litter")
    (root / "val_images_300_02" / ".cache").mkdir()
    (root / "val_images_300_02" / ".cache" / "x").write_text("hidden")
    return root


def test_label_files_and_their_folders_are_found(tiles: Path) -> None:
    counted: list[int] = []

    found = describe_set(tiles, on_progress=counted.append)

    assert found.annotations == ("train_300_02.json", "val_300_02.json")
    assert found.images == ("train_images_300_02", "val_images_300_02")
    assert [file.path for file in found.files] == [
        "train_300_02.json",
        "train_images_300_02/a.jpg",
        "train_images_300_02/b.jpg",
        "val_300_02.json",
        "val_images_300_02/c.jpg",
    ]
    assert sum(counted) == 5


def test_every_file_has_its_size_and_digest(tiles: Path) -> None:
    found = describe_set(tiles)

    picture = next(file for file in found.files if file.path.endswith("a.jpg"))
    assert picture.size == len(b"pixels of a.jpg")
    assert picture.sha256 == hashlib.sha256(b"pixels of a.jpg").hexdigest()


def test_classes_and_counts_are_of_all_label_files(tiles: Path) -> None:
    found = describe_set(tiles)

    assert found.classes == (DatasetClass(0, "Plane"), DatasetClass(7, "Ship"))
    assert (found.statistics["images"], found.statistics["annotations"]) == (3, 3)
    train = found.statistics["label_files"][0]
    assert (train["path"], train["images"], train["small"]) == ("train_300_02.json", 2, 2)
    assert json.dumps(found.statistics)


def test_the_same_files_are_the_same_content_elsewhere(tiles: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    write_set(copy, "train_300_02.json", "train_images_300_02", ["a.jpg", "b.jpg"])
    write_set(copy, "val_300_02.json", "val_images_300_02", ["c.jpg"])

    assert describe_set(copy).content_hash == describe_set(tiles).content_hash
    assert describe_set(copy).packed_manifest == describe_set(tiles).packed_manifest


def test_a_choice_of_label_files_is_other_content(tiles: Path) -> None:
    chosen = describe_set(tiles, annotations=["val_300_02.json"], images=["val_images_300_02/"])

    assert [file.path for file in chosen.files] == ["val_300_02.json", "val_images_300_02/c.jpg"]
    assert chosen.images == ("val_images_300_02",)
    assert chosen.content_hash != describe_set(tiles).content_hash


@pytest.mark.parametrize("folder", ["train_images", "train", "images", ".", "anything"])
def test_pictures_are_found_wherever_they_are_beside_the_labels(tmp_path: Path, folder: str) -> None:
    write_set(tmp_path, "train.json", folder, ["a.jpg"])

    found = describe_set(tmp_path)

    assert found.images == ("" if folder == "." else folder,)
    assert {"train.json"} < {file.path for file in found.files}


def test_a_folder_without_labels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("[1, 2]")

    with pytest.raises(NotFound, match="no COCO label file with images"):
        describe_set(tmp_path)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"annotations": ["none.json"]}, "no label file"),
        ({"annotations": ["val_300_02.json"], "images": ["train_images_300_02"]}, "1 pictures that are not in"),
        ({"annotations": ["val_300_02.json"], "images": ["nowhere"]}, "no folder"),
    ],
)
def test_what_is_not_there_is_named(tiles: Path, options: dict[str, Any], part: str) -> None:
    with pytest.raises(NotFound, match=part):
        describe_set(tiles, **options)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"annotations": ["../x.json"]}, "no path inside"),
        ({"annotations": ["val_300_02.json"], "images": ["../val"]}, "no path inside"),
        ({"images": ["one"]}, "1 image folders for 2 label files"),
        ({"annotations": ["notes.txt"]}, "is not JSON"),
    ],
)
def test_what_makes_no_sense_is_refused(tiles: Path, options: dict[str, Any], part: str) -> None:
    (tiles / "notes.txt").write_text("text")

    with pytest.raises(InvalidInput, match=part):
        describe_set(tiles, **options)


def test_label_files_that_disagree_on_a_class_are_refused(tiles: Path) -> None:
    write_set(tiles, "val_300_02.json", "val_images_300_02", ["c.jpg"], ({"id": 0, "name": "Car"},))

    with pytest.raises(InvalidInput, match=r"Class 0 is 'Plane' in train_300_02\.json and 'Car' in val_300_02\.json"):
        describe_set(tiles)


def test_pictures_that_are_in_no_folder_are_told(tmp_path: Path) -> None:
    write_set(tmp_path, "train.json", "images", ["a.jpg"])
    (tmp_path / "images" / "a.jpg").unlink()

    with pytest.raises(NotFound, match=r"names a\.jpg, which is in no folder"):
        describe_set(tmp_path)
