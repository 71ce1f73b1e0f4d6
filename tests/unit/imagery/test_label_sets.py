"""Reports, COCO files, statistics, filters and checks: what can be said of a set without its images."""

from pathlib import Path
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput, NotFound, Unavailable
from resolute.imagery import coco
from resolute.imagery.check import check_dataset
from resolute.imagery.coco import Annotation, Category, Dataset, Image
from resolute.imagery.files import list_images, write_in_place
from resolute.imagery.report import EXAMPLES_KEPT, MEANING, Effect, Reason, Report
from resolute.imagery.selection import Selection, select
from resolute.imagery.summary import statistics


def label(number: int, image: int = 1, box: Any = (0, 0, 10, 10), kind: int = 0) -> Annotation:
    area = box[2] * box[3] if len(box) == 4 else 0
    return Annotation(image_id=image, bbox=list(box), category_id=kind, id=number, area=area)


def small_set(*annotations: Annotation) -> Dataset:
    return Dataset(
        images=[Image(height=100, width=200, id=n, file_name=f"{n}.png") for n in (1, 2, 3)],
        annotations=list(annotations),
        categories=[Category(id=0, name="Plane"), Category(id=5, name="Small Car")],
    )


def test_a_report_counts_all_and_keeps_a_few_examples() -> None:
    report = Report()

    for number in range(10):
        report.add(Reason.ZERO_AREA, f"label {number}")

    assert report.count(Reason.ZERO_AREA) == 10
    assert report.examples(Reason.ZERO_AREA) == [f"label {n}" for n in range(EXAMPLES_KEPT)]


def test_examples_beyond_those_kept_are_never_made() -> None:
    made = []

    def examples() -> Any:
        for number in range(1000):
            made.append(number)
            yield str(number)

    Report().add_many(Reason.ZERO_AREA, 1000, examples())

    assert len(made) <= EXAMPLES_KEPT + 1


def test_reports_of_workers_add_up() -> None:
    first, second = Report(), Report()
    first.add(Reason.ZERO_AREA, "a")
    second.add(Reason.ZERO_AREA, "b", count=2)
    second.add(Reason.INVERTED)

    first.merge(second)

    assert first.count(Reason.ZERO_AREA) == 3
    assert first.examples(Reason.ZERO_AREA) == ["a", "b"]
    assert (first.total(Effect.DROPPED), first.total(Effect.CHANGED)) == (3, 1)


def test_every_reason_has_a_meaning() -> None:
    assert set(MEANING) == set(Reason)


def test_an_empty_report_says_nothing() -> None:
    report = Report()
    report.add_many(Reason.ZERO_AREA, 0)

    assert not report
    assert report.as_dict() == {}


def test_a_set_survives_writing_and_reading(tmp_path: Path) -> None:
    dataset = small_set(label(1), label(2, 3, (1.5, 2, 3, 4), 5))

    coco.write(dataset, tmp_path / "new" / "set.json")

    assert coco.read(tmp_path / "new" / "set.json") == dataset
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["set.json"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ('{"images": [{"id": "one"}]}', r"not a COCO label file: .*\$.images\[0\]"),
        ('{"annotations": 3}', r"not a COCO label file: .*\$.annotations"),
        ("[]", "not a COCO label file"),
    ],
)
def test_a_damaged_label_file_is_refused_with_the_place(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "set.json").write_text(text)

    with pytest.raises(InvalidInput, match=sentence):
        coco.read(tmp_path / "set.json")


def test_a_missing_label_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no label file .*set.json"):
        coco.read(tmp_path / "set.json")


def test_statistics_count_images_labels_and_areas_by_class() -> None:
    found = statistics(small_set(label(1), label(2, 1, (0, 0, 50, 50), 5), label(3, 2, (0, 0, 100, 100), 5)))

    assert (found.images, found.negative_images, found.annotations) == (3, 1, 3)
    assert (found.small, found.medium, found.large) == (1, 1, 1)
    assert found.annotations_per_image == 1.5
    assert found.max_annotations_in_image == 2
    car = found.classes[1]
    assert (car.name, car.images, car.annotations) == ("Small Car", 2, 2)
    assert (car.min_area, car.mean_area, car.max_area) == (2500, 6250, 10000)


