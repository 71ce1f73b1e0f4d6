"""What a model server tells Prometheus. A registry of its own per server: two in one process do not mix."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import generate_latest

from resolute.serving.statistics import ModelStatistics

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
disable_created_metrics()  # type: ignore[no-untyped-call]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ServerMetrics:
    """All counters of one server. Label values are names of models and kinds of calls: few, never a caller's text."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "resolute_requests",
            "Requests by model, kind and status.",
            ["model", "kind", "code"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "resolute_request_seconds",
            "From the last byte of a request to its answer.",
            ["model", "kind"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.in_flight = Gauge("resolute_in_flight", "Requests that have no answer yet.", registry=self.registry)
        self.queue = Gauge("resolute_queue_depth", "Requests that wait for a model.", ["model"], registry=self.registry)
        self.batch = Histogram(
            "resolute_batch_size", "Instances in a call.", ["model"], buckets=_SIZES, registry=self.registry
        )
        self.batch_seconds = Histogram(
            "resolute_batch_seconds", "What a call took.", ["model"], buckets=_SECONDS, registry=self.registry
        )
        self.restarts = Counter(
            "resolute_worker_restarts", "Model processes started again.", ["model"], registry=self.registry
        )
        self.ready = Gauge("resolute_workers_ready", "Processes that can answer.", ["model"], registry=self.registry)
        self._known: dict[tuple[str, str, int], Counter] = {}
        self._timed: dict[tuple[str, str], Histogram] = {}

    def request_done(self, model: str, kind: str, code: int, seconds: float) -> None:
        """Looking labels up costs more than counting; there are few of them."""
        counter = self._known.get((model, kind, code))
        if counter is None:
            counter = self._known[model, kind, code] = self._requests.labels(model, kind, str(code))
        histogram = self._timed.get((model, kind))
        if histogram is None:
            histogram = self._timed[model, kind] = self._seconds.labels(model, kind)
        counter.inc()
        histogram.observe(seconds)

    def exposition(self) -> bytes:
        return generate_latest(self.registry)


class ModelMetrics:
    """The part of one model; what `batching` and `worker_pool` report to."""

    def __init__(self, server: ServerMetrics, model: str) -> None:
        self.statistics = ModelStatistics()
        self.ready = server.ready.labels(model)
        self._queue = server.queue.labels(model)
        self._batch = server.batch.labels(model)
        self._seconds = server.batch_seconds.labels(model)
        self._restarts = server.restarts.labels(model)

    def batch_done(self, requests: int, instances: int, seconds: float) -> None:
        self._batch.observe(instances)
        self._seconds.observe(seconds)
        self.statistics.batch_done(instances, seconds)

    def queue_changed(self, waiting: int) -> None:
        self._queue.set(waiting)

    def restarted(self) -> None:
        self._restarts.inc()
