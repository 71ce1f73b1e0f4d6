"""What people and programs do while the storm lasts, with notes of what they were promised."""

import itertools
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chaos.ledger import Ledger
from benchmarks.chaos.stage import Stage
from benchmarks.platform.master import definition_file

_AT_A_TIME = 3
"""Experiments under way: more only wait."""
_ECHO = ["python3", "-m", "resolute.serving.replica", "--source", ".", "--load", "resolute.serving.echo:load_echo"]
_FINAL = ("STATE_COMPLETED", "STATE_ERROR", "STATE_CANCELED")
WALKER = Path(__file__).with_name("walker.py")


class Load:
    """Threads that go on until `stop`."""

    def __init__(self, stage: Stage, ledger: Ledger, *, steps: int, slots_of_gang: int, serves: bool) -> None:
        self._stage = stage
        self._ledger = ledger
        self._steps = steps
        self._slots_of_gang = slots_of_gang
        self._stopping = threading.Event()
        self.failures: list[str] = []
        work: list[Callable[[], None]] = [self._submit, self._register, *([self._predict] if serves else [])]
        self._threads = [threading.Thread(target=self._run, args=(each,), daemon=True) for each in work]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(60)

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self.failures.append(f"{work.__name__}: {error!r}")

    # ------------------------------------------------------------------------------------------------- experiments

    def _submit(self) -> None:
        for number in itertools.count():
            while not self._stopping.is_set() and self._under_way() >= _AT_A_TIME:
                self._stopping.wait(0.5)
            if self._stopping.is_set():
                return
            is_gang = number % 2 == 1
            config = self._config(number, is_gang)
            body = {"config": json.dumps(config), "modelDefinition": [definition_file("walker.py", WALKER.read_text())]}
            answer = self._stage.attempt("POST", "/api/v1/experiments", json={**body, "activate": True})
            if answer is None:
                continue
            made = int(answer["experiment"]["id"])
            self._ledger.experiments[made] = (config["name"], config["searcher"].get("max_trials", 1))
            text = f"noted {number}"
            if self._stage.attempt("PATCH", f"/api/v1/experiments/{made}", json={"notes": text}) is not None:
                self._ledger.notes[made] = text

    def _under_way(self) -> int:
        answer = self._stage.attempt("GET", "/api/v1/experiments", params={"limit": -1})
        if answer is None:
            return _AT_A_TIME
        return sum(each["state"] not in _FINAL for each in answer["experiments"])

    def _config(self, number: int, is_gang: bool) -> dict[str, Any]:
        launcher = "python3 -m resolute.launch.torch_distributed --restarts 0 walker.py"
        storage = {"checkpoint_storage": self._stage.s3.storage} if self._stage.s3 else {}
        return {
            "name": f"walk {number}",
            "entrypoint": launcher if is_gang else "python3 walker.py",
            "resources": {"slots_per_trial": self._slots_of_gang if is_gang else 1},
            "max_restarts": 10_000,
            "hyperparameters": {"x": {"type": "double", "minval": 0.0, "maxval": 1.0}},
            "searcher": {"name": "single", "metric": "loss"}
            if is_gang
            else {"name": "random", "metric": "loss", "max_trials": 3},
            "environment": {
                "environment_variables": [
                    f"LEDGER={self._ledger.folder}",
                    f"WALKER_STEPS={self._steps}",
                    "OMP_NUM_THREADS=1",
                ]
            },
            **storage,
        }

    # ------------------------------------------------------------------------------------------------------ models

    def _register(self) -> None:
        for number in itertools.count():
            if self._stopping.wait(0.5):
                return
            name = f"model {number}"
            if self._stage.attempt("POST", "/api/v1/models", json={"name": name}) is not None:
                self._ledger.models.append(name)

    # ------------------------------------------------------------------------------------------------- deployments

    def _predict(self) -> None:
        source = self._stage.folder / "echo"
        source.mkdir(exist_ok=True)
        for number in itertools.count():
            name = f"echo{number}"
            serving = {"command": [*_ECHO, "--name", name], "environment": {"OMP_NUM_THREADS": "1"}}
            body = {
                "name": name,
                "modelUri": str(source),
                "serving": serving,
                "public": True,
                "scaling": {"minReplicas": 2, "maxReplicas": 2},
            }
            made = self._stage.attempt("POST", "/api/v1/deployments", json=body)
            while made is not None and not self._stopping.is_set():
                found = self._stage.attempt("GET", f"/api/v1/deployments/{name}")
                if found is not None and found["deployment"]["state"] == "STATE_FAILED":
                    # Its replicas were killed before they were ready, too often for the platform to go on.
                    self._stage.attempt("DELETE", f"/api/v1/deployments/{name}")
                    break
                if found is not None and found["deployment"]["url"]:
                    self._ask(f"{found['deployment']['url']}/v1/models/{name}:predict")
            if self._stopping.wait(0.5):
                return

    def _ask(self, url: str) -> None:
        """For a second; then it is time to look whether the deployment is still there."""
        ends_at = time.monotonic() + 1.0
        while time.monotonic() < ends_at and not self._stopping.is_set():
            self._ledger.predictions["asked"] += 1
            number = self._ledger.predictions["asked"]
            try:
                answer = httpx.post(url, json={"instances": [number]}, timeout=10)
                is_answered = answer.status_code == 200
                outcome = "answered" if is_answered and answer.json() == {"predictions": [number]} else "wrong"
                self._ledger.predictions[outcome if is_answered else "failed"] += 1
            except httpx.HTTPError:
                self._ledger.predictions["failed"] += 1
            time.sleep(0.02)
