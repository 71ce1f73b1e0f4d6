"""Detections as GeoJSON: longitude and latitude where the image knows its place on earth, pixels otherwise."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from rasterio.crs import CRS
from rasterio.errors import NotGeoreferencedWarning, RasterioError
from rasterio.transform import Affine, from_gcps
from rasterio.warp import transform as reproject

from resolute.domain.errors import InvalidInput
from resolute.imagery.raster import open_gdal, unreadable
from resolute.vision.detections import ClassName, Detections
from resolute.vision.slicing.regions import Patch, Regions, shifted

_WGS84 = CRS.from_epsg(4326)
Ring = NDArray[np.float64]


@dataclass(frozen=True)
class Georeference:
    """From pixels (0, 0 is the upper left corner of the first one) to coordinates of `crs`."""

    transform: Affine
    crs: CRS

    def to_wgs84(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pixels [n, 2] as longitude and latitude."""
        t = self.transform
        x = t.a * points[:, 0] + t.b * points[:, 1] + t.c
        y = t.d * points[:, 0] + t.e * points[:, 1] + t.f
        longitude, latitude = reproject(self.crs, _WGS84, x, y)
        return np.column_stack([longitude, latitude])


def read_georeference(path: Path) -> Georeference | None:
    """None when the file does not say where on earth it lies. Ground control points become a transform."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            with open_gdal(path) as dataset:
                points, points_crs = dataset.gcps
                if dataset.crs is not None and not dataset.transform.is_identity:
                    return Georeference(dataset.transform, dataset.crs)
                if points and points_crs is not None:
                    return Georeference(from_gcps(points), points_crs)
    except (RasterioError, OSError) as problem:
        raise InvalidInput(unreadable(path, problem)) from problem
    return None


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
    patches = _patches(found)
    features = []
    for row in range(len(found)):
        rings = _outlines(patches[row]) if patches is not None else []
        geometry = _geometry(rings or [_corners(found.boxes[row])], georeference)
        named = classes[int(found.labels[row]) - 1]
        properties = {
            "class": named.name,
            "class_id": named.id,
            "score": round(float(found.scores[row]), 6),
            "bounds_imcoords": ",".join(f"{value:g}" for value in np.round(found.boxes[row].astype(float), 2)),
            **({"image_id": image} if image else {}),
        }
        features.append({"type": "Feature", "geometry": geometry, "properties": properties})
    place = "pixel" if georeference is None else "wgs84"
    return {"type": "FeatureCollection", "coordinates": place, "features": features}


def _patches(found: Detections | Regions) -> list[Patch] | None:
    if isinstance(found, Regions):
        return found.patches
    return shifted(found, x=0, y=0)[1] if found.masks is not None else None


def _outlines(patch: Patch) -> list[Ring]:
    """Outer edges of a mask, through the centres of its pixels; areas too thin for that are left out."""
    contours, _ = cv2.findContours(patch.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    corner = np.array([patch.x + 0.5, patch.y + 0.5])
    return [contour[:, 0, :].astype(np.float64) + corner for contour in contours if len(contour) >= 3]


def _corners(box: NDArray[np.float32]) -> Ring:
    x1, y1, x2, y2 = (float(value) for value in box)
    return np.array([(x1, y1), (x1, y2), (x2, y2), (x2, y1)])


def _geometry(rings: list[Ring], georeference: Georeference | None) -> dict[str, Any]:
    polygons = [[_closed(ring, georeference)] for ring in rings]
    if len(polygons) == 1:
        return {"type": "Polygon", "coordinates": polygons[0]}
    return {"type": "MultiPolygon", "coordinates": polygons}


def _closed(ring: Ring, georeference: Georeference | None) -> list[list[float]]:
    """Counter-clockwise, as the format wants it, and ending where it begins."""
    points = ring if georeference is None else georeference.to_wgs84(ring)
    following = np.roll(points, -1, axis=0)
    if np.sum(points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]) < 0:
        points = points[::-1]
    # Nine digits of a degree are a tenth of a millimetre.
    rounded: list[list[float]] = np.round(points, 9 if georeference else 3).tolist()
    return [*rounded, rounded[0]]
