"""Where on earth an image lies: from its pixels to map coordinates and back."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rasterio.crs import CRS
from rasterio.errors import CRSError, NotGeoreferencedWarning, RasterioError
from rasterio.transform import Affine, from_gcps
from rasterio.warp import transform as reproject

from resolute.domain.errors import InvalidInput
from resolute.imagery.raster import open_gdal, unreadable

Points = NDArray[np.float64]
WGS84 = CRS.from_epsg(4326)


@dataclass(frozen=True)
class Georeference:
    """From pixels (0, 0 is the upper left corner of the first one) to coordinates of `crs`."""

    transform: Affine
    crs: CRS

    def to_map(self, pixels: Points) -> Points:
        """Pixels [n, 2] in coordinates of `crs`."""
        return _through(self.transform, pixels)

    def to_pixels(self, points: Points) -> Points:
        """Coordinates of `crs` [n, 2] in pixels."""
        return _through(~self.transform, points)

    def to_wgs84(self, pixels: Points) -> Points:
        """Pixels [n, 2] as longitude and latitude."""
        return between(self.crs, WGS84, self.to_map(pixels))


def between(source: CRS, target: CRS, points: Points) -> Points:
    """Coordinates [n, 2] of one system in another; x before y in both, whatever their registers say."""
    if source == target or not len(points):
        return points
    x, y = reproject(source, target, points[:, 0], points[:, 1])
    return np.column_stack([x, y])


def read_crs(text: str) -> CRS:
    """`EPSG:32633`, a WKT or a PROJ string. Raises InvalidInput."""
    try:
        return CRS.from_user_input(text)
    except (CRSError, ValueError) as problem:
        raise InvalidInput(f"{text!r} is no coordinate system: {problem}. Give one such as EPSG:32633.") from problem


def read_georeference(path: Path) -> Georeference | None:
    """None when the file does not say where on earth it lies. Ground control points become a transform."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            with open_gdal(path) as dataset:
                return georeference_of(dataset)
    except (RasterioError, OSError) as problem:
        raise InvalidInput(unreadable(path, problem)) from problem


def georeference_of(dataset: Any) -> Georeference | None:
    """Of an open rasterio dataset."""
    points, points_crs = dataset.gcps
    if dataset.crs is not None and not dataset.transform.is_identity:
        return Georeference(dataset.transform, dataset.crs)
    if points and points_crs is not None:
        return Georeference(from_gcps(points), points_crs)
    return None


def _through(t: Affine, points: Points) -> Points:
    x, y = points[:, 0], points[:, 1]
    return np.column_stack([t.a * x + t.b * y + t.c, t.d * x + t.e * y + t.f])
