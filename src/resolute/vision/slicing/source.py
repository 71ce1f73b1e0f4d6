"""Where windows come from: a file that is read piece by piece, or an array. Pixels come out as 8-bit RGB."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from rasterio.enums import Resampling
from rasterio.errors import RasterioError

from resolute.domain.errors import InvalidInput
from resolute.imagery.geometry import Window
from resolute.imagery.raster import image_size, open_gdal, open_raster, unreadable
from resolute.imagery.render_options import RenderOptions
from resolute.imagery.rendering import Rendering, plan, render

Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class FileSource:
    """`rendering`: which bands, and how they become 8 bits; decided once for the whole file."""

    path: Path
    width: int
    height: int
    rendering: Rendering = field(repr=False)

    def windows(self, windows: list[Window]) -> Iterator[Picture]:
        with open_raster(self.path) as raster:
            for window in windows:
                yield np.ascontiguousarray(render(raster.read(window, self.rendering.bands), self.rendering))

    def small(self, width: int, height: int) -> Picture:
        """The whole image at another size. Smaller copies inside the file are used when it has them."""
        bands = list(self.rendering.bands)
        kind = Resampling.nearest if self.rendering.palette is not None else Resampling.average
        try:
            with open_gdal(self.path) as dataset:
                planes = dataset.read(bands, out_shape=(len(bands), height, width), resampling=kind)
        except (RasterioError, OSError) as problem:
            raise InvalidInput(unreadable(self.path, problem)) from problem
        return np.ascontiguousarray(render(np.ascontiguousarray(planes.transpose(1, 2, 0)), self.rendering))


@dataclass(frozen=True)
class ArraySource:
    pixels: Picture = field(repr=False)

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    def windows(self, windows: list[Window]) -> Iterator[Picture]:
        for window in windows:
            yield np.ascontiguousarray(self.pixels[window.y1 : window.y2, window.x1 : window.x2])

    def small(self, width: int, height: int) -> Picture:
        resized: Any = cv2.resize(np.ascontiguousarray(self.pixels), (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(resized, dtype=np.uint8)


Source = FileSource | ArraySource


def open_source(image: Path | str | Picture, options: RenderOptions) -> Source:
    """Raises NotFound or InvalidInput for what is not an image."""
    if isinstance(image, np.ndarray):
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
            raise InvalidInput(
                f"The image is an array of {image.dtype} with shape {image.shape}. "
                "Give height x width x 3 of uint8, red first."
            )
        return ArraySource(image)
    path = Path(image)
    width, height = image_size(path)
    return FileSource(path, width, height, plan(path, options))


@contextmanager
def whole_picture(image: Path | str | Picture, options: RenderOptions, *, max_side: int) -> Iterator[Picture]:
    """The image at a size that can be looked at; smaller only when a side is longer than `max_side`."""
    source = open_source(image, options)
    share = min(1.0, max_side / max(source.width, source.height))
    if share == 1.0:
        yield next(source.windows([Window(0, 0, source.width, source.height)]))
    else:
        yield source.small(max(1, round(source.width * share)), max(1, round(source.height * share)))
