"""An experiment: watching it, steering it, and reaching its trials and checkpoints."""

import base64
import io
import tarfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from resolute.client.checkpoint import Checkpoint
from resolute.client.datasets import DatasetVersion
from resolute.client.display import card, show_live
from resolute.client.logs import LogFilter
from resolute.client.resource import Resource
from resolute.client.trial import Trial, checkpoint_query
from resolute.domain.errors import IllegalTransition, NotFound, Unavailable

ENDED = frozenset({"COMPLETED", "CANCELED", "ERROR", "DELETED", "DELETE_FAILED"})


class Experiment(Resource):
    @property
    def id(self) -> int:
        return int(self.data["id"])

    @property
    def name(self) -> str:
        return str(self.data.get("name") or "")

    @property
    def state(self) -> str:
        return self._state()

    @property
    def config(self) -> dict[str, Any]:
        return dict(self.data.get("config") or {})

    @property
    def progress(self) -> float:
        return float(self.data.get("progress") or 0.0)

    @property
    def labels(self) -> list[str]:
        return list(self.data.get("labels") or [])

    @property
    def description(self) -> str:
        return str(self.data.get("description") or "")

    @property
    def is_archived(self) -> bool:
        return bool(self.data.get("archived"))

    @property
    def is_finished(self) -> bool:
        return self.state in ENDED

    @property
    def start_time(self) -> datetime | None:
        return self._time("startTime")

    @property
    def end_time(self) -> datetime | None:
        return self._time("endTime")

    @property
    def searcher_metric(self) -> str:
        """The first, where a search has several objectives."""
        return str(_first((self.config.get("searcher") or {}).get("metric") or ""))

    @property
    def smaller_is_better(self) -> bool:
        return bool(_first((self.config.get("searcher") or {}).get("smaller_is_better", True)))

    def _repr_html_(self) -> str:
        metric = self.searcher_metric
        best = self.data.get("bestTrialSearcherMetric")
        facts = {
            "searcher": (self.config.get("searcher") or {}).get("name"),
            "trials": self.data.get("numTrials"),
            f"best {metric}" if metric else "best": best,
            "labels": self.labels,
            "description": self.description,
        }
        link = f"{self.session.master}/det/experiments/{self.id}"
        progress = 1.0 if self.state == "COMPLETED" else self.progress
        return card(f"Experiment {self.id}: {self.name}", facts, state=self.state, link=link, progress=progress)

    def _ipython_display_(self) -> None:
        """In a notebook it follows the experiment. The object itself stays as it was read."""
        show_live(Experiment(self.session, dict(self.data)))

    def reload(self) -> "Experiment":
        answer = self.session.get(self._path)
        self.data = {"config": answer.get("config"), **answer["experiment"]}
        return self

    def wait(
        self,
        *,
        interval_s: float = 1.0,
        timeout_s: float | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> str:
        """Block until it ends and return how. A paused experiment would wait for ever, so it raises."""
        end = None if timeout_s is None else clock() + timeout_s
        while not self.reload().is_finished:
            if self.state == "PAUSED":
                raise IllegalTransition(f"Experiment {self.id} is paused. Activate it: resolute e activate {self.id}")
            if end is not None and clock() >= end:
                raise Unavailable(f"Experiment {self.id} is still {self.state} after {timeout_s:g} s.")
            sleep(interval_s)
        return self.state

    def pause(self) -> None:
        self._do("pause")

    def activate(self) -> None:
        self._do("activate")

    def cancel(self) -> None:
        """Stop after a last checkpoint."""
        self._do("cancel")

    def kill(self) -> None:
        """Stop now."""
        self._do("kill")

    def archive(self) -> None:
        self._do("archive")

    def unarchive(self) -> None:
        self._do("unarchive")

    def delete(self) -> None:
        """Remove it with its trials, logs and checkpoints."""
        self.session.delete(self._path)

    def update(self, **changes: Any) -> None:
        """Change name, description, notes, labels, resources={...} or checkpointStorage={...}."""
        self.session.patch(self._path, {"id": self.id, **changes})

    def move_to(self, project_id: int) -> None:
        body = {"experimentId": self.id, "destinationProjectId": project_id}
        self.session.post(f"{self._path}/move", body)

    def trials(self, *, limit: int | None = None) -> list[Trial]:
        query: dict[str, Any] = {"orderBy": "ORDER_BY_ASC", "sortBy": "SORT_BY_ID"}
        found = self.session.pages(f"{self._path}/trials", "trials", limit=limit, **query)
        return [Trial(self.session, item) for item in found]

    def await_first_trial(self, *, interval_s: float = 0.1, sleep: Callable[[float], None] = time.sleep) -> Trial:
        """The trial with the lowest number, as soon as there is one."""
        while True:
            trials = self.trials(limit=1)
            if trials:
                return trials[0]
            if self.reload().is_finished:
                raise NotFound(f"Experiment {self.id} ended as {self.state} without a trial.")
            sleep(interval_s)

    def logs(self, wanted: LogFilter | None = None) -> Iterator[dict[str, Any]]:
        """Lines of its first trial."""
        trials = self.trials(limit=1)
        if not trials:
            raise NotFound(f"Experiment {self.id} has no trials yet, so there are no logs.")
        return trials[0].logs(wanted)

    def list_checkpoints(
        self,
        *,
        sort_by: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        states: tuple[str, ...] = ("COMPLETED",),
    ) -> list[Checkpoint]:
        """Best first by the searcher's metric, or by a validation metric named in `sort_by`."""
        query = checkpoint_query(sort_by, order, default="SORT_BY_SEARCHER_METRIC")
        query["states"] = [f"STATE_{state}" for state in states]
        found = self.session.pages(f"{self._path}/checkpoints", "checkpoints", limit=limit, **query)
        return [Checkpoint(self.session, item) for item in found]

    def top_checkpoint(self) -> Checkpoint | None:
        """The best checkpoint; None when nothing was validated and saved."""
        return next(iter(self.list_checkpoints(limit=1)), None)

    def datasets(self) -> list[DatasetVersion]:
        """The dataset versions that it was trained on."""
        return [DatasetVersion(self.session, item) for item in self.session.get(f"{self._path}/datasets")["datasets"]]

    def use_dataset(self, reference: str) -> DatasetVersion:
        """Say that it used this version: `name:3`, `name:latest` or `name`. Repeating changes nothing."""
        answer = self.session.post(f"{self._path}/datasets", {"dataset": reference})
        return DatasetVersion(self.session, answer["dataset"])

    def download_model_def(self, target: Path | str) -> Path:
        """Unpack the code it was created with into `target`."""
        archive = base64.b64decode(self.session.get(f"{self._path}/model_def").get("b64Tgz") or "")
        folder = Path(target)
        folder.mkdir(parents=True, exist_ok=True)
        if archive:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
                tar.extractall(folder, filter="data")
        return folder

    @property
    def _path(self) -> str:
        return f"/api/v1/experiments/{self.id}"

    def _do(self, verb: str) -> None:
        self.session.post(f"{self._path}/{verb}")


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value
