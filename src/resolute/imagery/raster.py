"""Reading pixels by windows from TIFF, GeoTIFF, PNG and JPEG, with memory that does not grow with the file.

Uncompressed strips are mapped into memory and cost nothing to cut; everything else goes through GDAL. Pixels come out
as arrays of (height, width, bands), in the file's own depth. What a pixel means is not decided here: see `rendering`.
"""

import logging
import mmap
import struct
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import cv2
import numpy as np
import rasterio
import tifffile
from numpy.typing import NDArray
from rasterio.errors import NotGeoreferencedWarning, RasterioError
from rasterio.windows import Window as GdalWindow

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.files import TIFF_SUFFIXES
from resolute.imagery.geometry import Window

Pixels = NDArray[Any]
# A JPEG that ends early is an error, not a grey area. The cache is small, since every block is read once.
_GDAL_OPTIONS = {"GDAL_ERROR_ON_LIBJPEG_WARNING": "YES", "GDAL_CACHEMAX": 64 << 20, "GDAL_PAM_ENABLED": "NO"}
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_TAIL = 4096
_STREAMS = ("PNG", "JPEG")
"""Formats that can only be decoded from the top: up to some size that is done once, and windows are cut from it."""
_MOST_BLOCK_PIXELS = 1 << 26
"""Of a tile or strip, whatever the size of its file; 8192 by 8192."""
_MOST_PIXELS_A_BYTE = 1100
"""What deflate packs into one byte at best; a tile that claims more than its whole file can hold is none."""
_WHOLE_PIXELS = 64_000_000
_MAPPED_BYTES = 256 << 20
"""Pages of a mapped file that stay in this process before it lets go of them; the system may still cache them."""
_PAGES = 1 << 16
"""Bytes that the system maps around each one that is touched."""
_NOT_FRAMES = frozenset({0xC4, 0xC8, 0xCC})

# The reason of a failure is in the exception; GDAL and tifffile would print it a second time.
for _noisy in ("rasterio", "tifffile"):
    logging.getLogger(_noisy).addHandler(logging.NullHandler())
    logging.getLogger(_noisy).propagate = False


class Raster(Protocol):
    """An open image. `bands` count from 1, as in GDAL; None is all of them."""

    width: int
    height: int
    band_count: int
    dtype: np.dtype[Any]

    def read(self, window: Window, bands: Sequence[int] | None = None) -> Pixels: ...


@contextmanager
def open_raster(path: Path) -> Iterator[Raster]:
    """Raises NotFound, or InvalidInput with the reason when it is no image or is cut off; also while reading."""
    if not path.exists():
        raise NotFound(f"There is no image {path}.")
    try:
        mapped = _map(path) if path.suffix.lower() in TIFF_SUFFIXES else None
        if mapped is not None:
            yield mapped
            return
        _check_end(path)
        with open_gdal(path) as dataset:
            yield _GdalRaster(dataset)
    except (RasterioError, OSError, cv2.error) as problem:
        raise InvalidInput(unreadable(path, problem)) from problem


