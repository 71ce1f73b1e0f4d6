"""`build_model`: a name and settings become a detector, or a sentence that says what is wrong with them."""

import difflib
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from resolute.domain.errors import InvalidInput
from resolute.vision.zoo import dense, faster_rcnn, rtdetr, ssd
from resolute.vision.zoo.freezing import with_norm
from resolute.vision.zoo.registry import Architecture
from resolute.vision.zoo.settings import COMMON, ModelSettings, check_settings
from resolute.vision.zoo.weights import load_weights

ARCHITECTURES: dict[str, Architecture] = {
    entry.name: entry
    for family in (faster_rcnn.ARCHITECTURES, dense.ARCHITECTURES, ssd.ARCHITECTURES, rtdetr.ARCHITECTURES)
    for entry in family
}


def model_names() -> list[str]:
    return sorted(ARCHITECTURES)


def architecture(name: str) -> Architecture:
    """Raises InvalidInput with the closest name and all there are."""
    if name in ARCHITECTURES:
        return ARCHITECTURES[name]
    close = difflib.get_close_matches(str(name), ARCHITECTURES, 1, 0.5)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise InvalidInput(f"There is no model {name!r}.{hint} The names are: {', '.join(model_names())}.")


def build_model(name: str, num_classes: int, *, weights: str | Path | None = None, **settings: Any) -> nn.Module:
    """A detector in training mode. `num_classes` counts the background, as in torchvision.

    `weights` (all of the model) and `backbone_weights` (a classifier's) are a file, a checkpoint folder or an address
    in a store; without them the weights are random. Nothing is ever downloaded from a model hub. `settings` are those
    of every architecture (see `CommonSettings`: min_size, score_threshold, anchor_sizes, norm ...) and of this one's
    own constructor (see `option_names`).
    """
    common = {key: settings.pop(key) for key in COMMON if key in settings}
    given = ModelSettings(name=name, num_classes=num_classes, **common, options=settings)
    entry = architecture(name)
    check_settings(given)
    _check_options(entry, given)
    has_weights = weights is not None or given.backbone_weights is not None
    if given.trainable_backbone_layers is None and has_weights:
        given = replace(given, trainable_backbone_layers=entry.trainable_default)
    model = entry.build(given)
    if weights is not None:
        load_weights(model, weights, model_name=name)
    return with_norm(model, given.norm)


def option_names(name: str) -> list[str]:
    """What may be given to `build_model` beyond its named settings."""
    return sorted(architecture(name).options)


def rebuild_options(name: str, backbone_weights: str | Path | None = None, **settings: Any) -> dict[str, Any]:
    """The settings that build the same model again when all its weights are known: for a checkpoint's record."""
    kept = {key: value for key, value in settings.items() if value is not None}
    kept.pop("trainable_backbone_layers", None)
    if kept.get("norm") == "sync":
        kept.pop("norm")  # Has the same weights, but wants ranks.
    if "reduced_tail" in architecture(name).options and backbone_weights is not None:
        kept.setdefault("reduced_tail", False)
    return kept


def _check_options(entry: Architecture, settings: ModelSettings) -> None:
    unknown = [name for name in settings.options if name not in entry.options]
    if unknown:
        close = difflib.get_close_matches(unknown[0], entry.options, 1, 0.5)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise InvalidInput(
            f"Model {entry.name} has no option {unknown[0]!r}.{hint} "
            f"Its own options are: {', '.join(sorted(entry.options))}."
        )
    for name in entry.not_taken:
        if getattr(settings, name) is not None:
            raise InvalidInput(f"Model {entry.name} has no {name}, so it cannot be set. Leave it out.")
    count = settings.trainable_backbone_layers
    if count is not None and not 0 <= count <= entry.stages:
        raise InvalidInput(
            f"Model {entry.name}: trainable_backbone_layers is {count}; its backbone has {entry.stages} stages, so use "
            f"0 to {entry.stages}."
        )
