"""Encoded images to the pixels that a detector learnt from: deep and multi-band ones are read as in its training.

An image of another kind is refused; a picture of 8 bits, made after bands were chosen, is decoded as it is.
"""

from resolute.domain.errors import InvalidInput
from resolute.imagery.preprocessing import Preprocessing
from resolute.imagery.signatures import is_raster
from resolute.serving.images import Pixels, decode


class TrainedDecoder:
    def __init__(self, preprocessing: Preprocessing) -> None:
        self._learnt = preprocessing
        self._reads_pictures = any(origin.is_picture for origin in preprocessing.origins) and not preprocessing.is_plain

    def __call__(self, content: bytes, where: str, *, max_pixels: int) -> Pixels:
        if not (self._reads_pictures or is_raster(content)):
            return decode(content, where, max_pixels=max_pixels)
        try:
            # Only here a library that knows bands is needed.
            from resolute.imagery.in_memory import to_rgb
        except ModuleNotFoundError as missing:
            raise InvalidInput(
                f"{where} has to be read band by band, for which this server lacks {missing.name}. Install "
                "resolute[imagery] beside it, or send a picture of 8 bits that was made as in training."
            ) from missing
        return to_rgb(content, where, self._learnt, max_pixels=max_pixels)
