"""Detections as GeoJSON: longitude and latitude where the image knows its place on earth, pixels otherwise."""

from collections.abc import Iterator, Sequence
from typing import Any

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

from resolute.imagery.georeference import Georeference
from resolute.vision.detections import ClassName, Detections
from resolute.vision.slicing.regions import Patch, Regions, shifted

Ring = NDArray[np.float64]
_HALF_THE_WORLD = 180.0
_BATCH = 20_000


def to_geojson(
    found: Detections | Regions,
    classes: Sequence[ClassName],
    georeference: Georeference | None = None,
    *,
    image: str = "",
) -> dict[str, Any]:
    """A feature collection: one polygon per box, or the outlines of its mask.

    `coordinates` of the collection is `wgs84` or `pixel`. Each feature has `class`, `class_id`, `score` and the box in
    pixels as `bounds_imcoords`, the way xView writes it.
    """
    features = list(each_feature(found, classes, georeference, image=image))
    return {"type": "FeatureCollection", "coordinates": coordinates_of(georeference), "features": features}


def coordinates_of(georeference: Georeference | None) -> str:
    return "pixel" if georeference is None else "wgs84"


def each_feature(
    found: Detections | Regions,
    classes: Sequence[ClassName],
    georeference: Georeference | None = None,
    *,
    image: str = "",
) -> Iterator[dict[str, Any]]:
    """The features one by one: a million of them together take gigabytes."""
    patches = _patches(found)
    for row, place in enumerate(_places(found, georeference)):
        rings = _outlines(patches[row]) if patches is not None else []
        geometry = _geometry([_on_earth(ring, georeference) for ring in rings] or [place], georeference)
        named = classes[int(found.labels[row]) - 1]
        properties = {
            "class": named.name,
            "class_id": named.id,
            "score": round(float(found.scores[row]), 6),
            "bounds_imcoords": ",".join(f"{value:g}" for value in np.round(found.boxes[row].astype(float), 2)),
            **({"image_id": image} if image else {}),
        }
        yield {"type": "Feature", "geometry": geometry, "properties": properties}


def _patches(found: Detections | Regions) -> list[Patch] | None:
    if isinstance(found, Regions):
        return found.patches
    return shifted(found, x=0, y=0)[1] if found.masks is not None else None


def _outlines(patch: Patch) -> list[Ring]:
    """Outer edges of a mask, through the centres of its pixels; areas too thin for that are left out."""
    contours, _ = cv2.findContours(patch.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    corner = np.array([patch.x + 0.5, patch.y + 0.5])
    return [contour[:, 0, :].astype(np.float64) + corner for contour in contours if len(contour) >= 3]


def _places(found: Detections | Regions, georeference: Georeference | None) -> Iterator[Ring]:
    """The corners of each box. Asking for the coordinates of one box at a time takes far longer."""
    for begin in range(0, len(found), _BATCH):
        corners = found.boxes[begin : begin + _BATCH].astype(np.float64)[:, [0, 1, 0, 3, 2, 3, 2, 1]]
        yield from _on_earth(corners.reshape(-1, 2), georeference).reshape(-1, 4, 2)


def _on_earth(ring: Ring, georeference: Georeference | None) -> Ring:
    return ring if georeference is None else georeference.to_wgs84(ring)


def _geometry(rings: list[Ring], georeference: Georeference | None) -> dict[str, Any]:
    """Of outlines in longitude and latitude, or in pixels where there is no `georeference`."""
    if georeference is None:
        polygons = [[_closed(ring, 3)] for ring in rings]
    else:
        parts = [part for ring in rings for part in split_at_antimeridian(ring)]
        # Nine digits of a degree are a tenth of a millimetre.
        polygons = [[_closed(part, 9)] for part in parts]
    if len(polygons) == 1:
        return {"type": "Polygon", "coordinates": polygons[0]}
    return {"type": "MultiPolygon", "coordinates": polygons}


def split_at_antimeridian(ring: Ring) -> list[Ring]:
    """Longitudes and latitudes of one outline, cut where it crosses 180 degrees, as RFC 7946 asks.

    A ring that reaches around more than half the world does so because it crosses.
    """
    longitudes = ring[:, 0]
    if longitudes.max() - longitudes.min() <= _HALF_THE_WORLD:
        return [ring]
    unrolled = np.column_stack([np.where(longitudes < 0, longitudes + 360.0, longitudes), ring[:, 1]])
    whole = shapely.make_valid(shapely.polygons(unrolled))
    parts: list[Ring] = []
    for west, shift in ((-_HALF_THE_WORLD, 0.0), (_HALF_THE_WORLD, 360.0)):
        side = shapely.intersection(whole, shapely.box(west, -90.0, west + 360.0, 90.0))
        for polygon in shapely.get_parts(side):
            if shapely.area(polygon) > 0:
                points = shapely.get_coordinates(shapely.get_exterior_ring(polygon))[:-1]
                parts.append(points - np.array([shift, 0.0]))
    return parts or [ring]


def _closed(points: Ring, decimals: int) -> list[list[float]]:
    """Counter-clockwise, as the format wants it, and ending where it begins."""
    following = np.roll(points, -1, axis=0)
    if np.sum(points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]) < 0:
        points = points[::-1]
    rounded: list[list[float]] = np.round(points, decimals).tolist()
    return [*rounded, rounded[0]]
