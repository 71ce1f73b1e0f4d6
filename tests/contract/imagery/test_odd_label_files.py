"""Label files with faults, as the data commands meet them: counted, or refused before any work is done."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from resolute.cli.main import run
from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.report import Reason, Report
from resolute.imagery.tile import TileJob, TileResult, plan_tiling, tile_set

Change = Callable[[dict[str, Any]], object]


def a_set(folder: Path, change: Change = lambda _: None, name: str = "train.json") -> TileJob:
    """Two images of 64 px with one label each, then changed."""
    labels: dict[str, Any] = {
        "images": [{"id": i, "file_name": f"{i}.png", "width": 64, "height": 64} for i in (1, 2)],
        "annotations": [
            {"id": i, "image_id": i, "category_id": 0, "bbox": [8, 8, 20, 20], "area": 400} for i in (1, 2)
        ],
        "categories": [{"id": 0, "name": "Car"}, {"id": 1, "name": "Boat"}],
    }
    for number in (1, 2):
        cv2.imwrite(str(folder / f"{number}.png"), np.full((64, 64, 3), 90, np.uint8))
    change(labels)
    (folder / name).write_text(json.dumps(labels))
    return TileJob(image_dir=folder, labels_path=folder / name, output_dir=folder / "tiles", slice_size=32, workers=1)


def first(labels: dict[str, Any], **changes: object) -> None:
    labels["annotations"][0] |= changes


def tiled(folder: Path, change: Change) -> TileResult:
    return tile_set(a_set(folder, change))


@pytest.mark.parametrize(
    "changes",
    [
        {"bbox": None},
        {"bbox": ""},
        {"bbox": ["8", "8", "20", "20"]},
        {"category_id": "Car"},
        {"image_id": None},
        {"segmentation": "polygon"},
    ],
)
def test_a_label_of_the_wrong_type_is_counted_and_the_rest_is_tiled(tmp_path: Path, changes: dict[str, Any]) -> None:
    done = tiled(tmp_path, lambda labels: first(labels, **changes))

    assert done.report.count(Reason.WRONG_TYPE) == 1
    assert done.report.examples(Reason.WRONG_TYPE)[0].startswith("annotation at place 0: Expected")
    assert {name.split("_")[0] for name in (i.file_name for i in coco.read(done.labels_path).images)} == {"2"}


def test_an_image_of_the_wrong_type_is_counted_with_its_labels(tmp_path: Path) -> None:
    done = tiled(tmp_path, lambda labels: labels["images"][0].update(file_name=None))

    assert done.report.count(Reason.WRONG_TYPE) == 1
    assert done.report.count(Reason.UNKNOWN_IMAGE_ID) == 1
    assert done.images > 0


@pytest.mark.parametrize("is_parity", [True, False])
def test_a_label_of_a_class_without_a_name_is_dropped_and_counted(tmp_path: Path, is_parity: bool) -> None:
    job = a_set(tmp_path, lambda labels: first(labels, category_id=7))

    done = tile_set(TileJob(**{**vars(job), "is_parity": is_parity}))

    assert done.report.count(Reason.UNKNOWN_CLASS) == 1
    assert done.report.examples(Reason.UNKNOWN_CLASS) == ["annotation 1, class 7"]
    assert {a.category_id for a in coco.read(done.labels_path).annotations} == {0}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("box", "reason"),
    [
        ([1e308, 1e308, 1e308, 1e308], Reason.OUTSIDE_IMAGE),
        ([-1e308, -1e308, 1e308, 1e308], Reason.OUTSIDE_IMAGE),
        ([1e308, 8, 1e308, 0], Reason.ZERO_AREA),
        ([8, 8, 1e308, 1e308], Reason.CLIPPED_TO_IMAGE),
    ],
)
def test_numbers_beyond_all_images_are_counted_without_a_warning(
    tmp_path: Path, box: list[float], reason: Reason
) -> None:
    done = tiled(tmp_path, lambda labels: first(labels, bbox=box))

    assert done.report.count(reason) == 1


def test_a_class_with_two_names_is_refused(tmp_path: Path) -> None:
    job = a_set(tmp_path, lambda labels: labels["categories"].append({"id": 0, "name": "Van"}))

    with pytest.raises(InvalidInput, match=r"train.json names class 0 twice: 'Car' and 'Van'. Remove one"):
        tile_set(job)

    assert not job.output_dir.exists()


def test_train_and_val_that_name_a_class_differently_are_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = a_set(tmp_path)
    other = a_set(tmp_path, lambda labels: labels["categories"][1].update(name="Ship"), "val.json")
    line = ["data", "tile", "--image_dir", tmp_path, "--train_dataset_json_path", job.labels_path]
    line += ["--val_dataset_json_path", other.labels_path]

    code = run(
        [str(part) for part in [*line, "--output_train_dir", tmp_path / "t", "--output_val_dir", tmp_path / "v"]]
    )

    assert code == 1
    assert "class 1 is 'Boat' in" in capsys.readouterr().err
    assert not (tmp_path / "t").exists()


def test_a_broken_val_file_is_refused_before_train_is_tiled(tmp_path: Path) -> None:
    job = a_set(tmp_path)
    (tmp_path / "val.json").write_text('{"images": [')

    with pytest.raises(InvalidInput, match=r"val.json is not JSON"):
        plan_tiling([job, TileJob(**{**vars(job), "labels_path": tmp_path / "val.json"})])


def test_planning_counts_what_progress_will_count(tmp_path: Path) -> None:
    job = TileJob(**{**vars(a_set(tmp_path)), "part_pixels": 1024})
    seen: list[int] = []

    (expected,) = plan_tiling([job])
    tile_set(job, seen.append)

    assert sum(seen) == expected > 2


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    job = a_set(tmp_path)
    job.labels_path.write_bytes(coco.BYTE_ORDER_MARK + job.labels_path.read_bytes())

    assert len(coco.read(job.labels_path).annotations) == 2


def test_without_a_report_a_wrong_type_is_refused_with_its_place(tmp_path: Path) -> None:
    job = a_set(tmp_path, lambda labels: first(labels, bbox=None))

    with pytest.raises(InvalidInput, match=r"\$.annotations\[0\].bbox"):
        coco.read(job.labels_path)


@pytest.mark.parametrize("text", ["[1, 2]", '{"images": 7}', '{"categories": [{"id": "a", "name": "x"}]}'])
def test_a_file_of_another_kind_is_refused_with_a_report_too(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)

    with pytest.raises(InvalidInput, match="not a COCO label file"):
        coco.read(tmp_path / "x.json", Report())


@pytest.mark.parametrize(
    "line",
    [
        ["check", "{labels}", "--json"],
        ["filter", "{labels}", "{folder}/out.json", "--json"],
        ["convert", "{labels}", "{folder}/yolo", "--to", "yolo", "--json"],
        ["show", "{labels}", "--image-dir", "{folder}", "--output", "{folder}/sheet.png", "--json"],
    ],
    ids=lambda line: str(line[0]),
)
def test_every_command_counts_a_label_of_the_wrong_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    job = a_set(tmp_path, lambda labels: first(labels, bbox=[[1, 2], 3, 4]))

    run(["data", *(part.format(labels=job.labels_path, folder=tmp_path) for part in line)])

    assert json.loads(capsys.readouterr().out)["report"]["wrong_type"]["count"] == 1
