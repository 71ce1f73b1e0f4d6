"""Detections of many images in one file: COCO, CSV, GeoPackage; whole or not there at all."""

import csv
import json
from pathlib import Path

import numpy as np
import pyogrio
import pytest
import rasterio
import shapely

from resolute.imagery.georeference import Georeference
from resolute.vision.detections import ClassName
from resolute.vision.evaluation import CocoEvaluator
from resolute.vision.exports import FORMATS, DetectionFiles
from resolute.vision.slicing import Regions

CLASSES = (ClassName(11, "plane"), ClassName(12, 'ship, "large"'))
PLACE = Georeference(rasterio.Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000), rasterio.crs.CRS.from_epsg(32633))


def found(count: int) -> Regions:
    boxes = np.array([[10 * n, 20, 10 * n + 5, 60] for n in range(count)], np.float32).reshape(-1, 4)
    return Regions(100, 80, boxes, np.full(count, 0.75, np.float32), np.arange(count) % 2 + 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with DetectionFiles(tmp_path / "out", FORMATS) as files:
        files.add("a.tif", found(3), CLASSES, PLACE)
        files.add("b.tif", found(0), CLASSES, PLACE)
        files.add("c.png", found(2), CLASSES, None)
        files.add("d.tif", found(1), CLASSES, PLACE)
    assert files.left_out == ["c.png"]
    assert sorted(path.name for path in files.written) == ["detections.csv", "detections.gpkg", "detections.json"]
    return tmp_path / "out"


def test_coco_names_images_classes_and_scores(folder: Path) -> None:
    document = json.loads((folder / "detections.json").read_text())

    assert [image["file_name"] for image in document["images"]] == ["a.tif", "b.tif", "c.png", "d.tif"]
    assert document["categories"] == [{"id": 11, "name": "plane"}, {"id": 12, "name": 'ship, "large"'}]
    assert [row["image_id"] for row in document["annotations"]] == [1, 1, 1, 3, 3, 4]
    assert document["annotations"][1] | {"segmentation": []} == {
        "id": 2, "image_id": 1, "category_id": 12, "bbox": [10.0, 20.0, 5.0, 40.0], "area": 200.0, "iscrowd": 0,
        "segmentation": [], "score": 0.75,
    }  # fmt: skip
    assert len(CocoEvaluator(folder / "detections.json").truth.images) == 4


def test_csv_has_a_row_for_each(folder: Path) -> None:
    with (folder / "detections.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    assert len(rows) == 6
    assert rows[1] == {
        "image": "a.tif", "class": 'ship, "large"', "class_id": "12", "score": "0.750000", "x1": "10", "y1": "20",
        "x2": "15", "y2": "60",
    }  # fmt: skip


def test_a_geopackage_has_a_layer_on_the_map(folder: Path) -> None:
    meta, _, geometries, columns = pyogrio.raw.read(folder / "detections.gpkg")

    assert meta["crs"] == "EPSG:4326"
    assert list(meta["fields"]) == ["class", "class_id", "score", "image_id", "bounds_imcoords"]
    assert columns[3].tolist() == ["a.tif", "a.tif", "a.tif", "d.tif"]
    assert columns[2].tolist() == [0.75] * 4
    first = shapely.bounds(shapely.from_wkb(geometries[0])).reshape(2, 2)
    assert np.allclose(first, [[15.0, 45.15337], [15.00003, 45.15355]], atol=1e-4)


def test_a_run_that_is_cut_off_leaves_nothing(tmp_path: Path) -> None:
    files = DetectionFiles(tmp_path / "out", FORMATS)
    files.add("a.tif", found(3), CLASSES, PLACE)
    files.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)

    assert list((tmp_path / "out").iterdir()) == []
