"""Image files that came as bytes (over a wire, out of a store) to 8-bit red, green and blue, read as in training.

Only deep or multi-band images need this: pictures of 8 bits are decoded by whoever received them.
"""

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rasterio.errors import RasterioError
from rasterio.io import MemoryFile

from resolute.domain.errors import InvalidInput, TooLarge
from resolute.imagery.origins import origin_of
from resolute.imagery.preprocessing import Origin, Preprocessing, options_of
from resolute.imagery.raster import open_gdal, read_all
from resolute.imagery.render_options import RenderOptions
from resolute.imagery.rendering import plan, render


def to_rgb(
    content: bytes, where: str, preprocessing: Preprocessing | None, *, max_pixels: int | None = None
) -> NDArray[np.uint8]:
    """Raises InvalidInput for what cannot be read, is too large, or is not of the kind that was learnt from."""
    try:
        with MemoryFile(content) as memory:
            path = Path(memory.name)
            options = _options(path, where, preprocessing, max_pixels)
            rendering = plan(path, options)
            return np.ascontiguousarray(render(read_all(path, rendering.bands), rendering))
    except InvalidInput as problem:
        raise InvalidInput(str(problem).replace(f"The image {memory.name}", where).replace(memory.name, where)) from (
            problem
        )
    except (RasterioError, OSError, struct.error) as problem:
        raise InvalidInput(f"{where} cannot be read: {problem}. It may be cut off, or not an image.") from problem


def _options(path: Path, where: str, learnt: Preprocessing | None, max_pixels: int | None) -> RenderOptions:
    with open_gdal(path) as dataset:
        pixels = int(dataset.width) * int(dataset.height)
        origin: Origin = origin_of(dataset)
    if max_pixels is not None and pixels > max_pixels:
        raise TooLarge(f"{where} has {pixels:,} pixels; at most {max_pixels:,} are read. Send a smaller image.")
    return RenderOptions() if learnt is None else options_of(origin, learnt, where)
