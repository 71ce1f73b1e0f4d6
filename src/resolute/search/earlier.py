"""A finished trial of this or another experiment, as a start for a new search."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class EarlierResult:
    hparams: Mapping[str, Any]
    metrics: Mapping[str, float]
    time: float = 0.0
    """Training length in the searcher's unit at which the metrics were measured."""
