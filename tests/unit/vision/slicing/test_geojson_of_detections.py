"""Detections on the map."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import rasterio
from rasterio.control import GroundControlPoint

from resolute.imagery.georeference import WGS84, between, read_georeference
from resolute.vision.detections import ClassName, Detections
from resolute.vision.geo import to_geojson
from resolute.vision.slicing import Patch, Regions

CLASSES = (ClassName(11, "plane"), ClassName(12, "ship"))
FOUND = Detections(
    np.array([[10, 20, 30, 60], [0, 0, 5, 5]], np.float32), np.array([0.75, 0.5], np.float32), np.array([2, 1])
)


def _write(path: Path, **place: object) -> Path:
    with rasterio.open(path, "w", driver="GTiff", width=100, height=80, count=1, dtype="uint8", **place) as target:
        target.write(np.zeros((1, 80, 100), np.uint8))
    return path


def _turns_left(ring: list[list[float]]) -> bool:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise(ring)) > 0


def test_an_image_that_knows_its_place_gives_longitude_and_latitude(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.tif", crs="EPSG:4326", transform=rasterio.Affine(1e-4, 0, 10, 0, -1e-4, 50))

    features = to_geojson(FOUND, CLASSES, read_georeference(path), image="a.tif")

    first = features["features"][0]
    ring = first["geometry"]["coordinates"][0]
    assert features["coordinates"] == "wgs84"
    assert first["geometry"]["type"] == "Polygon"
    assert {tuple(point) for point in ring} == {(10.001, 49.998), (10.001, 49.994), (10.003, 49.994), (10.003, 49.998)}
    assert ring[0] == ring[-1]
    assert _turns_left(ring)
    assert first["properties"] == {
        "class": "ship",
        "class_id": 12,
        "score": 0.75,
        "bounds_imcoords": "10,20,30,60",
        "image_id": "a.tif",
    }


def test_metres_of_a_map_projection_become_degrees(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "utm.tif", crs="EPSG:32633", transform=rasterio.Affine(0.3, 0, 500_000, 0, -0.3, 5_538_630)
    )

    features = to_geojson(FOUND, CLASSES, read_georeference(path))

    longitude, latitude = features["features"][1]["geometry"]["coordinates"][0][0]
    # The middle of zone 33 is 15 degrees east.
    assert longitude == pytest.approx(15.0, abs=1e-4)
    assert latitude == pytest.approx(50.0, abs=1e-2)


def test_a_turned_image_keeps_its_corners_in_order(tmp_path: Path) -> None:
    path = _write(tmp_path / "t.tif", crs="EPSG:4326", transform=rasterio.Affine(0, 1e-4, 10, 1e-4, 0, 50))

    features = to_geojson(FOUND, CLASSES, read_georeference(path))

    assert all(_turns_left(feature["geometry"]["coordinates"][0]) for feature in features["features"])


def test_ground_control_points_are_enough(tmp_path: Path) -> None:
    corners = [(0, 0, 10.0, 50.0), (0, 100, 10.1, 50.0), (80, 0, 10.0, 49.92), (80, 100, 10.1, 49.92)]
    points = [GroundControlPoint(row, column, x, y) for row, column, x, y in corners]
    path = _write(tmp_path / "gcp.tif", gcps=points, crs="EPSG:4326")

    place = read_georeference(path)

    assert place is not None
    assert place.to_wgs84(np.array([[50.0, 40.0]])).tolist()[0] == pytest.approx([10.05, 49.96], abs=1e-6)


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_an_image_without_a_place_gives_pixels(tmp_path: Path) -> None:
    place = read_georeference(_write(tmp_path / "plain.tif"))

    features = to_geojson(FOUND, CLASSES, place)

    assert place is None
    assert features["coordinates"] == "pixel"
    assert sorted(features["features"][0]["geometry"]["coordinates"][0])[0] == [10, 20]


def test_masks_become_their_outlines() -> None:
    mask = np.zeros((10, 20), bool)
    mask[1:6, 1:8] = mask[1:6, 12:19] = True
    boxes = np.array([[100, 200, 120, 210]], np.float32)
    regions = Regions(500, 500, boxes, np.ones(1, np.float32), np.ones(1, np.int64), [Patch(100, 200, mask)])

    geometry = to_geojson(regions, CLASSES)["features"][0]["geometry"]

    points = np.array([point for polygon in geometry["coordinates"] for point in polygon[0]])
    assert geometry["type"] == "MultiPolygon"
    assert len(geometry["coordinates"]) == 2
    assert points.min(axis=0).tolist() == [101.5, 201.5]
    assert points.max(axis=0).tolist() == [118.5, 205.5]


def test_a_mask_too_thin_for_an_outline_falls_back_to_its_box() -> None:
    masks = np.zeros((1, 9, 9), bool)
    masks[0, 4, 4] = True
    found = Detections(np.array([[4, 4, 5, 5]], np.float32), np.ones(1, np.float32), np.ones(1, np.int64), masks)

    geometry = to_geojson(found, CLASSES)["features"][0]["geometry"]

    assert geometry["type"] == "Polygon"
    assert len(geometry["coordinates"][0]) == 5


def test_nothing_found_is_an_empty_collection() -> None:
    nothing = Detections(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int64))

    assert to_geojson(nothing, CLASSES)["features"] == []


@pytest.mark.parametrize("epsg", [3832, 32601])
def test_an_object_on_the_antimeridian_is_cut_there(tmp_path: Path, epsg: int) -> None:
    """RFC 7946: no outline reaches around the world."""
    crs = rasterio.crs.CRS.from_epsg(epsg)
    x, y = between(WGS84, crs, np.array([[180.0, -17.0]]))[0]
    transform = rasterio.Affine(100, 0, x - 5000, 0, -100, y + 4000)
    found = Detections(np.array([[40, 20, 60, 40]], np.float32), np.ones(1, np.float32), np.ones(1, np.int64))

    place = read_georeference(_write(tmp_path / "a.tif", crs=crs, transform=transform))
    (feature,) = to_geojson(found, CLASSES, place)["features"]

    assert feature["geometry"]["type"] == "MultiPolygon"
    parts = [np.array(part[0]) for part in feature["geometry"]["coordinates"]]
    assert sorted((part[:, 0].min() > 179.9, part[:, 0].max() < -179.9) for part in parts) == [
        (False, True),
        (True, False),
    ]
    assert all(_turns_left(part.tolist()) for part in parts)
    widths = [part[:, 0].max() - part[:, 0].min() for part in parts]
    assert widths == pytest.approx([widths[0]] * 2, rel=0.1)
