"""What a TensorBoard shows, kept up to date: reports of trials become event files, and those that their scripts wrote
to the checkpoint store are fetched.

    experiment_3/trial_7            curves and hyperparameters that were reported
    experiment_3/trial_7/script     what the script wrote itself
"""

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resolute.client.client import Client
from resolute.client.trial import Trial
from resolute.domain.errors import ResoluteError
from resolute.interactive.metric_events import TrialEvents
from resolute.store.blobs import open_blobs

log = logging.getLogger("resolute.tensorboard")

_PAUSE_S = 2.0
_FILES_EVERY_S = 10.0
_REST = 5
"""Times as long as a pass took, it rests at least: long trials must not keep the master busy."""


class EventSources:
    """`storages`: sections of configurations by experiment id, None where an experiment stores nothing."""

    def __init__(
        self,
        client: Client,
        folder: Path,
        *,
        experiment_ids: list[int],
        trial_ids: list[int],
        storages: Mapping[str, dict[str, Any] | None],
        cluster_id: str,
    ) -> None:
        self._client = client
        self._folder = folder
        self._experiment_ids = experiment_ids
        self._trial_ids = trial_ids
        self._storages = storages
        self._cluster_id = cluster_id
        self._events: dict[int, TrialEvents] = {}
        self._reported: dict[int, tuple[int, str]] = {}
        """Of each trial, how far it was and in which state when its reports were read."""
        self._sizes: dict[str, int] = {}

    def follow(self, stop: threading.Event) -> None:
        """Until `stop`. A master or a store that is away is asked again."""
        files_at = 0.0
        while not stop.is_set():
            started = time.monotonic()
            try:
                self.read_reports()
                if started >= files_at:
                    self.fetch_files()
                    files_at = time.monotonic() + _FILES_EVERY_S
            except ResoluteError as problem:
                log.warning("%s Trying again.", problem)
            stop.wait(max(_PAUSE_S, _REST * (time.monotonic() - started)))

    def read_reports(self) -> None:
        for trial in self._trials():
            now = (trial.total_batches, trial.state)
            if trial.is_finished and self._reported.get(trial.id) == now:
                continue
            events = self._events_of(trial)
            events.write(trial.metrics())
            if trial.is_finished:
                events.end(trial.state)
            self._reported[trial.id] = now

    def fetch_files(self) -> None:
        """Those of the scripts that are new or have grown."""
        wanted = {(str(trial.experiment_id), str(trial.id)) for trial in self._trials()}
        for experiment_id, storage in self._storages.items():
            if storage is not None:
                self._fetch(
                    storage, {trial for experiment, trial in wanted if experiment == experiment_id}, experiment_id
                )

    def _fetch(self, storage: dict[str, Any], trial_ids: set[str], experiment_id: str) -> None:
        blobs = open_blobs(storage)
        for path, size in blobs.files(self._cluster_id).items():
            parts = path.split("/", 5)
            is_ours = parts[:3] == ["tensorboard", "experiment", experiment_id] and parts[3:4] == ["trial"]
            if not is_ours or len(parts) < 6 or parts[4] not in trial_ids or self._sizes.get(path) == size:
                continue
            goal = self._run(int(experiment_id), int(parts[4])) / "script" / parts[5]
            goal.parent.mkdir(parents=True, exist_ok=True)
            # Written over in place: TensorBoard goes on reading where it was.
            with goal.open("wb") as file:
                for chunk in blobs.read(self._cluster_id, path):
                    file.write(chunk)
            self._sizes[path] = size

    def _trials(self) -> list[Trial]:
        found = {trial_id: self._client.get_trial(trial_id) for trial_id in self._trial_ids}
        for experiment_id in self._experiment_ids:
            for trial in self._client.get_experiment(experiment_id).trials():
                found.setdefault(trial.id, trial)
        return list(found.values())

    def _events_of(self, trial: Trial) -> TrialEvents:
        if trial.id not in self._events:
            self._events[trial.id] = TrialEvents(self._run(trial.experiment_id, trial.id), trial.hparams)
        return self._events[trial.id]

    def _run(self, experiment_id: int, trial_id: int) -> Path:
        return self._folder / f"experiment_{experiment_id}" / f"trial_{trial_id}"
