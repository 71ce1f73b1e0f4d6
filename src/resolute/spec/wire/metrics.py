"""Messages about metrics: what is reported, and the series that charts draw. Pure."""

from resolute.spec.wire.base import JsonObject, Number, Request, Time, Wire
from resolute.spec.wire.enums import MetricType


class Metrics(Wire):
    avg_metrics: JsonObject = {}
    batch_metrics: list[JsonObject] | None = None


class TrialMetrics(Request):
    trial_id: int = 0
    trial_run_id: int = 0
    steps_completed: int | None = None
    report_time: Time | None = None
    metrics: Metrics = Metrics()


class ReportTrialMetricsRequest(Request):
    group: str
    metrics: TrialMetrics


class BatchedReport(Request):
    """One report of a batch."""

    group: str
    steps_completed: int = 0
    trial_run_id: int = 0
    report_time: Time | None = None
    metrics: Metrics


class ReportMetricsBatchRequest(Request):
    reports: list[BatchedReport]


class MetricsReport(Wire):
    trial_id: int
    trial_run_id: int
    total_batches: int
    end_time: Time
    group: str
    id: int
    archived: bool = False
    metrics: JsonObject = {}


class GetMetricsResponse(Wire):
    metrics: list[MetricsReport] = []


class DataPoint(Wire):
    batches: int
    time: Time
    epoch: float | None = None
    values: JsonObject = {}


class DownsampledMetrics(Wire):
    data: list[DataPoint] = []
    type: MetricType = MetricType.UNSPECIFIED
    group: str = ""


class MetricSeries(Wire):
    """Columns of one metric of one trial, thinned to the asked number of points."""

    trial_id: int
    group: str
    name: str
    steps: list[int] = []
    values: list[Number] = []
    times: list[float] = []
    """Unix seconds."""
    total_points: int = 0


class SeriesResponse(Wire):
    series: list[MetricSeries] = []


class MetricIdentifier(Wire):
    group: str
    name: str


class ExpMetricNamesResponse(Wire):
    searcher_metrics: list[str] = []
    training_metrics: list[str] = []
    validation_metrics: list[str] = []
    metric_names: list[MetricIdentifier] = []


class MetricBatchesResponse(Wire):
    batches: list[int] = []


class TrialsSampleTrial(Wire):
    trial_id: int
    hparams: JsonObject = {}
    data: list[DataPoint] = []


class TrialsSampleResponse(Wire):
    trials: list[TrialsSampleTrial] = []
    promoted_trials: list[int] = []
    demoted_trials: list[int] = []


class TrialsSnapshotTrial(Wire):
    trial_id: int
    hparams: JsonObject = {}
    metric: Number
    batches_processed: int


class TrialsSnapshotResponse(Wire):
    trials: list[TrialsSnapshotTrial] = []
