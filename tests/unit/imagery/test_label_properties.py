"""What holds for any set of labels: filters keep what they should, formats lose nothing, tiles lose no area."""

import tempfile
from pathlib import Path

import cv2
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.imagery.check import check_dataset
from resolute.imagery.coco import Annotation, Category, Dataset, Image, decode, number
from resolute.imagery.formats.convert import load_dataset, save_dataset
from resolute.imagery.geometry import as_boxes
from resolute.imagery.grid import Grid
from resolute.imagery.labels import subset
from resolute.imagery.report import Effect, Reason, Report
from resolute.imagery.selection import Selection, select
from resolute.imagery.summary import statistics
from resolute.imagery.tile_assembly import assemble
from resolute.imagery.tile_image import TiledImage
from resolute.imagery.tile_labels import assign

WIDTH, HEIGHT = 160, 120
NAMES = ("Boat", "Small Car", "Hut/Tent")


@st.composite
def boxes(draw: st.DrawFn) -> list[int]:
    x, y = draw(st.integers(0, WIDTH - 2)), draw(st.integers(0, HEIGHT - 2))
    return [x, y, draw(st.integers(1, WIDTH - x)), draw(st.integers(1, HEIGHT - y))]


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """One to three images with labels that are in order."""
    images = [
        Image(height=HEIGHT, width=WIDTH, id=place, file_name=f"{place}.png")
        for place in range(1, draw(st.integers(1, 3)) + 1)
    ]
    owners = draw(st.lists(st.integers(1, len(images)), max_size=12).map(sorted))
    annotations = []
    for place, owner in enumerate(owners, 1):
        box = draw(boxes())
        kind = draw(st.integers(0, len(NAMES) - 1))
        annotations.append(Annotation(image_id=owner, bbox=box, category_id=kind, id=place, area=box[2] * box[3]))
    categories = [Category(id=place, name=name, supercategory=name) for place, name in enumerate(NAMES)]
    return Dataset(images=images, annotations=annotations, categories=categories)


def content(dataset: Dataset) -> list[tuple[str, str, list[float]]]:
    names, files = dataset.names(), {image.id: image.file_name for image in dataset.images}
    return sorted((files[a.image_id], names[a.category_id], [float(v) for v in a.bbox]) for a in dataset.annotations)


@given(datasets(), st.integers(0, 2), st.integers(0, 4000), st.integers(0, 20000))
def test_a_filter_keeps_exactly_what_was_asked_for(dataset: Dataset, kind: int, low: int, span: int) -> None:
    report = Report()

    chosen = select(dataset, Selection(classes=(str(kind),), min_area=low, max_area=low + span), report)

    wanted = [a for a in dataset.annotations if a.category_id == kind and low <= a.area <= low + span]
    assert [a.bbox for a in chosen.annotations] == [a.bbox for a in wanted]
    assert len({image.file_name for image in chosen.images}) == len({a.image_id for a in wanted})
    lost = report.count(Reason.FILTERED_CLASS) + report.count(Reason.FILTERED_AREA)
    assert lost == len(dataset.annotations) - len(wanted)


@given(datasets())
def test_a_filter_for_everything_changes_nothing(dataset: Dataset) -> None:
    report = Report()

    assert select(dataset, Selection(keeps_negatives=True), report) == dataset
    assert report.total(Effect.DROPPED) == 0


@given(datasets())
def test_ids_of_a_filtered_set_count_from_one(dataset: Dataset) -> None:
    chosen = select(dataset, Selection(classes=("Boat",)), Report())

    assert [image.id for image in chosen.images] == list(range(1, len(chosen.images) + 1))
    assert [a.id for a in chosen.annotations] == list(range(1, len(chosen.annotations) + 1))


@given(datasets())
def test_both_sides_of_a_split_together_are_the_whole(dataset: Dataset) -> None:
    places = list(range(len(dataset.images)))

    left, right = subset(dataset, places[::2]), subset(dataset, places[1::2])

    assert sorted(content(left) + content(right)) == content(dataset)


