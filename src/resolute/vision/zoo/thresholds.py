"""The score below which a built model keeps silent: read it, and change it for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn


def score_threshold_of(model: nn.Module) -> float:
    return float(_holder(model).score_thresh)


@contextmanager
def with_score_threshold(model: nn.Module, value: float) -> Iterator[None]:
    """Not for use by two threads at once."""
    holder = _holder(model)
    before = holder.score_thresh
    holder.score_thresh = value
    try:
        yield
    finally:
        holder.score_thresh = before


def _holder(model: nn.Module) -> Any:
    """Two-stage models keep it in their box head."""
    return model.roi_heads if hasattr(model, "roi_heads") else model
