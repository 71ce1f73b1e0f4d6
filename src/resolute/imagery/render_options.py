"""What may be said about turning a sensor's values into 8-bit red, green and blue. Values alone: no image library."""

from dataclasses import dataclass
from enum import StrEnum

from resolute.domain.errors import InvalidInput


class StretchKind(StrEnum):
    AUTO = "auto"
    NONE = "none"
    MINMAX = "minmax"
    PERCENTILE = "percentile"


@dataclass(frozen=True)
class RenderOptions:
    """`bands` count from 1; None chooses by the file's colour interpretation.

    `limits`: values that become black and white in every image alike, instead of a stretch of each by its own values.
    `nodata`: the value without meaning in files that do not name one themselves.
    """

    bands: tuple[int, ...] | None = None
    stretch: StretchKind = StretchKind.AUTO
    low_percent: float = 2.0
    high_percent: float = 98.0
    limits: tuple[float, float] | None = None
    nodata: float | None = None

    def __post_init__(self) -> None:
        if self.bands is not None and (len(self.bands) not in (1, 3) or min(self.bands) < 1):
            raise InvalidInput(f"The bands are {list(self.bands)}. Give one or three numbers from 1, such as 5,3,2.")
        if not 0 <= self.low_percent < self.high_percent <= 100:
            raise InvalidInput(
                f"The percentiles are {self.low_percent:g} and {self.high_percent:g}. "
                "They must rise, between 0 and 100, such as 2,98."
            )
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise InvalidInput(
                f"The limits are {self.limits[0]:g} and {self.limits[1]:g}. The second must be above the first, "
                "such as 0,3000."
            )
