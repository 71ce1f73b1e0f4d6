"""Formats: what is written comes back, and a bad line is counted instead of being fatal."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.coco import Annotation, Category, Dataset, Image
from resolute.imagery.formats.convert import load_dataset, save_dataset
from resolute.imagery.report import Reason, Report

KINDS = ("coco", "yolo", "dota", "voc")


@pytest.fixture
def image_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        cv2.imwrite(str(folder / name), np.zeros((100, 200, 3), np.uint8))
    return folder


@pytest.fixture
def dataset() -> Dataset:
    return Dataset(
        images=[
            Image(height=100, width=200, id=1, file_name="a.png"),
            Image(height=100, width=200, id=2, file_name="b.png"),
        ],
        annotations=[
            Annotation(image_id=1, bbox=[10, 20, 30, 40], category_id=0, id=1, area=1200),
            Annotation(image_id=1, bbox=[0, 0, 200, 100], category_id=1, id=2, area=20000),
        ],
        categories=[Category(id=0, name="Boat", supercategory="Boat"), Category(id=1, name="Car", supercategory="Car")],
    )


def target(tmp_path: Path, kind: str) -> Path:
    return tmp_path / ("set.json" if kind == "coco" else kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_comes_back_as_it_went(tmp_path: Path, image_dir: Path, dataset: Dataset, kind: str) -> None:
    report = Report()
    save_dataset(kind, dataset, target(tmp_path, kind), report)

    found = load_dataset(kind, target(tmp_path, kind), image_dir, report)

    assert found.images == dataset.images
    assert found.categories == dataset.categories
    assert [(a.image_id, a.bbox, a.category_id, a.area) for a in found.annotations] == [
        (a.image_id, a.bbox, a.category_id, a.area) for a in dataset.annotations
    ]
    assert not report


def test_turned_boxes_survive_dota(tmp_path: Path, image_dir: Path, dataset: Dataset) -> None:
    turned = [[20, 10, 30, 20, 20, 30, 10, 20]]
    dataset.annotations = [
        Annotation(image_id=1, bbox=[10, 10, 20, 20], segmentation=turned, category_id=0, id=1, area=200)
    ]
    save_dataset("dota", dataset, tmp_path / "dota", Report())

    (found,) = load_dataset("dota", tmp_path / "dota", image_dir, Report()).annotations

    assert (found.segmentation, found.bbox, found.area) == (turned, [10, 10, 20, 20], 200)


def test_pascal_counts_corners_from_one(tmp_path: Path, dataset: Dataset) -> None:
    save_dataset("voc", dataset, tmp_path / "voc", Report())

    text = (tmp_path / "voc" / "Annotations" / "a.xml").read_text()
    assert "<xmin>11</xmin>" in text
    assert "<xmax>40</xmax>" in text


def test_yolo_names_may_come_from_a_yaml_file(tmp_path: Path, image_dir: Path, dataset: Dataset) -> None:
    save_dataset("yolo", dataset, tmp_path / "yolo", Report())
    (tmp_path / "yolo" / "classes.txt").unlink()

    found = load_dataset("yolo", tmp_path / "yolo", image_dir, Report())

    assert [category.name for category in found.categories] == ["Boat", "Car"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("0 0.5 0.5 0.1", Reason.NOT_FOUR_NUMBERS),
        ("0 a 0.5 0.1 0.1", Reason.NOT_NUMBERS),
        ("0 nan 0.5 0.1 0.1", Reason.NOT_NUMBERS),
        ("7 0.5 0.5 0.1 0.1", Reason.UNKNOWN_CLASS),
        ("0 0.5 0.5 0 0.1", Reason.ZERO_AREA),
    ],
)
def test_a_bad_line_of_yolo_is_counted(tmp_path: Path, image_dir: Path, line: str, reason: Reason) -> None:
    (tmp_path / "classes.txt").write_text("Boat\n")
    (tmp_path / "a.txt").write_text(f"0 0.5 0.5 0.2 0.2\n\n{line}\n")
    report = Report()

    found = load_dataset("yolo", tmp_path, image_dir, report)

    assert len(found.annotations) == 1
    assert report.count(reason) == 1
    assert "a.txt, line 3" in report.examples(reason)[0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 2 3 4 Boat 0", Reason.NOT_FOUR_NUMBERS),
        ("1 2 3 x 5 6 7 8 Boat 0", Reason.NOT_NUMBERS),
        ("1 1 1 1 1 1 1 1 Boat 0", Reason.ZERO_AREA),
    ],
)
def test_a_bad_line_of_dota_is_counted(tmp_path: Path, image_dir: Path, line: str, reason: Reason) -> None:
    (tmp_path / "a.txt").write_text(f"imagesource:GoogleEarth\ngsd:0.3\n0 0 9 0 9 9 0 9 Boat 0\n{line}\n")
    report = Report()

    found = load_dataset("dota", tmp_path, image_dir, report)

    assert len(found.annotations) == 1
    assert report.count(reason) == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("<name>Boat</name>", "<name></name>"), Reason.UNKNOWN_CLASS),
        (("<xmin>11</xmin>", "<xmin>left</xmin>"), Reason.NOT_NUMBERS),
        (("<xmax>40</xmax>", "<xmax>3</xmax>"), Reason.ZERO_AREA),
        (("<width>200</width>", ""), Reason.WRONG_TYPE),
        (("</annotation>", ""), Reason.WRONG_TYPE),
    ],
)
def test_a_fault_in_pascal_xml_is_counted(
    tmp_path: Path, dataset: Dataset, change: tuple[str, str], reason: Reason
) -> None:
    save_dataset("voc", dataset, tmp_path / "voc", Report())
    path = tmp_path / "voc" / "Annotations" / "a.xml"
    path.write_text(path.read_text().replace(*change))
    report = Report()

    load_dataset("voc", tmp_path / "voc", None, report)

    assert report.count(reason) == 1


@pytest.mark.parametrize("kind", ["yolo", "dota", "voc"])
def test_labels_that_cannot_be_written_are_counted(tmp_path: Path, dataset: Dataset, kind: str) -> None:
    dataset.annotations += [
        Annotation(image_id=1, bbox=[1, 1, 0, 5], category_id=0, id=3),
        Annotation(image_id=1, bbox=[1, 1, 5, 5], category_id=9, id=4),
    ]
    report = Report()

    save_dataset(kind, dataset, tmp_path / kind, report)

    assert (report.count(Reason.ZERO_AREA), report.count(Reason.UNKNOWN_CLASS)) == (1, 1)


@pytest.mark.parametrize("kind", ["yolo", "dota"])
def test_a_label_file_that_is_no_text_is_counted_and_the_others_are_read(
    tmp_path: Path, image_dir: Path, dataset: Dataset, kind: str
) -> None:
    save_dataset(kind, dataset, tmp_path / kind, Report())
    folder = tmp_path / kind / ("labels" if kind == "yolo" else "labelTxt")
    (folder / "b.txt").write_bytes(b"\xff\xfe\x00")
    report = Report()

    found = load_dataset(kind, tmp_path / kind, image_dir, report)

    assert len(found.annotations) == 2
    assert report.examples(Reason.WRONG_TYPE)[0].startswith("b.txt: ")


@pytest.mark.parametrize("kind", ["yolo", "dota"])
def test_labels_of_images_that_are_not_there_are_counted(
    tmp_path: Path, image_dir: Path, dataset: Dataset, kind: str
) -> None:
    save_dataset(kind, dataset, tmp_path / kind, Report())
    (image_dir / "a.png").unlink()
    report = Report()

    load_dataset(kind, tmp_path / kind, image_dir, report)

    assert (report.count(Reason.IMAGE_NOT_FOUND), report.examples(Reason.IMAGE_NOT_FOUND)) == (1, ["a.txt"])


@pytest.mark.parametrize("kind", ["yolo", "dota", "voc"])
def test_a_folder_without_labels_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "classes.txt").write_text("Boat\n")

    with pytest.raises(InvalidInput, match=f"gave no image as {kind.upper()}"):
        load_dataset(kind, tmp_path, tmp_path, Report())


def test_an_image_said_to_have_no_size_cannot_become_yolo(tmp_path: Path, dataset: Dataset) -> None:
    dataset.images[0].width = 0
    report = Report()

    save_dataset("yolo", dataset, tmp_path / "yolo", report)

    assert report.examples(Reason.WRONG_TYPE) == ["a.png: its size is said to be 0 x 100"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"Boat\nCar\nBoat\n", "names the class 'Boat' twice"), (b"\xff\xfe", "is no list of class names")],
)
def test_class_names_that_cannot_be_meant_are_refused(
    tmp_path: Path, image_dir: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / "classes.txt").write_bytes(content)

    with pytest.raises(InvalidInput, match=sentence):
        load_dataset("yolo", tmp_path, image_dir, Report())


@pytest.mark.parametrize(
    "names", ["names: {10: C, 2: B, 0: A}", "names: {'10': C, '2': B, '0': A}", "names: [A, B, C]"]
)
def test_yolo_names_are_ordered_by_number(tmp_path: Path, image_dir: Path, names: str) -> None:
    (tmp_path / "data.yaml").write_text(names)

    found = load_dataset("yolo", tmp_path, image_dir, Report())

    assert [category.name for category in found.categories] == ["A", "B", "C"]


def test_formats_that_say_no_size_need_the_images(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="YOLO labels do not say how large images are"):
        load_dataset("yolo", tmp_path, None, Report())


def test_yolo_without_names_is_refused(tmp_path: Path, image_dir: Path) -> None:
    labels = tmp_path / "deep" / "labels"
    labels.mkdir(parents=True)

    with pytest.raises(InvalidInput, match=r"neither classes.txt nor data.yaml"):
        load_dataset("yolo", labels, image_dir, Report())


def test_an_unknown_format_and_a_missing_folder_are_named(tmp_path: Path, dataset: Dataset) -> None:
    with pytest.raises(InvalidInput, match="'kitti' is no known label format"):
        save_dataset("kitti", dataset, tmp_path, Report())
    with pytest.raises(NotFound, match="no folder"):
        load_dataset("voc", tmp_path / "gone", None, Report())