def test_an_empty_set_has_statistics_too() -> None:
    found = statistics(Dataset())

    assert (found.images, found.annotations, found.annotations_per_image) == (0, 0, 0.0)


@pytest.mark.parametrize("wanted", ["small car", "Small Car", "5"])
def test_a_filter_takes_classes_by_name_or_id(wanted: str) -> None:
    report = Report()

    chosen = select(small_set(label(1), label(2, 2, kind=5)), Selection(classes=(wanted,)), report)

    assert [(a.id, a.image_id, a.category_id) for a in chosen.annotations] == [(1, 1, 5)]
    assert [image.file_name for image in chosen.images] == ["2.png"]
    assert (report.count(Reason.FILTERED_CLASS), report.count(Reason.EMPTY_IMAGE)) == (1, 2)


def test_a_filter_may_renumber_classes_from_one() -> None:
    chosen = select(small_set(label(1, kind=5)), Selection(classes=("5", "Plane"), renumbers=True), Report())

    assert [(c.id, c.name) for c in chosen.categories] == [(1, "Small Car"), (2, "Plane")]
    assert chosen.annotations[0].category_id == 1


def test_a_filter_by_area_includes_both_ends() -> None:
    labels = [label(n, 1, (0, 0, n, 1)) for n in (1, 2, 3, 4)]

    chosen = select(small_set(*labels), Selection(min_area=2, max_area=3, keeps_negatives=True), Report())

    assert [a.area for a in chosen.annotations] == [2, 3]
    assert len(chosen.images) == 3


def test_a_class_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidInput, match=r"no class 'Tank' in this set. It has: Plane, Small Car"):
        select(small_set(), Selection(classes=("Tank",)), Report())


def test_areas_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(InvalidInput, match="from 9 to 3"):
        Selection(min_area=9, max_area=3)


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (label(1, box=()), Reason.EMPTY_BOUNDS),
        (label(1, box=(1, 2, 3)), Reason.NOT_FOUR_NUMBERS),
        (label(1, box=(1, 2, -3, 4)), Reason.INVERTED),
        (label(1, box=(1, 2, 0, 4)), Reason.ZERO_AREA),
        (label(1, box=(300, 2, 5, 4)), Reason.OUTSIDE_IMAGE),
        (label(1, box=(195, 2, 10, 4)), Reason.BEYOND_IMAGE),
        (label(1, kind=9), Reason.UNKNOWN_CLASS),
        (label(1, image=9), Reason.UNKNOWN_IMAGE_ID),
    ],
)
def test_check_finds_each_fault_of_a_label(annotation: Annotation, reason: Reason) -> None:
    report = Report()

    check_dataset(small_set(annotation), report)

    assert report.count(reason) == 1


def test_check_finds_what_is_there_twice_and_what_is_never_used() -> None:
    report = Report()
    dataset = small_set(label(1), label(1))
    dataset.images.append(dataset.images[0])

    check_dataset(dataset, report)

    assert report.count(Reason.DUPLICATE_IMAGE_ID) == 1
    assert report.count(Reason.DUPLICATE_FILE_NAME) == 1
    assert report.count(Reason.DUPLICATE_LABEL_ID) == 1
    assert report.count(Reason.DUPLICATE_LABEL) == 1
    assert report.examples(Reason.CLASS_UNUSED) == ["Small Car (5)"]


def test_check_finds_nothing_in_a_sound_set() -> None:
    report = Report()

    check_dataset(small_set(label(1), label(2, kind=5)), report)

    assert not report


def test_a_place_that_cannot_be_written_stops_the_run_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(Unavailable, match=r"cannot be written: Not a directory. Make room"):
        write_in_place(str(tmp_path / "file" / "tile.jpg"), b"x")


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()

    with pytest.raises(Unavailable):
        write_in_place(str(tmp_path / "taken"), b"x")

    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_images_come_by_number_and_litter_apart(tmp_path: Path) -> None:
    for name in ("10.tif", "9.TIF", "b.tif", "._9.tif", "note.txt"):
        (tmp_path / name).touch()

    images, litter = list_images(tmp_path)

    assert [path.name for path in images] == ["9.TIF", "10.tif", "b.tif"]
    assert [path.name for path in litter] == ["._9.tif"]
