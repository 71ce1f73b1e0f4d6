"""A small JPEG of an image file. Refuses what is no picture, and pictures too large to decode safely."""

import io

from resolute.domain.errors import InvalidInput, NotSupported

SIDES = (16, 4096)
_MAX_PIXELS = 400_000_000
_QUALITY = 85


def thumbnail(content: bytes, max_size: int, *, place: str) -> bytes:
    """At most `max_size` pixels on the longer side; smaller pictures keep their size."""
    try:
        # Here, so that a master starts without it.
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as missing:
        raise NotSupported("Thumbnails need the package Pillow: pip install 'resolute[vision]'.") from missing
    low, high = SIDES
    if not low <= max_size <= high:
        raise InvalidInput(f"maxSize: {max_size} is not possible. Give {low} to {high} pixels.")
    try:
        with Image.open(io.BytesIO(content)) as picture:
            if picture.width * picture.height > _MAX_PIXELS:
                raise InvalidInput(f"{place} has {picture.width} x {picture.height} pixels, too many to shrink here.")
            picture.draft("RGB", (max_size, max_size))
            small = ImageOps.exif_transpose(picture).convert("RGB")
            small.thumbnail((max_size, max_size))
            out = io.BytesIO()
            small.save(out, "JPEG", quality=_QUALITY)
            return out.getvalue()
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as problem:
        raise InvalidInput(f"{place} cannot be shown as a picture: {problem}.") from problem