@given(datasets())
def test_statistics_add_up(dataset: Dataset) -> None:
    found = statistics(dataset)

    assert sum(c.annotations for c in found.classes) == found.annotations == len(dataset.annotations)
    assert found.small + found.medium + found.large == found.annotations
    assert found.negative_images <= found.images
    assert all(c.min_area <= c.mean_area <= c.max_area for c in found.classes)


@given(datasets())
def test_a_set_in_order_has_nothing_but_repeated_boxes_and_unused_classes(dataset: Dataset) -> None:
    report = Report()

    check_dataset(dataset, report)

    assert {reason for reason, _ in report} <= {Reason.DUPLICATE_LABEL, Reason.CLASS_UNUSED}


@settings(max_examples=15, deadline=None)
@given(datasets(), st.sampled_from(["yolo", "dota", "voc"]))
def test_every_format_brings_back_every_box(dataset: Dataset, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder) / "images"
        images.mkdir()
        for image in dataset.images:
            cv2.imwrite(str(images / image.file_name), np.zeros((HEIGHT, WIDTH, 3), np.uint8))
        report = Report()
        save_dataset(kind, dataset, Path(folder) / kind, report)

        found = load_dataset(kind, Path(folder) / kind, images, report)

    assert not report
    # DOTA has no spaces in class names.
    expected = [(file, "-".join(name.split()) if kind == "dota" else name, box) for file, name, box in content(dataset)]
    assert content(found) == sorted(expected)


@given(st.lists(boxes(), max_size=10), st.integers(20, 200))
def test_tiles_without_overlap_share_out_the_whole_area(given_boxes: list[list[int]], size: int) -> None:
    width, height = size * -(-WIDTH // size), size * -(-HEIGHT // size)
    corners = as_boxes([(x, y, x + w, y + h) for x, y, w, h in given_boxes])

    found = assign(corners, Grid(width, height, size, 0.0), 0.0)

    shared = np.bincount(found.label, weights=found.areas, minlength=len(given_boxes)) if given_boxes else []
    assert list(shared) == [w * h for _, _, w, h in given_boxes]


@given(st.lists(boxes(), min_size=1, max_size=10), st.booleans())
def test_assembled_labels_point_at_their_tiles(given_boxes: list[list[int]], keeps_negatives: bool) -> None:
    grid = Grid(WIDTH, HEIGHT, 50, 0.2)
    labels = assign(as_boxes([(x, y, x + w, y + h) for x, y, w, h in given_boxes]), grid, 0.1)
    count = len(labels.tile)
    listed = range(len(grid)) if keeps_negatives else sorted(set(labels.tile.tolist()))
    windows = {place: grid.windows()[place] for place in listed}
    part = TiledImage("a", windows=windows, labels=labels, categories=[0] * count, crowds=[0] * count)

    made = assemble(Dataset(), [part, part], ".png")

    assert [image.id for image in made.images] == list(range(1, len(made.images) + 1))
    assert len(made.images) == 2 * (len(grid) if keeps_negatives else len(set(labels.tile.tolist())))
    assert len(made.annotations) == 2 * count
    assert {a.image_id for a in made.annotations} <= {image.id for image in made.images}


def test_an_image_that_could_not_be_read_adds_nothing_to_the_set() -> None:
    made = assemble(Dataset(), [TiledImage("broken")], ".png")

    assert made == Dataset()


@given(st.floats(-1e6, 1e6))
def test_whole_numbers_are_written_short_and_none_is_changed(value: float) -> None:
    assert number(value) == value
    assert isinstance(number(3.0), int)


def test_fields_of_other_programs_do_not_disturb() -> None:
    image = b'{"id": 1, "width": 2, "height": 3, "file_name": "a", "flickr_url": "x"}'
    text = b'{"info": {"year": 2017}, "licenses": [], "images": [' + image + b"]}"

    assert decode(text, "x").images == [Image(height=3, width=2, id=1, file_name="a")]
