"""The table of architectures: what each name builds, what may be set, which stages can be frozen.

A family module makes entries and says nothing of other families. A new architecture is a new entry.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from resolute.vision.zoo.settings import ModelSettings

# What `build_model` itself names: these reach a constructor under their own names and are no free options.
_MANAGED = frozenset(
    {
        "self", "backbone", "num_classes", "min_size", "max_size", "size", "kwargs", "head", "anchor_generator",
        "rpn_anchor_generator", "rpn_head", "box_roi_pool", "box_head", "box_predictor", "mask_roi_pool", "mask_head",
        "mask_predictor", "proposal_matcher", "score_thresh", "nms_thresh", "detections_per_img", "box_score_thresh",
        "box_nms_thresh", "box_detections_per_img",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    name: str
    build: Callable[[ModelSettings], nn.Module]
    stages: int
    """Stages of the backbone; `trainable_backbone_layers` goes from 0 to this."""
    trainable_default: int
    """How many of them are trained when weights were given; without weights it is all."""
    options: frozenset[str] = field(default_factory=frozenset)
    not_taken: frozenset[str] = field(default_factory=frozenset)
    """Common settings that mean nothing to this architecture, so that giving them is a mistake."""
    has_masks: bool = False
    smallest_batch: int = 1
    """Images a rank needs at once: batch norm on a map of one pixel cannot learn from a single one."""


def options_of(constructor: Callable[..., Any], *extra: str) -> frozenset[str]:
    """The names of a constructor's settings that a user may give as they are."""
    return frozenset(inspect.signature(constructor).parameters) - _MANAGED | frozenset(extra)
