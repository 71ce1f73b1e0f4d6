"""The master's part when there is none: metrics are printed and kept in a file, checkpoints stay in a folder.

The same script runs on a laptop and on a cluster; only this adapter differs.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from resolute.domain.errors import NotFound
from resolute.training.master import CheckpointRecord, Report

CHECKPOINTS = "checkpoints"
_PRINT_LIMIT_PER_BATCH = 20


class LocalMaster:
    """Everything under one run folder: `metrics.jsonl`, `checkpoints.jsonl`, `checkpoints/<uuid>/...`."""

    def __init__(self, folder: Path, *, echo: bool = True) -> None:
        self._folder = folder.absolute()
        self._echo = echo
        self._never = threading.Event()

    def send_reports(self, reports: Sequence[Report]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "metrics.jsonl").open("a") as file:
            file.writelines(json.dumps(report._asdict()) + "\n" for report in reports)
        if not self._echo:
            return
        for report in reports[-_PRINT_LIMIT_PER_BATCH:]:
            values = " ".join(f"{name}={_short(value)}" for name, value in report.metrics.items())
            print(f"{report.group} steps={report.steps} {values}", flush=True)

    def send_progress(self, progress: float) -> None:
        if self._echo:
            print(f"progress {progress:.1%}", flush=True)

    def send_checkpoint(self, checkpoint: CheckpointRecord) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "checkpoints.jsonl").open("a") as file:
            file.write(json.dumps(asdict(checkpoint)) + "\n")
        if self._echo:
            place = self._folder / CHECKPOINTS / checkpoint.uuid
            print(f"checkpoint steps={checkpoint.steps} {place}", flush=True)

    def send_early_exit(self, reason: str) -> None:
        if self._echo:
            print(f"early exit: {reason}", flush=True)

    def send_state(self, state: str) -> None:
        pass  # Nobody watches.

    def checkpoint(self, uuid: str) -> CheckpointRecord:
        for record in self.checkpoints():
            if record.uuid == uuid:
                return record
        raise NotFound(f"checkpoint not found: {uuid} (looked in {self._folder})")

    def checkpoints(self) -> list[CheckpointRecord]:
        path = self._folder / "checkpoints.jsonl"
        if not path.exists():
            return []
        records = [CheckpointRecord(**json.loads(line)) for line in path.read_text().splitlines()]
        newest_first = records[::-1]
        return sorted(newest_first, key=lambda record: -record.steps)

    def wait_for_stop(self, timeout_s: float) -> bool:
        self._never.wait(timeout_s)
        return False

    def is_asked_to_stop(self) -> bool:
        return False

    def break_off_wait(self) -> None:
        self._never.set()

    def acknowledge_stop(self) -> None:
        pass

    def best_validation(self) -> float | None:
        return None

    def close(self) -> None:
        self._never.set()


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
