"""Polygons in map coordinates onto the images that they lie on: reprojected, cut at the edge, kept as masks.

A label that lies on several images is put on each of them. Nothing is dropped or changed without being counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from rasterio.crs import CRS

from resolute.domain.errors import ResoluteError
from resolute.imagery.coco import Dataset, number
from resolute.imagery.formats.building import DatasetBuilder
from resolute.imagery.georeference import Georeference, between, read_georeference
from resolute.imagery.raster import image_size
from resolute.imagery.report import Reason, Report
from resolute.imagery.vector import VectorLayer
from resolute.imagery.workers import Progress

Geometries = NDArray[Any]
_POLYGONS = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)
_COLLECTION = shapely.GeometryType.GEOMETRYCOLLECTION
_DECIMALS = 3


@dataclass(frozen=True)
class _Placed:
    """The usable labels in the coordinates of one system, found by place."""

    geometries: Geometries
    tree: Any

    @classmethod
    def of(cls, geometries: Geometries) -> "_Placed":
        return cls(geometries, shapely.STRtree(geometries))


def read(layer: VectorLayer, images: Sequence[Path], report: Report, on_progress: Progress = lambda _: None) -> Dataset:
    """Every image with a place on earth, in the given order; classes by name. Progress counts images."""
    geometries, classes = _usable(layer, report)
    builder = DatasetBuilder()
    for name in sorted(set(classes), key=_by_number):
        builder.add_category(name)
    systems: dict[CRS, _Placed] = {}
    hits = np.zeros(len(geometries), dtype=np.int64)
    for path in images:
        on_progress(1)
        found = _image(path, report)
        if found is None:
            continue
        width, height, place = found
        if place.crs not in systems:
            systems[place.crs] = _Placed.of(_reprojected(geometries, layer.crs, place.crs))
        image_id = builder.add_image(path.name, width, height)
        rows = _on_image(systems[place.crs], place, width, height)
        hits[rows] += _add(builder, image_id, path.name, rows, systems[place.crs], place, classes, report)
    _count_places(hits, classes, layer, report)
    return builder.dataset


def _usable(layer: VectorLayer, report: Report) -> tuple[Geometries, list[str]]:
    """Valid polygons with a class."""
    kept: list[Any] = []
    classes: list[str] = []
    for row, (geometry, kind) in enumerate(zip(layer.geometries, layer.classes, strict=True)):
        place = f"feature {row}"
        polygon = _polygon(geometry, place, report)
        if polygon is None:
            continue
        if kind is None or kind != kind or not str(kind).strip():
            report.add(Reason.UNKNOWN_CLASS, f"{place} has no class")
            continue
        kept.append(polygon)
        classes.append(_name(kind))
    return np.array(kept, dtype=object), classes


def _polygon(geometry: Any, place: str, report: Report) -> Any:
    """None when it is no area. Rings that cross themselves are repaired."""
    if geometry is None or shapely.is_empty(geometry):
        report.add(Reason.EMPTY_BOUNDS, place)
        return None
    kind = shapely.get_type_id(geometry)
    if kind not in _POLYGONS and kind != _COLLECTION:
        report.add(Reason.NOT_AN_AREA, f"{place} is a {geometry.geom_type}")
        return None
    geometry = shapely.force_2d(geometry)
    if not shapely.is_valid(geometry):
        geometry = shapely.make_valid(geometry)
        report.add(Reason.REPAIRED, place)
    areas = [part for part in shapely.get_parts(geometry) if shapely.get_type_id(part) in _POLYGONS]
    polygon = areas[0] if len(areas) == 1 else shapely.union_all(areas)
    if not np.isfinite(shapely.get_coordinates(polygon)).all():
        report.add(Reason.NOT_NUMBERS, place)
        return None
    if shapely.area(polygon) <= 0:
        report.add(Reason.ZERO_AREA, place)
        return None
    return polygon


def _image(path: Path, report: Report) -> tuple[int, int, Georeference] | None:
    try:
        width, height = image_size(path)
        place = read_georeference(path)
    except ResoluteError as problem:
        report.add(Reason.IMAGE_UNREADABLE, str(problem))
        return None
    if place is None:
        report.add(Reason.NO_GEOREFERENCE, path.name)
        return None
    return width, height, place


def _reprojected(geometries: Geometries, source: CRS, target: CRS) -> Geometries:
    """Labels outside of what the system can express are nowhere: empty."""
    moved: Geometries = shapely.transform(geometries, lambda points: between(source, target, points))
    is_lost = ~np.isfinite(shapely.bounds(moved)).all(axis=1) if len(moved) else np.zeros(0, dtype=bool)
    moved[is_lost] = shapely.Polygon()
    return moved


def _on_image(placed: _Placed, place: Georeference, width: int, height: int) -> NDArray[np.int64]:
    """Rows whose geometry touches the image, which may be turned on the map; in file order."""
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], dtype=np.float64)
    outline = shapely.polygons(place.to_map(corners))
    found: NDArray[np.int64] = np.sort(placed.tree.query(outline, predicate="intersects"))
    return found


def _add(
    builder: DatasetBuilder,
    image_id: int,
    image: str,
    rows: NDArray[np.int64],
    placed: _Placed,
    place: Georeference,
    classes: list[str],
    report: Report,
) -> NDArray[np.int64]:
    """Labels of one image. For each row 1 when something of it was left."""
    size = builder.dataset.images[-1]
    window = shapely.box(0, 0, size.width, size.height)
    left = np.zeros(len(rows), dtype=np.int64)
    for at, row in enumerate(rows.tolist()):
        whole = shapely.transform(placed.geometries[row], place.to_pixels)
        part = _areas_of(shapely.intersection(whole, window))
        rings = [ring for ring in map(_ring, part) if len(ring) >= 6]
        if not rings:
            continue
        left[at] = 1
        if shapely.area(whole) - sum(map(shapely.area, part)) > 1e-6 * shapely.area(whole):
            report.add(Reason.CLIPPED_TO_IMAGE, f"{image}, feature {row}")
        if any(shapely.get_num_interior_rings(each) for each in part):
            report.add(Reason.HOLES_FILLED, f"{image}, feature {row}")
        bounds = shapely.total_bounds(np.array(part, dtype=object)).round(_DECIMALS).tolist()
        builder.add_box(image_id, builder.add_category(classes[row]), tuple(bounds), rings)
        builder.dataset.annotations[-1].area = number(round(float(sum(map(shapely.area, part))), _DECIMALS))
    return left


def _areas_of(geometry: Any) -> list[Any]:
    """The polygons of a cut: where edges only touch, it also gives points and lines."""
    parts = shapely.get_parts(geometry, return_index=False)
    flat = [each for part in parts for each in shapely.get_parts(part)]
    return [each for each in flat if shapely.get_type_id(each) == _POLYGONS[0] and shapely.area(each) > 0]


def _ring(polygon: Any) -> list[float | int]:
    points = shapely.get_coordinates(shapely.get_exterior_ring(polygon))[:-1]
    return [number(value) for value in points.round(_DECIMALS).ravel().tolist()]


def _count_places(hits: NDArray[np.int64], classes: list[str], layer: VectorLayer, report: Report) -> None:
    nowhere = np.flatnonzero(hits == 0).tolist()
    report.add_many(Reason.ON_NO_IMAGE, len(nowhere), (f"label {row}, {classes[row]}" for row in nowhere))
    several = np.flatnonzero(hits > 1).tolist()
    report.add_many(Reason.ON_SEVERAL_IMAGES, len(several), (f"label {row}, {hits[row]} images" for row in several))


def _name(kind: Any) -> str:
    return str(int(kind)) if isinstance(kind, float) and kind == int(kind) else str(kind).strip()


def _by_number(name: str) -> tuple[int, int, str]:
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)
