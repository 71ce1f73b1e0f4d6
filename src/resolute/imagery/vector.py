"""Vector files as geometries and columns: GeoJSON, GeoPackage, shapefile, CSV with WKT, and what else GDAL reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyogrio
import shapely
from numpy.typing import NDArray
from pyogrio.errors import DataLayerError, DataSourceError, FieldError
from rasterio.crs import CRS

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.georeference import read_crs

VECTOR_SUFFIXES = frozenset({".geojson", ".gpkg", ".shp", ".fgb", ".kml", ".gml", ".zip", ".parquet"})
CLASS_FIELDS = ("class", "class_name", "label", "category", "name", "type", "type_id", "class_id", "kind")
"""Looked for in this order, whatever their case, when nobody says which field names the class."""
_SHOWN = 8


@dataclass(frozen=True)
class VectorLayer:
    """Columns of one length. `classes` are None where a feature names none."""

    geometries: NDArray[Any]
    classes: list[Any]
    crs: CRS
    place: str

    def __len__(self) -> int:
        return len(self.geometries)


def read_layer(
    path: Path, *, layer: str | None = None, class_field: str | None = None, crs: str | None = None
) -> VectorLayer:
    """Raises NotFound or InvalidInput: no such file or layer, no field of classes, a coordinate system nobody named."""
    if not path.exists():
        raise NotFound(f"There is no label file {path}. Check the path.")
    try:
        chosen = _layer(path, layer)
        info = pyogrio.read_info(path, layer=chosen)
        field = _class_field(path, list(info["fields"]), class_field)
        meta, _, geometries, columns = pyogrio.raw.read(path, layer=chosen, columns=[field])
    except (DataSourceError, DataLayerError, FieldError, UnicodeDecodeError, ValueError) as problem:
        raise InvalidInput(
            f"{path} cannot be read as a vector file: {str(problem).splitlines()[0]} "
            "GeoJSON, GeoPackage, shapefiles (with the .shx and .dbf beside) and CSV with a WKT column are."
        ) from problem
    if geometries is None:
        raise InvalidInput(f"{path} has no geometry: only a table. For boxes in columns use --from csv.")
    return VectorLayer(shapely.from_wkb(geometries), columns[0].tolist(), _crs(path, meta["crs"], crs), str(path))


def _layer(path: Path, wanted: str | None) -> str:
    names = [str(row[0]) for row in pyogrio.list_layers(path)]
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names:
        return str(wanted)
    shown = ", ".join(names[:_SHOWN]) or "none"
    what = f"no layer {wanted!r}" if wanted else f"{len(names)} layers"
    raise InvalidInput(f"{path} has {what}; its layers are {shown}. Choose one with --layer.")


def _class_field(path: Path, fields: Sequence[str], wanted: str | None) -> str:
    if wanted in fields:
        return str(wanted)
    lowered = {field.lower(): field for field in reversed(fields)}
    found = next((lowered[name] for name in CLASS_FIELDS if name in lowered), None) if wanted is None else None
    if found is not None:
        return found
    shown = ", ".join(fields[:_SHOWN]) or "none"
    what = f"no field {wanted!r}" if wanted else "no field that looks like a class"
    raise InvalidInput(f"{path} has {what}; its fields are {shown}. Say which one names the class: --class-field.")


def _crs(path: Path, named: str | None, wanted: str | None) -> CRS:
    if wanted is not None:
        return read_crs(wanted)
    if named is None:
        raise InvalidInput(
            f"{path} does not name its coordinate system, so nobody knows where its labels lie. Say which it is: "
            "--crs EPSG:4326 (longitude and latitude), --crs EPSG:32633 or another."
        )
    return read_crs(named)
