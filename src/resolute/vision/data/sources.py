"""Where pictures come from: a folder, an object store, or nowhere (`fake`). One small interface for all of them."""

import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from obstore.store import ObjectStore
from PIL import Image, UnidentifiedImageError

from resolute.domain.errors import Forbidden, InvalidInput, NotFound
from resolute.imagery.files import TIFF_SUFFIXES
from resolute.imagery.geometry import Window
from resolute.imagery.in_memory import to_rgb
from resolute.imagery.origins import read_origin
from resolute.imagery.preprocessing import RECORD, Origin, Preprocessing, compose, decode, read_record
from resolute.imagery.raster import open_raster
from resolute.imagery.render_options import RenderOptions
from resolute.imagery.rendering import Rendering, plan, render
from resolute.imagery.signatures import is_raster
from resolute.vision.data.labels import Sample
from resolute.vision.storage import open_store, read_bytes

Pixels = NDArray[np.uint8]
_LOOKED_AT = 256
"""Headers that are read to learn what the images of a folder are like; more would delay a start on large sets."""


class ImageSource(Protocol):
    """Gives the pixels of a sample as height x width x 3, RGB. Raises NotFound or InvalidInput with the name."""

    def read(self, sample: Sample) -> Pixels: ...

    def has(self, sample: Sample) -> bool:
        """False only when it is known not to be there; a store is not asked for every image."""

    def preprocessing(self, samples: Sequence[Sample]) -> Preprocessing | None:
        """How the pictures were made, or how they are read if they are originals. None when nothing says."""


class LocalImages:
    """A folder. TIFF and windows of large images are read by windows, so memory stays flat."""

    def __init__(self, folder: Path, options: RenderOptions | None = None) -> None:
        """`options`: how originals (TIFF, and PNG of 16 bits) are read."""
        self.folder = folder
        self._options = options or RenderOptions()
        self._names: frozenset[str] | None = None
        self._renderings: dict[str, Rendering] = {}

    def has(self, sample: Sample) -> bool:
        if self._names is None:
            paths = self.folder.rglob("*")
            self._names = frozenset(path.relative_to(self.folder).as_posix() for path in paths)
        return sample.file_name in self._names

    def read(self, sample: Sample) -> Pixels:
        path = self.folder / sample.file_name
        if sample.window is not None or path.suffix.lower() in TIFF_SUFFIXES:
            return self._windowed(path, sample)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise NotFound(f"There is no image {path}, but the labels name it.") from None
        return self._windowed(path, sample) if is_raster(content) else decoded(content, str(path))

    def preprocessing(self, samples: Sequence[Sample]) -> Preprocessing | None:
        before = read_record(self.folder)
        names = list(dict.fromkeys(sample.file_name for sample in samples))
        looked_at = names[:: max(1, len(names) // _LOOKED_AT)] if before is None else []
        found = [_origin(self.folder / name) for name in looked_at]
        return compose(before, self._options, [origin for origin in found if origin is not None], self.folder)

    def _windowed(self, path: Path, sample: Sample) -> Pixels:
        with open_raster(path) as raster:
            if sample.file_name not in self._renderings:
                self._renderings[sample.file_name] = plan(path, self._options)
            rendering = self._renderings[sample.file_name]
            window = sample.window or whole(sample)
            return render(raster.read(window, rendering.bands), rendering)


def _origin(path: Path) -> Origin | None:
    """None for an image that cannot be read; what becomes of those is decided when they are needed."""
    try:
        return read_origin(path)
    except (InvalidInput, NotFound):
        return None


class StoredImages:
    """A prefix in S3, GCS or Azure; one request a picture."""

    def __init__(self, address: str, *, is_anonymous: bool = False) -> None:
        self._address = address
        self._is_anonymous = is_anonymous
        self._store: ObjectStore | None = None

    def __getstate__(self) -> tuple[str, bool]:
        return self._address, self._is_anonymous  # A client belongs to one process; workers open their own.

    def __setstate__(self, state: tuple[str, bool]) -> None:
        self._address, self._is_anonymous = state
        self._store = None

    def has(self, sample: Sample) -> bool:
        return True

    def read(self, sample: Sample) -> Pixels:
        if sample.window is not None:
            raise InvalidInput(
                f"{self._address}: images in a store cannot be tiled while training. "
                "Tile them first with `resolute data tile`, or use backend: local."
            )
        if self._store is None:
            self._store = open_store(self._address, is_anonymous=self._is_anonymous)
        content = read_bytes(self._store, sample.file_name, self._address)
        return decoded(content, f"{self._address}/{sample.file_name}")

    def preprocessing(self, samples: Sequence[Sample]) -> Preprocessing | None:
        store = open_store(self._address, is_anonymous=self._is_anonymous)
        try:
            content = read_bytes(store, RECORD, self._address)
        except (NotFound, Forbidden):
            return None  # A store that does not list its content forbids what is not there.
        return decode(content, f"{self._address}/{RECORD}")


class FakeImages:
    """Pictures that need no files: noise with a rectangle of its class's colour under every box."""

    def has(self, sample: Sample) -> bool:
        return True

    def preprocessing(self, samples: Sequence[Sample]) -> Preprocessing | None:
        return None

    def read(self, sample: Sample) -> Pixels:
        noise = np.random.default_rng(zlib.crc32(f"{sample.file_name}/{sample.image_id}".encode()))
        pixels = noise.integers(90, 130, (sample.height, sample.width, 3), dtype=np.uint8)
        for box, label in zip(sample.boxes, sample.labels, strict=True):
            x1, y1, x2, y2 = (int(value) for value in np.round(box))
            pixels[y1:y2, x1:x2] = class_colour(int(label))
        return pixels


def class_colour(label: int) -> tuple[int, int, int]:
    """Far-apart colours for neighbouring labels."""
    mixed = (label * 2654435761) % 2**32
    return 30 + mixed % 200, 30 + (mixed >> 8) % 200, 30 + (mixed >> 16) % 200


def decoded(content: bytes, place: str) -> Pixels:
    if is_raster(content):
        return to_rgb(content, place, None)
    try:
        with Image.open(io.BytesIO(content)) as picture:
            return np.array(picture.convert("RGB"))
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError) as problem:
        raise InvalidInput(
            f"The image {place} cannot be read: {problem}. It may be cut off, or not an image; fetch it again."
        ) from problem


def whole(sample: Sample) -> Window:
    return Window(0, 0, sample.width, sample.height)
