"""Whether a replica may be sent requests: what its probes said, and how it does beside the others. Pure.

Times are seconds of any clock that only goes forward.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from resolute.domain.traffic import bucket_of, quantile

PROBE_EVERY_S = 1.0
PROBE_WITHIN_S = 1.0
MOST_MISSED = 2
"""Probes in a row without an answer that take a replica out of rotation. One may be lost to a busy machine."""
HUNG_AFTER_S = 10.0
"""Without any sign of life; so long, because what is hung is killed, and a starved machine looks alike."""
HUNG_MISSED = 4
"""A prober that slept itself has missed one answer, not so many."""


class Health(StrEnum):
    HEALTHY = "HEALTHY"
    UNREADY = "UNREADY"
    """Says that it cannot answer now, or says nothing: gets no requests until a probe succeeds."""
    HUNG = "HUNG"
    """Has said nothing for so long that it should be ended and replaced."""
    EJECTED = "EJECTED"
    """Fails, or is slow, beside the others: gets no requests for a while."""


class Probes:
    """What the probes of one replica said."""

    def __init__(self, now: float, hung_after_s: float = HUNG_AFTER_S, busy_s: float = 0.0) -> None:
        """`busy_s`: how much longer it may be silent while it works, until it has been seen to do both at once."""
        self.hung_after_s = hung_after_s
        self.busy_s = busy_s
        self.answers_while_busy = False
        self.reason = ""
        self._missed = 0
        self._is_unready = False
        self._last_sign = now

    def answered(self, now: float, status: int) -> None:
        """Any answer below 500 is good: model servers of other makes may not know the address."""
        self._last_sign, self._missed = now, 0
        self._is_unready = status >= 500
        self.reason = f"its probe was answered {status}" if self._is_unready else ""

    def missed(self, now: float, why: str) -> None:
        self._missed += 1
        if self._missed >= MOST_MISSED:
            self.reason = f"{self._missed} probes in a row failed: {why}"

    def worked(self, now: float) -> None:
        """It has answered a request: it is alive, whatever its probes say."""
        self._last_sign = now

    def health(self, now: float) -> Health:
        patience_s = self.hung_after_s + (0.0 if self.answers_while_busy else self.busy_s)
        if self._missed >= HUNG_MISSED and now - self._last_sign >= patience_s:
            return Health.HUNG
        return Health.UNREADY if self._is_unready or self._missed >= MOST_MISSED else Health.HEALTHY

    @property
    def is_doubtful(self) -> bool:
        """The next probe should not wait."""
        return 0 < self._missed < MOST_MISSED


# ------------------------------------------------------------------------------------------------------- outliers

WINDOW_S = 10.0
LEAST_REQUESTS = 10
"""In a window; fewer say nothing."""
BAD_RATE = 0.5
RATE_MARGIN = 0.3
"""Errors that all replicas make are the model's: an outlier makes so many more."""
SLOW_FACTOR = 3.0
SLOW_MARGIN_S = 0.1
FIRST_EJECTION_S = 5.0
LONGEST_EJECTION_S = 60.0
FORGIVEN_AFTER_S = 120.0


class Record:
    """How one replica has answered over the last one to two windows."""

    def __init__(self, now: float) -> None:
        self._since = now
        self._now, self._before = _Counted(), _Counted()

    def ended(self, now: float, seconds: float, *, is_error: bool) -> None:
        self._roll(now)
        self._now.requests += 1
        self._now.errors += is_error
        if not is_error:
            bucket = bucket_of(seconds)
            self._now.buckets[bucket] = self._now.buckets.get(bucket, 0) + 1

    def recent(self, now: float) -> "Recent":
        self._roll(now)
        buckets = dict(self._before.buckets)
        for bucket, count in self._now.buckets.items():
            buckets[bucket] = buckets.get(bucket, 0) + count
        return Recent(
            requests=self._now.requests + self._before.requests,
            errors=self._now.errors + self._before.errors,
            p50_s=quantile(buckets, 0.5),
        )

    def forget(self, now: float) -> None:
        self._since = now
        self._now, self._before = _Counted(), _Counted()

    def _roll(self, now: float) -> None:
        if now - self._since < WINDOW_S:
            return
        self._before = self._now if now - self._since < 2 * WINDOW_S else _Counted()
        self._now, self._since = _Counted(), now


class _Counted:
    __slots__ = ("buckets", "errors", "requests")

    def __init__(self) -> None:
        self.requests = 0
        self.errors = 0
        self.buckets: dict[int, int] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    requests: int = 0
    errors: int = 0
    p50_s: float | None = None
    """Of answers that were no errors."""

    @property
    def error_rate(self) -> float:
        return self.errors / self.requests if self.requests else 0.0


def outliers(records: Mapping[str, Recent], *, out: Collection[str] = ()) -> dict[str, str]:
    """Which of a revision's replicas should rest, and why. With those that are `out` already never more than half."""
    known = {name: recent for name, recent in records.items() if name not in out and recent.requests >= LEAST_REQUESTS}
    room = len(records) // 2 - len(set(out) & set(records))
    found: dict[str, str] = {}
    for name in sorted(known, key=lambda each: (-known[each].error_rate, -(known[each].p50_s or 0.0), each)):
        why = _why_outlier(known[name], [recent for other, recent in known.items() if other not in (name, *found)])
        if why and len(found) < room:
            found[name] = why
    return found


def _why_outlier(own: Recent, others: list[Recent]) -> str:
    if not others:
        return ""
    requests = sum(each.requests for each in others)
    usual = sum(each.errors for each in others) / requests
    if own.error_rate >= BAD_RATE and own.error_rate >= usual + RATE_MARGIN:
        return f"{own.errors} of its last {own.requests} requests failed, against {usual:.0%} of the others'"
    times = sorted(each.p50_s for each in others if each.p50_s is not None)
    if own.p50_s is None or not times:
        return ""
    typical = times[(len(times) - 1) // 2]
    if own.p50_s > max(SLOW_FACTOR * typical, typical + SLOW_MARGIN_S):
        return f"its median is {own.p50_s * 1000:.0f} ms, against {typical * 1000:.0f} ms of the others"
    return ""


class Ejection:
    """How long one replica rests: longer each time, unless it has done well for a while."""

    def __init__(self) -> None:
        self.until = 0.0
        self.reason = ""
        self._times = 0

    def eject(self, now: float, reason: str) -> None:
        if now - self.until > FORGIVEN_AFTER_S:
            self._times = 0
        self.reason = reason
        self.until = now + min(LONGEST_EJECTION_S, FIRST_EJECTION_S * 2.0**self._times)
        self._times += 1

    def is_out(self, now: float) -> bool:
        return now < self.until
