"""A trial: what it measured, what it wrote, what it saved."""

from collections.abc import Iterator
from typing import Any, Literal

from resolute.client.checkpoint import Checkpoint
from resolute.client.display import card
from resolute.client.logs import LogFilter, read_logs
from resolute.client.resource import Resource

ENDED = frozenset({"COMPLETED", "CANCELED", "ERROR"})


class Trial(Resource):
    @property
    def id(self) -> int:
        return int(self.data["id"])

    @property
    def experiment_id(self) -> int:
        return int(self.data["experimentId"])

    @property
    def state(self) -> str:
        return self._state()

    @property
    def hparams(self) -> dict[str, Any]:
        return dict(self.data.get("hparams") or {})

    @property
    def restarts(self) -> int:
        return int(self.data.get("restarts") or 0)

    @property
    def total_batches(self) -> int:
        return int(self.data.get("totalBatchesProcessed") or 0)

    @property
    def searcher_metric(self) -> float | None:
        """Best value of the searcher's metric so far."""
        return self.data.get("searcherMetricValue")

    @property
    def summary_metrics(self) -> dict[str, Any]:
        return dict(self.data.get("summaryMetrics") or {})

    @property
    def is_finished(self) -> bool:
        return self.state in ENDED

    def _repr_html_(self) -> str:
        facts = {
            "batches": self.total_batches,
            "searcher metric": self.searcher_metric,
            "hyperparameters": self.hparams,
            "restarts": self.restarts or None,
        }
        link = f"{self.session.master}/det/experiments/{self.experiment_id}"
        return card(f"Trial {self.id} of experiment {self.experiment_id}", facts, state=self.state, link=link)

    def reload(self) -> "Trial":
        self.data = self.session.get(f"/api/v1/trials/{self.id}")["trial"]
        return self

    def kill(self) -> None:
        self.session.post(f"/api/v1/trials/{self.id}/kill")

    def logs(self, wanted: LogFilter | None = None) -> Iterator[dict[str, Any]]:
        return read_logs(self.session, f"/api/v1/trials/{self.id}/logs", wanted or LogFilter())

    def metrics(self, group: str | None = None) -> Iterator[dict[str, Any]]:
        """Every report of a group (training, validation, ...), all of them without one, in order of steps."""
        path = "/api/v1/trials/metrics/trial_metrics"
        for message in self.session.stream(path, trialIds=[self.id], group=group):
            for report in message.get("metrics") or []:
                yield _flat_report(report)

    def workloads(self, *, with_batches: bool = False) -> Iterator[dict[str, Any]]:
        path = f"/api/v1/trials/{self.id}/workloads"
        return self.session.pages(path, "workloads", page=1000, includeBatchMetrics=with_batches)

    def list_checkpoints(
        self,
        *,
        sort_by: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
    ) -> list[Checkpoint]:
        """Whole checkpoints, newest first, or the best first of a validation metric named in `sort_by`."""
        query = checkpoint_query(sort_by, order, default="SORT_BY_BATCH_NUMBER")
        if sort_by is None and order is None:
            query["orderBy"] = "ORDER_BY_DESC"
        found = self.session.pages(f"/api/v1/trials/{self.id}/checkpoints", "checkpoints", limit=limit, **query)
        return [Checkpoint(self.session, item) for item in found]

    def top_checkpoint(self) -> Checkpoint | None:
        """The best by the experiment's searcher metric; None when nothing was validated and saved."""
        query = checkpoint_query(None, None, default="SORT_BY_SEARCHER_METRIC")
        found = self.session.pages(f"/api/v1/trials/{self.id}/checkpoints", "checkpoints", limit=1, **query)
        return next((Checkpoint(self.session, item) for item in found), None)


def checkpoint_query(sort_by: str | None, order: str | None, *, default: str) -> dict[str, Any]:
    return {
        "states": ["STATE_COMPLETED"],
        "sortByAttr": default if sort_by is None else None,
        "sortByMetric": sort_by,
        "orderBy": f"ORDER_BY_{order.upper()}" if order else None,
    }


def _flat_report(report: dict[str, Any]) -> dict[str, Any]:
    inner = report.get("metrics") or {}
    values = inner.get("avg_metrics") or inner.get("validation_metrics") or inner
    return {
        "trial_id": report.get("trialId"),
        "group": report.get("group"),
        "steps_completed": report.get("totalBatches"),
        "time": report.get("endTime"),
        "metrics": values,
    }
