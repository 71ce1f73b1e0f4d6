"""From a sensor's bands and depth to 8-bit red, green and blue: which bands, and how values are stretched.

`plan` looks at the file once (its description and a thinned-out sample); `render` is pure and works on any window.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from rasterio.enums import ColorInterp, Resampling
from rasterio.errors import RasterioError

from resolute.domain.errors import InvalidInput
from resolute.imagery.raster import Pixels, open_gdal, unreadable
from resolute.imagery.render_options import RenderOptions, StretchKind

_SAMPLE_SIDE = 1024
_STRIPE_PIXELS = 1 << 19
"""Stretched at once: numbers in between take eight times the room of a pixel, several times over."""
# Red, green and blue of the usual eight bands (coastal, blue, green, yellow, red, red edge, near infrared 1 and 2).
_EIGHT_BANDS = (5, 3, 2)
_RGB = (ColorInterp.red, ColorInterp.green, ColorInterp.blue)


@dataclass(frozen=True)
class Rendering:
    """What to do with the pixels of one file. No `limits`: they are 8-bit already."""

    bands: tuple[int, ...]
    limits: tuple[tuple[float, float], ...] | None = None
    palette: NDArray[np.uint8] | None = None


def plan(path: Path, options: RenderOptions) -> Rendering:
    """Raises InvalidInput when the file cannot be read or has not the bands that were asked for."""
    try:
        with open_gdal(path) as dataset:
            palette = _palette(dataset)
            if palette is not None:
                return Rendering((1,), palette=palette)
            bands = options.bands or _default_bands(dataset)
            if max(bands) > dataset.count:
                raise InvalidInput(
                    f"{path} has {dataset.count} band(s), but band {max(bands)} was asked for. "
                    f"Choose from 1 to {dataset.count}."
                )
            return Rendering(bands, _limits(dataset, bands, options))
    except (RasterioError, OSError) as problem:
        raise InvalidInput(unreadable(path, problem)) from problem


def render(pixels: Pixels, rendering: Rendering) -> NDArray[np.uint8]:
    """Pixels of `rendering.bands`, as (height, width, 3) of red, green and blue."""
    if rendering.palette is not None:
        return rendering.palette[pixels[:, :, 0]]
    if rendering.limits is not None:
        pixels = np.dstack([stretched(pixels[:, :, i], low, high) for i, (low, high) in enumerate(rendering.limits)])
    if pixels.shape[2] == 1:
        return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_GRAY2RGB), dtype=np.uint8)
    return pixels


def stretched(band: Pixels, low: float, high: float) -> NDArray[np.uint8]:
    """`low` and below become 0, `high` and above 255. A flat band becomes 0."""
    scale = 255.0 / (high - low) if high > low else 0.0
    is_short = band.dtype in (np.uint16, np.int16)
    every = np.arange(65536, dtype=np.uint16).view(band.dtype) if is_short else band[:0]
    table = _eight_bits((every.astype(np.float64) - low) * scale)
    result = np.empty(band.shape, dtype=np.uint8)
    step = max(1, _STRIPE_PIXELS // max(1, band.shape[1]))
    for top in range(0, len(band), step):
        part = band[top : top + step]
        shown = table[part.view(np.uint16)] if is_short else _eight_bits((part.astype(np.float64) - low) * scale)
        result[top : top + step] = shown
    return result


def sample_limits(values: Pixels, low_percent: float, high_percent: float) -> tuple[float, float]:
    """The two percentiles of what is valid; (0, 0) when nothing is.

    Where nearly all values are one (a scene of open water, a large collar), the percentiles coincide and everything
    else would be lost: then the smallest and the largest value count.
    """
    values = values[np.isfinite(values)] if values.dtype.kind == "f" else values.ravel()
    if values.size == 0:
        return 0.0, 0.0
    low, high = np.percentile(values, (low_percent, high_percent))
    if low == high:
        low, high = values.min(), values.max()
    return float(low), float(high)


def _eight_bits(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.clip(np.nan_to_num(values) + 0.5, 0, 255).astype(np.uint8)


def _default_bands(dataset: Any) -> tuple[int, ...]:
    colours = list(dataset.colorinterp)
    if all(colour in colours for colour in _RGB):
        return tuple(colours.index(colour) + 1 for colour in _RGB)
    if dataset.count >= 8:
        return _EIGHT_BANDS
    return (1, 2, 3) if dataset.count >= 3 else (1,)


def _palette(dataset: Any) -> NDArray[np.uint8] | None:
    if dataset.count != 1 or dataset.colorinterp[0] is not ColorInterp.palette:
        return None
    table = np.zeros((256, 3), dtype=np.uint8)
    for index, colour in dataset.colormap(1).items():
        if index < 256:
            table[index] = colour[:3]
    return table


def _limits(dataset: Any, bands: Sequence[int], options: RenderOptions) -> tuple[tuple[float, float], ...] | None:
    if options.limits is not None:
        return (options.limits,) * len(bands)
    is_eight_bit = all(dataset.dtypes[band - 1] == "uint8" for band in bands)
    if options.stretch is StretchKind.NONE or (options.stretch is StretchKind.AUTO and is_eight_bit):
        if is_eight_bit:
            return None
        return tuple(_full_range(dataset.dtypes[band - 1]) for band in bands)
    percents = (0.0, 100.0) if options.stretch is StretchKind.MINMAX else (options.low_percent, options.high_percent)
    share = max(dataset.width, dataset.height) / _SAMPLE_SIDE
    shape = tuple(max(1, int(side / max(share, 1))) for side in (dataset.height, dataset.width))
    sample = dataset.read(list(bands), out_shape=(len(bands), *shape), resampling=Resampling.nearest, masked=True)
    if options.nodata is not None:
        sample = np.ma.masked_where(_is(sample, options.nodata, dataset, bands), sample)
    return tuple(sample_limits(plane.compressed(), *percents) for plane in sample)


def _is(sample: Any, nodata: float, dataset: Any, bands: Sequence[int]) -> NDArray[np.bool_]:
    """Where a band that names no value without meaning itself has `nodata`."""
    is_silent = np.array([dataset.nodatavals[band - 1] is None for band in bands])
    return np.asarray((sample.data == nodata) & is_silent[:, None, None])


def _full_range(dtype: str) -> tuple[float, float]:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return 0.0, 1.0
    info = np.iinfo(kind)
    return float(info.min), float(info.max)