@contextmanager
def open_gdal(path: Path) -> Iterator[Any]:
    """A rasterio dataset, with our settings and without the warning that a plain picture has no coordinates."""
    with rasterio.Env(**_GDAL_OPTIONS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            dataset = rasterio.open(path)
        with dataset:
            yield dataset


def read_all(path: Path, bands: Sequence[int]) -> Pixels:
    """Every pixel of a file that only GDAL knows, such as one that lies in memory."""
    with open_gdal(path) as dataset:
        raster = _GdalRaster(dataset)
        return raster.read(Window(0, 0, raster.width, raster.height), bands)


def image_size(path: Path) -> tuple[int, int]:
    """(width, height) from the file's header."""
    try:
        with path.open("rb") as file:
            size = _png_size(file) or _jpeg_size(file)
        if size is not None:
            return size
        with open_gdal(path) as dataset:
            return int(dataset.width), int(dataset.height)
    except FileNotFoundError:
        raise NotFound(f"There is no image {path}.") from None
    except (RasterioError, OSError, struct.error) as problem:
        raise InvalidInput(unreadable(path, problem)) from problem


def unreadable(path: Path, problem: Exception) -> str:
    cause = problem.__cause__ or problem
    detail = " ".join(str(cause).split()).replace(str(path), path.name).rstrip(".") or type(cause).__name__
    return f"The image {path} cannot be read: {detail}. It may be cut off, or not an image; fetch it again."


class _MappedRaster:
    """Pixels that lie in memory, or seem to."""

    def __init__(self, pixels: Pixels, mapping: mmap.mmap | None = None) -> None:
        self._mapping, self._touched = mapping, 0
        # As a plain array: NumPy's own class for mapped files makes each cut ten times as dear.
        self._pixels = np.asarray(pixels)
        self.height, self.width, self.band_count = pixels.shape
        self.dtype = pixels.dtype.newbyteorder("=")

    def read(self, window: Window, bands: Sequence[int] | None = None) -> Pixels:
        self._let_go(window)
        part = self._pixels[window.y1 : window.y2, window.x1 : window.x2]
        if bands is None or list(bands) == list(range(1, self.band_count + 1)):
            return part.astype(self.dtype, copy=False)
        return part[:, :, [band - 1 for band in bands]].astype(self.dtype, copy=False)

    def _let_go(self, window: Window) -> None:
        """Of pages that were read before: the system maps them again should anybody still look at them."""
        if self._mapping is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        self._touched += window.height * max(_PAGES, window.width * self.band_count * self.dtype.itemsize)
        if self._touched > _MAPPED_BYTES:
            self._mapping.madvise(mmap.MADV_DONTNEED)
            self._touched = 0


class _GdalRaster:
    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.width, self.height = int(dataset.width), int(dataset.height)
        self.band_count = int(dataset.count)
        self.dtype = np.result_type(*dataset.dtypes)
        self._check_blocks()
        is_stream = dataset.driver in _STREAMS and self.width * self.height <= _WHOLE_PIXELS
        self._decoded: _MappedRaster | None = None
        self._decodes_whole = is_stream

    def read(self, window: Window, bands: Sequence[int] | None = None) -> Pixels:
        if not self._decodes_whole:
            return self._read(window, bands)
        if self._decoded is None:
            self._decoded = _MappedRaster(self._read(Window(0, 0, self.width, self.height), None))
        return self._decoded.read(window, bands)

    def _check_blocks(self) -> None:
        """GDAL makes room for a whole tile or strip to read one pixel, however large the file says that it is."""
        file = Path(self._dataset.name)
        packed = file.stat().st_size if file.is_file() else self.width * self.height
        most = max(_MOST_BLOCK_PIXELS, _MOST_PIXELS_A_BYTE * packed)
        for height, width in self._dataset.block_shapes:
            if height * width > most:
                raise InvalidInput(
                    f"The image {file} cannot be read: it has {packed:,} bytes, and its tiles or strips claim to be "
                    f"{width:,} by {height:,} pixels. It may be damaged; fetch it again."
                )

    def _read(self, window: Window, bands: Sequence[int] | None) -> Pixels:
        area = GdalWindow(window.x1, window.y1, window.width, window.height)
        planes = self._dataset.read(None if bands is None else list(bands), window=area)
        if len(planes) == 1:
            return np.asarray(planes[0][:, :, None])
        # Interleaving by OpenCV is several times faster than a transposed copy.
        return np.asarray(cv2.merge(list(planes)))


def _map(path: Path) -> _MappedRaster | None:
    """The pixels of a plain TIFF as they lie in the file, or None when they cannot be used as they lie."""
    try:
        with tifffile.TiffFile(path) as tiff:
            page = tiff.pages.first
            is_plain = page.is_memmappable and page.photometric != tifffile.PHOTOMETRIC.PALETTE
            if not is_plain or (page.samplesperpixel > 1 and page.planarconfig != tifffile.PLANARCONFIG.CONTIG):
                return None
            shape, dtype = (page.imagelength, page.imagewidth, page.samplesperpixel), page.dtype
            offset, byte_order = page.dataoffsets[0], tiff.byteorder
        pixels: Any = np.memmap(
            path, dtype=np.dtype(dtype).newbyteorder(byte_order), mode="r", offset=offset, shape=shape
        )
        return _MappedRaster(pixels, pixels._mmap)
    except (tifffile.TiffFileError, struct.error, ValueError, IndexError, KeyError, TypeError, OverflowError):
        # GDAL says better what is wrong with the file.
        return None


def _check_end(path: Path) -> None:
    """GDAL fills the rest of a PNG that ends early with black; its last chunk tells."""
    with path.open("rb") as file:
        if file.read(len(_PNG)) != _PNG:
            return
        file.seek(max(0, path.stat().st_size - _PNG_TAIL))
        if b"IEND" not in file.read():
            raise InvalidInput(unreadable(path, ValueError("the PNG has no end")))


def _png_size(file: BinaryIO) -> tuple[int, int] | None:
    head = file.read(24)
    if not head.startswith(_PNG):
        return None
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def _jpeg_size(file: BinaryIO) -> tuple[int, int] | None:
    file.seek(0)
    if file.read(2) != b"\xff\xd8":
        return None
    while True:
        marker, kind, length = struct.unpack(">BBH", file.read(4))
        if marker != 0xFF:
            return None
        if 0xC0 <= kind <= 0xCF and kind not in _NOT_FRAMES:
            _, height, width = struct.unpack(">BHH", file.read(5))
            return width, height
        file.seek(length - 2, 1)
