"""What an image file is by its header, and so how it has to be read for a model."""

from pathlib import Path
from typing import Any

import numpy as np
from rasterio.enums import ColorInterp
from rasterio.errors import RasterioError

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.files import TIFF_SUFFIXES
from resolute.imagery.preprocessing import Origin, Preprocessing, check_same, options_of, read_record
from resolute.imagery.raster import open_gdal, unreadable
from resolute.imagery.render_options import RenderOptions


def options_for(path: Path, learnt: Preprocessing | None, chosen: RenderOptions | None = None) -> RenderOptions:
    """How a file has to be read for a model that learnt from `learnt`; what was `chosen` by hand wins.

    Raises InvalidInput when the file is of another kind than what was learnt from, or was prepared in another way.
    """
    if chosen is not None:
        return chosen
    if learnt is None:
        return RenderOptions()
    if path.suffix.lower() not in TIFF_SUFFIXES:
        there = read_record(path.parent)
        if there is not None:
            check_same(there, learnt, path)
            return RenderOptions()
    return options_of(read_origin(path), learnt, str(path))


def read_origin(path: Path) -> Origin:
    """From the file's header. Raises NotFound or InvalidInput."""
    try:
        with open_gdal(path) as dataset:
            return origin_of(dataset)
    except (RasterioError, OSError) as problem:
        if not path.exists():
            raise NotFound(f"There is no image {path}.") from None
        raise InvalidInput(unreadable(path, problem)) from problem


def origin_of(dataset: Any) -> Origin:
    """Of an open rasterio dataset."""
    formats = {"GTiff": "tiff", "PNG": "png", "JPEG": "jpeg", "COG": "tiff"}
    colours = list(dataset.colorinterp)
    is_palette = colours[0] is ColorInterp.palette
    has_alpha = len(colours) in (2, 4) and colours[-1] is ColorInterp.alpha
    return Origin(
        format=formats.get(dataset.driver, str(dataset.driver)),
        dtype=str(np.result_type(*dataset.dtypes)),
        bands=3 if is_palette else int(dataset.count) - has_alpha,
        nodata=None if dataset.nodata is None else f"{dataset.nodata:g}",
    )
