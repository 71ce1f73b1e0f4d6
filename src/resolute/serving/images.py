"""Pictures in requests: encoded bytes, base64 or nested lists to height x width x 3, RGB, 8 bits.

Whatever a client sends ends here as pixels or as `InvalidInput` that names the place. No torch, no files.
"""

import base64
import binascii
import io
import re
import warnings
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from resolute.domain.errors import InvalidInput, TooLarge

Pixels = NDArray[np.uint8]


class Decoder(Protocol):
    """Bytes of a picture file to pixels. Raises InvalidInput that names `where`."""

    def __call__(self, content: bytes, where: str, *, max_pixels: int) -> Pixels: ...


MAX_PIXELS = 178_956_970
"""A picture of more is refused before it is decoded: 512 MiB of RGB, the limit at which Pillow speaks of a bomb."""
_KEYS = ("data", "b64", "image_bytes", "image", "body")
_SHOWN = 24
_LOOKED_AT = 64
_BASE64 = re.compile(rb"[A-Za-z0-9+/=\s]{8,}|data:image/.*", re.DOTALL)


def picture_of(instance: Any, where: str, *, max_pixels: int = MAX_PIXELS, decoder: Decoder | None = None) -> Pixels:
    """A V1 instance: {"data": b64}, {"b64": b64}, {"image_bytes": {"b64": b64}}, base64, bytes or nested lists.

    `decoder` makes pixels of an encoded picture; `decode` when left out.
    """
    value = _unwrapped(instance, where)
    if isinstance(value, str):
        return (decoder or decode)(from_base64(value, where), where, max_pixels=max_pixels)
    if isinstance(value, bytes | bytearray | memoryview):
        return from_bytes(bytes(value), where, max_pixels=max_pixels, decoder=decoder)
    if isinstance(value, list | tuple | np.ndarray):
        return from_numbers(value, where, max_pixels=max_pixels)
    raise InvalidInput(
        f'{where} is {_kind(value)}. Send {{"data": "<base64 of a picture>"}}, or its pixels as nested lists.'
    )


def from_bytes(content: bytes, where: str, *, max_pixels: int = MAX_PIXELS, decoder: Decoder | None = None) -> Pixels:
    """An encoded picture, or base64 of one: bytes that travel in JSON are text, which no picture file begins with."""
    if content and _BASE64.fullmatch(content[:_LOOKED_AT]):
        content = from_base64(content.decode("latin-1"), where)
    return (decoder or decode)(content, where, max_pixels=max_pixels)


def from_base64(text: str, where: str) -> bytes:
    """Data URLs are accepted as browsers make them; white space is not counted."""
    body = text.partition(",")[2] if text.startswith("data:") else text
    try:
        return base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(
            f"{where} is not base64: {error}. It begins with {body[:_SHOWN]!r}; encode the bytes of the picture file."
        ) from None


def decode(content: bytes, where: str, *, max_pixels: int = MAX_PIXELS) -> Pixels:
    """Upright as EXIF says, three channels, 8 bits. Alpha is dropped; 16 bits keep their upper 8; CMYK becomes RGB."""
    if not content:
        raise InvalidInput(f"{where} is empty. Send the bytes of a picture file.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _decoded(content, where, max_pixels)
    except UnidentifiedImageError:
        raise InvalidInput(
            f"{where} is not a picture that can be read: {len(content)} bytes that begin with {content[:8]!r}. "
            "Send JPEG, PNG, TIFF, WebP, BMP or GIF."
        ) from None
    except Image.DecompressionBombError:
        raise _too_many_pixels(where, "more", max_pixels) from None
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, OverflowError, MemoryError) as error:
        raise InvalidInput(
            f"{where} is damaged or cut off ({len(content)} bytes): {error}. Send the whole picture file."
        ) from None


def from_numbers(value: Any, where: str, *, max_pixels: int = MAX_PIXELS) -> Pixels:
    """height x width x 3 or 3 x height x width; whole numbers are 0..255, floats 0..1."""
    array = _as_array(value, where)
    if array.ndim == 2:
        array = np.repeat(array[:, :, None], 3, axis=2)
    if array.ndim != 3 or 3 not in (array.shape[2], array.shape[0]) or not array.size:
        raise InvalidInput(
            f"{where} has shape {list(array.shape)}; wanted: [height, width, 3] or [3, height, width], none of them 0."
        )
    pixels = array if array.shape[2] == 3 else array.transpose(1, 2, 0)
    if pixels.shape[0] * pixels.shape[1] > max_pixels:
        raise _too_many_pixels(where, f"{pixels.shape[1]} x {pixels.shape[0]}", max_pixels)
    return np.ascontiguousarray(_as_bytes(pixels, where))


def _unwrapped(instance: Any, where: str) -> Any:
    value = instance
    for _ in range(2):
        if not isinstance(value, Mapping):
            return value
        key = next((key for key in _KEYS if key in value), None)
        if key is None:
            raise InvalidInput(
                f'{where} has no picture: its keys are {_listed(value)}. Wanted: {{"data": "<base64 of a picture>"}}.'
            )
        value = value[key]
    return value


def _decoded(content: bytes, where: str, max_pixels: int) -> Pixels:
    with Image.open(io.BytesIO(content)) as image:
        width, height = image.size
        if width * height > max_pixels:
            raise _too_many_pixels(where, f"{width} x {height}", max_pixels)
        image.load()
        return np.asarray(_as_rgb(ImageOps.exif_transpose(image)), dtype=np.uint8)


def _as_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "RGB":
        return image
    if image.mode.startswith("I"):
        return _from_deep(image, 257.0)
    if image.mode == "F":
        return _from_deep(image, max(float(np.nanmax(np.asarray(image))), 1.0) / 255)
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    return image.convert("RGB")


def _from_deep(image: Image.Image, step: float) -> Image.Image:
    """Pillow would cut deep greys off at 255 instead of scaling them."""
    values = np.nan_to_num(np.asarray(image, dtype=np.float64)) / step
    return Image.fromarray(np.clip(values.round(), 0, 255).astype(np.uint8)).convert("RGB")


def _as_array(value: Any, where: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biuf":
        raise InvalidInput(
            f"{where} is not a rectangular block of numbers; wanted: [height, width, 3] of 0..255 or 0..1."
        )
    return array


def _as_bytes(pixels: NDArray[Any], where: str) -> Pixels:
    if pixels.dtype == np.uint8:
        return pixels
    low, high = float(pixels.min()), float(pixels.max())
    top = 1.0 if pixels.dtype.kind == "f" else 255.0
    if not (low >= 0.0 and high <= top):
        raise InvalidInput(
            f"{where} has values from {low:g} to {high:g}; whole numbers must lie in 0..255 and floats in 0..1."
        )
    return (pixels * 255.0).round().astype(np.uint8) if top == 1.0 else pixels.astype(np.uint8)


def _too_many_pixels(where: str, size: str, max_pixels: int) -> TooLarge:
    return TooLarge(f"{where} has {size} pixels; this server decodes at most {max_pixels:,}. Send a smaller picture.")


def _kind(value: Any) -> str:
    return "null" if value is None else f"a {type(value).__name__} ({str(value)[:_SHOWN]})"


def _listed(value: Mapping[Any, Any]) -> str:
    return ", ".join(sorted(map(str, value))[:8]) or "none"
