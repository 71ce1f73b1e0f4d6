"""The master as a trial sees it: a small port with two adapters, REST here and local files in `offline`.

Calls block and raise; the background threads that use them decide what to retry.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from resolute.client.task.client import TaskClient
from resolute.domain.errors import NotFound
from resolute.training.environment import TrialEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRecord:
    """A checkpoint as the master lists it."""

    uuid: str
    steps: int
    resources: dict[str, int]
    digests: dict[str, str]
    metadata: dict[str, Any]
    is_complete: bool = True


class Report(NamedTuple):
    """One call of `run.report`, ready to travel. A tuple, because half a million a second are made."""

    group: str
    steps: int
    time_s: float
    metrics: dict[str, Any]


class Master(Protocol):
    """Everything a trial says or asks. Raises Unavailable when the same call may work later."""

    def send_reports(self, reports: Sequence[Report]) -> None: ...
    def send_progress(self, progress: float) -> None: ...
    def send_checkpoint(self, checkpoint: CheckpointRecord) -> None: ...
    def send_early_exit(self, reason: str) -> None: ...
    def send_state(self, state: str) -> None: ...
    def checkpoint(self, uuid: str) -> CheckpointRecord:
        """Raises NotFound."""

    def checkpoints(self) -> list[CheckpointRecord]:
        """The trial's whole checkpoints, most steps first."""

    def wait_for_stop(self, timeout_s: float) -> bool:
        """True as soon as the trial is asked to leave; False after `timeout_s`."""

    def is_asked_to_stop(self) -> bool:
        """The same, at once, and while another thread waits."""

    def break_off_wait(self) -> None:
        """End a `wait_for_stop` in another thread, and all later ones, at once."""

    def acknowledge_stop(self) -> None: ...
    def best_validation(self) -> float | None:
        """Best value of the searcher's metric over the experiment; None before the first."""

    def close(self) -> None: ...


class RestMaster:
    """Speaks the v1 REST API with the allocation's token."""

    def __init__(self, trial: TrialEnvironment) -> None:
        self._trial = trial
        self._client = TaskClient(trial.master, trial.token, trial.trust)

    def send_reports(self, reports: Sequence[Report]) -> None:
        body = {"reports": [_wire_report(report, self._trial.run_id) for report in reports]}
        self._client.post(f"/api/v1/trials/{self._trial.trial_id}/metrics/batch", body)

    def send_progress(self, progress: float) -> None:
        body = {"progress": progress, "is_raw": True}
        self._client.post(f"/api/v1/trials/{self._trial.trial_id}/progress", body)

    def send_checkpoint(self, checkpoint: CheckpointRecord) -> None:
        body = {
            "uuid": checkpoint.uuid,
            "state": "STATE_COMPLETED",
            "resources": {path: str(size) for path, size in checkpoint.resources.items()},
            "digests": checkpoint.digests,
            "metadata": {**checkpoint.metadata, "steps_completed": checkpoint.steps},
            "training": {},
            "allocationId": self._trial.allocation_id,
            "taskId": self._trial.task_id,
            "reportTime": _now(),
        }
        self._client.post("/api/v1/checkpoints", body)

    def send_early_exit(self, reason: str) -> None:
        self._client.post(f"/api/v1/trials/{self._trial.trial_id}/early_exit", {"reason": f"EXITED_REASON_{reason}"})

    def send_state(self, state: str) -> None:
        self._client.post(f"/api/v1/trials/{self._trial.trial_id}/runner/metadata", {"state": state})

    def checkpoint(self, uuid: str) -> CheckpointRecord:
        return _record(self._client.get(f"/api/v1/checkpoints/{uuid}")["checkpoint"])

    def checkpoints(self) -> list[CheckpointRecord]:
        path = f"/api/v1/trials/{self._trial.trial_id}/checkpoints?states=STATE_COMPLETED&limit=-1"
        records = [_record(item) for item in self._client.get(path)["checkpoints"]]
        return sorted((r for r in records if r.is_complete), key=lambda record: -record.steps)

    def wait_for_stop(self, timeout_s: float) -> bool:
        path = f"{self._preemption}?timeout_seconds={int(timeout_s)}"
        return bool(self._client.wait(path, timeout_s=timeout_s + 10).get("preempt"))

    def is_asked_to_stop(self) -> bool:
        return bool(self._client.get(self._preemption, timeout_seconds=0).get("preempt"))

    @property
    def _preemption(self) -> str:
        return f"/api/v1/allocations/{self._trial.allocation_id}/signals/preemption"

    def break_off_wait(self) -> None:
        self._client.break_off_waits()

    def acknowledge_stop(self) -> None:
        self._client.post(f"/api/v1/allocations/{self._trial.allocation_id}/signals/ack_preemption")

    def best_validation(self) -> float | None:
        path = f"/api/v1/experiments/{self._trial.experiment_id}/searcher/best_searcher_validation_metric"
        try:
            return float(self._client.get(path)["metric"])
        except NotFound:
            return None

    def close(self) -> None:
        self._client.close()


def _wire_report(report: Report, run_id: int) -> dict[str, Any]:
    return {
        "group": report.group,
        "stepsCompleted": report.steps,
        "trialRunId": run_id,
        "reportTime": _rfc3339(report.time_s),
        "metrics": {"avgMetrics": report.metrics},
    }


def _record(item: dict[str, Any]) -> CheckpointRecord:
    metadata = dict(item.get("metadata") or {})
    return CheckpointRecord(
        uuid=item["uuid"],
        steps=int(metadata.get("steps_completed") or 0),
        resources={path: int(size) for path, size in (item.get("resources") or {}).items()},
        digests=dict(item.get("digests") or {}),
        metadata=metadata,
        is_complete=item.get("state", "STATE_COMPLETED") == "STATE_COMPLETED",
    )


def _now() -> str:
    return _rfc3339(time.time())


def _rfc3339(seconds: float) -> str:
    whole = int(seconds)
    return f"{_to_the_second(whole)}.{int((seconds - whole) * 1_000_000):06d}Z"


@lru_cache(maxsize=8)
def _to_the_second(seconds: int) -> str:
    """Reports come in bunches: one call in thousands has to look at the calendar."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
