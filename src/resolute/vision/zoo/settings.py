"""What every architecture is told, in one value; and the sentences that refuse what cannot be built."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput

NORMS = ("batch", "frozen", "sync")
SMALLEST_SIDE = 32
Anchors = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonSettings:
    """What may be said of any architecture: the one list, which `build_model` and a training's settings read.

    None: the architecture's own value.
    """

    backbone_weights: str | Path | None = None
    trainable_backbone_layers: int | None = None
    min_size: int | None = None
    max_size: int | None = None
    score_threshold: float | None = None
    nms_threshold: float | None = None
    detections_per_image: int | None = None
    anchor_sizes: list[Any] | tuple[Any, ...] | None = None
    aspect_ratios: list[Any] | tuple[Any, ...] | None = None
    norm: str = "batch"


COMMON = tuple(each.name for each in fields(CommonSettings))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings(CommonSettings):
    """`num_classes` counts the background, as torchvision does. `options` are the architecture's own."""

    name: str
    num_classes: int
    options: dict[str, Any] = field(default_factory=dict)

    def given(self, **names: str) -> dict[str, Any]:
        """Constructor arguments: `given(score_threshold="box_score_thresh")` renames, and leaves out what is None."""
        pairs = {theirs: getattr(self, ours) for ours, theirs in names.items()}
        return {name: value for name, value in pairs.items() if value is not None}


def check_settings(settings: ModelSettings) -> None:
    """Raises InvalidInput for values no architecture can have."""
    place = f"Model {settings.name}"
    if settings.num_classes < 2:
        raise InvalidInput(
            f"{place}: num_classes is {settings.num_classes}; it counts the background, so it is at least 2."
        )
    for name in ("min_size", "max_size"):
        value = getattr(settings, name)
        if value is not None and (not isinstance(value, int) or value < SMALLEST_SIDE):
            raise InvalidInput(f"{place}: {name} is {value}; use at least {SMALLEST_SIDE} pixels.")
    if settings.min_size and settings.max_size and settings.max_size < settings.min_size:
        raise InvalidInput(
            f"{place}: max_size {settings.max_size} is below min_size {settings.min_size}; raise it to at least that."
        )
    for name in ("score_threshold", "nms_threshold"):
        value = getattr(settings, name)
        if value is not None and not 0 <= value <= 1:
            raise InvalidInput(f"{place}: {name} is {value}; it lies between 0 and 1.")
    if settings.detections_per_image is not None and settings.detections_per_image < 1:
        raise InvalidInput(f"{place}: detections_per_image is {settings.detections_per_image}; use at least 1.")
    if settings.norm not in NORMS:
        raise InvalidInput(f"{place}: norm is {settings.norm!r}; use one of {', '.join(NORMS)}.")


def per_level(values: Sequence[Any], levels: int, name: str, model: str) -> Anchors:
    """`[32, 64, 128]` is one value a level; `[[32, 64], [128]]` several. Both as tuples of tuples."""
    rows = tuple(tuple(float(v) for v in row) if isinstance(row, Sequence) else (float(row),) for row in values)
    if len(rows) != levels:
        raise InvalidInput(
            f"Model {model}: {name} has {len(rows)} entries, but the model looks at {levels} feature maps. "
            f"Give one entry (a number or a list of numbers) for each of the {levels}."
        )
    return rows


def ratios_per_level(values: Sequence[Any], levels: int, model: str) -> Anchors:
    """One list of ratios serves all levels; a list of lists has one for each."""
    if values and not isinstance(values[0], Sequence):
        return (tuple(float(value) for value in values),) * levels
    return per_level(values, levels, "aspect_ratios", model)
