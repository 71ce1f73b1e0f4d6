"""What kind of image some bytes are, by how they begin. No image library."""

_TIFF = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_DEPTH = 24


def is_raster(content: bytes) -> bool:
    """A TIFF, or a PNG of more than 8 bits: what a decoder of photographs gets wrong without a word."""
    if content[:8] == _PNG and len(content) > _PNG_DEPTH:
        return content[_PNG_DEPTH] > 8
    return content[:4] in _TIFF
