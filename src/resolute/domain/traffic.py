"""How requests are shared between revisions, and how their times are counted. Pure.

The share of a request follows from its number alone: multiples of the golden ratio fall evenly over [0, 1), so that any
hundred requests in a row are split almost exactly as asked, whatever pattern the clients have.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SPACE = 1 << 32
_STRIDE = 2654435769
"""The golden ratio's part of 2**32: each step lands in the largest gap that is left."""

Split = tuple[tuple[int, float], ...]
"""(revision, percent), adding up to 100; the revision that may be taken back stands first."""


def position_of_number(number: int) -> int:
    """Where the n-th request falls."""
    return number * _STRIDE % _SPACE


def position_of_value(value: str) -> int:
    """Where a sticky value falls: always the same place, evenly spread over many values."""
    return zlib.crc32(value.encode()) * _STRIDE % _SPACE


def pick(split: Split, position: int) -> int:
    """The revision at a position. A first share that grows keeps all positions that it had."""
    ends_at = 0.0
    for revision, percent in split[:-1]:
        ends_at += percent * _SPACE / 100
        if position < ends_at:
            return revision
    return split[-1][0]


# ---------------------------------------------------------------------------------------------------- response times

_SHORTEST_S = 0.0001
_GROWTH = 1.15
BUCKETS = 120
"""Bucket n ends at 0.1 ms x 1.15**n: within 15 % from 0.1 ms to half an hour."""
_LOG_GROWTH = math.log(_GROWTH)


def bucket_of(seconds: float) -> int:
    if seconds <= _SHORTEST_S:
        return 0
    return min(BUCKETS - 1, math.ceil(math.log(seconds / _SHORTEST_S) / _LOG_GROWTH))


def upper_end(bucket: int) -> float:
    """Seconds."""
    return _SHORTEST_S * _GROWTH**bucket


def quantile(buckets: Mapping[int, int], share: float) -> float | None:
    """Seconds under which `share` of the counted times lie; None when nothing was counted."""
    total = sum(buckets.values())
    if not total:
        return None
    wanted, seen = share * total, 0
    last = 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        last = bucket
        if seen >= wanted:
            break
    return upper_end(last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a revision did over some time."""

    requests: int = 0
    errors: int = 0
    """Answered 5xx, not in time, or not at all."""
    p95_s: float | None = None

    @property
    def error_rate(self) -> float:
        return self.errors / self.requests if self.requests else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a revision carried in each of the last seconds, newest last."""

    concurrency: Sequence[float] = ()
    rate: Sequence[float] = ()
