"""What the router told over the last hour: in memory, because it is about now. Thread-safe."""

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from resolute.domain.routing import DeploymentCounts, RevisionCounts, RouterCounts
from resolute.domain.traffic import Load, Outcome, quantile

KEPT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Sample:
    """What happened to one revision between two looks."""

    time: datetime
    requests: int
    errors: int
    in_flight: int
    buckets: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Samples of one revision over one step."""

    time: datetime
    revision: int
    requests: int
    errors: int
    in_flight: int
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None


@dataclass(slots=True)
class _Series:
    samples: deque[Sample] = field(default_factory=deque)
    last: RevisionCounts = field(default_factory=RevisionCounts)


class TrafficLog:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._series: dict[tuple[int, int], _Series] = {}
        self._counts: RouterCounts | None = None
        self._last_request: dict[int, datetime] = {}
        self._since: datetime | None = None
        self.told_at: datetime | None = None
        """When the router told its counts last."""
        self.unproven: dict[str, str] = {}
        """Replicas that said they were ready and have not answered yet, and why, by allocation."""
        self.router_url = ""
        self.forward_token = ""

    def record(self, counts: RouterCounts, now: datetime) -> None:
        """Take in what the router has counted so far."""
        with self._lock:
            before = self._counts
            is_same = before is not None and before.started == counts.started
            if not is_same:
                # Its totals say nothing about when: they are where counting begins.
                self._since = self._since or now
            for deployment_id, deployment in counts.deployments.items():
                earlier = before.deployments.get(deployment_id) if before is not None else None
                known = earlier.asked if is_same and earlier is not None else 0 if is_same else deployment.asked
                if deployment.waiting or deployment.asked > known:
                    self._last_request[deployment_id] = now
                for revision, now_counted in deployment.revisions.items():
                    self._add(deployment_id, revision, now_counted, now, is_same=is_same)
            self._counts, self.told_at = counts, now

    def _add(self, deployment_id: int, revision: int, counted: RevisionCounts, now: datetime, *, is_same: bool) -> None:
        key = (deployment_id, revision)
        is_new = key not in self._series
        series = self._series.setdefault(key, _Series())
        last, series.last = series.last, counted
        if not is_same and (is_new or self._counts is None):
            return
        if not is_same:
            last = RevisionCounts()
        buckets = {b: n - last.buckets.get(b, 0) for b, n in counted.buckets.items()}
        series.samples.append(
            Sample(
                now,
                counted.requests - last.requests,
                counted.errors - last.errors,
                counted.in_flight,
                tuple((b, n) for b, n in buckets.items() if n),
            )
        )
        while series.samples and now - series.samples[0].time > KEPT:
            series.samples.popleft()

    # ------------------------------------------------------------------------------------------------ for ticks

    def counts(self) -> RouterCounts | None:
        return self._counts

    def of(self, deployment_id: int) -> DeploymentCounts:
        counts = self._counts
        return counts.deployments.get(deployment_id, DeploymentCounts()) if counts is not None else DeploymentCounts()

    def idle_s(self, deployment_id: int, *, now: datetime, since: datetime) -> float:
        """Since the last request, as far as this process has seen."""
        moments = [since, self._since or now]
        if deployment_id in self._last_request:
            moments.append(self._last_request[deployment_id])
        return (now - max(moments)).total_seconds()

    def load(self, deployment_id: int, revision: int, *, now: datetime, window_s: float) -> Load:
        seconds = max(1, round(min(window_s, (now - (self._since or now)).total_seconds())))
        rate, concurrency = [0.0] * seconds, [0.0] * seconds
        with self._lock:
            for sample in self._recent(deployment_id, revision, now - timedelta(seconds=seconds)):
                index = seconds - 1 - int((now - sample.time).total_seconds())
                if 0 <= index < seconds:
                    rate[index] += sample.requests
                    concurrency[index] = max(concurrency[index], float(sample.in_flight))
        return Load(rate=rate, concurrency=concurrency)

    def outcome(self, deployment_id: int, revision: int, *, since: datetime) -> Outcome:
        with self._lock:
            samples = list(self._recent(deployment_id, revision, since))
        return Outcome(
            requests=sum(s.requests for s in samples),
            errors=sum(s.errors for s in samples),
            p95_s=quantile(_joined(samples), 0.95),
        )

    # ------------------------------------------------------------------------------------------------ for people

    def points(self, deployment_id: int, *, now: datetime, seconds: int, step_s: int) -> list[Point]:
        """In the order of time; steps without requests are left out."""
        since = now - timedelta(seconds=seconds)
        points = []
        with self._lock:
            for key in [key for key in self._series if key[0] == deployment_id]:
                steps: dict[int, list[Sample]] = {}
                for sample in self._recent(*key, since):
                    if sample.requests or sample.in_flight:
                        steps.setdefault(int(sample.time.timestamp() // step_s), []).append(sample)
                points += [_point(key[1], step * step_s, samples, now) for step, samples in steps.items()]
        return sorted(points, key=lambda p: (p.time, p.revision))

    def recent(self, deployment_id: int, *, now: datetime, seconds: int) -> list[Point]:
        """One point a revision over the last `seconds`: percentiles are those of all requests in it."""
        since = now - timedelta(seconds=seconds)
        with self._lock:
            found = {key[1]: list(self._recent(*key, since)) for key in self._series if key[0] == deployment_id}
        return [_point(revision, int(since.timestamp()), found[revision], now) for revision in sorted(found)]

    def forget(self, deployment_id: int) -> None:
        with self._lock:
            for key in [key for key in self._series if key[0] == deployment_id]:
                del self._series[key]
            self._last_request.pop(deployment_id, None)

    def _recent(self, deployment_id: int, revision: int, since: datetime) -> Iterator[Sample]:
        series = self._series.get((deployment_id, revision))
        if series is None:
            return
        for sample in reversed(series.samples):
            if sample.time < since:
                return
            yield sample


def _joined(samples: list[Sample]) -> dict[int, int]:
    buckets: dict[int, int] = {}
    for sample in samples:
        for bucket, count in sample.buckets:
            buckets[bucket] = buckets.get(bucket, 0) + count
    return buckets


def _point(revision: int, second: int, samples: list[Sample], now: datetime) -> Point:
    buckets = _joined(samples)
    return Point(
        time=datetime.fromtimestamp(second, tz=now.tzinfo),
        revision=revision,
        requests=sum(s.requests for s in samples),
        errors=sum(s.errors for s in samples),
        in_flight=max((s.in_flight for s in samples), default=0),
        p50_s=quantile(buckets, 0.5),
        p95_s=quantile(buckets, 0.95),
        p99_s=quantile(buckets, 0.99),
    )
