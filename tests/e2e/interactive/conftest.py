"""A live master, an experiment that has reported, and tasks that are reached through it as a browser reaches them."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: pip install 'resolute[notebook]'")
pytest.importorskip("tensorboard", reason="TensorBoard is not installed: pip install 'resolute[tensorboard]'")

MODEL = Path(__file__).parent / "model"
CONFIG = """
name: falls
entrypoint: python3 train.py
searcher: {name: single, metric: validation_loss}
resources: {slots_per_trial: 0}
max_restarts: 0
"""


class Tasks:
    """Notebooks and TensorBoards of one master."""

    def __init__(self, master: Any) -> None:
        self.master = master
        self.experiment = 0

    def start(self, kind: str, **body: Any) -> dict[str, Any]:
        started = self.master.call("POST", f"/api/v1/{kind}s", json=body)[kind]
        return self.ready(kind, started["id"])

    def ready(self, kind: str, task_id: str) -> dict[str, Any]:
        """As the API shows it, once it listens."""
        ends_at = time.monotonic() + 90
        while time.monotonic() < ends_at:
            shown = self.master.call("GET", f"/api/v1/{kind}s/{task_id}")[kind]
            if shown["isReady"]:
                return dict(shown)
            assert shown["state"] != "STATE_TERMINATED", self.master.http.get(
                f"{self.master.url}/api/v1/tasks/{task_id}/logs"
            ).text
            time.sleep(0.1)
        raise AssertionError(f"{kind} {task_id} is not ready: {shown}")


@pytest.fixture(scope="module")
def tasks(
    start_master: Callable[[Path], Any],
    end_processes_of: Callable[[Path], None],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Tasks]:
    folder = tmp_path_factory.mktemp("interactive")
    master = start_master(folder / "home")
    tasks = Tasks(master)
    tasks.experiment = master.create(CONFIG, MODEL)
    assert master.wait(tasks.experiment) == "STATE_COMPLETED"
    yield tasks
    master.close()
    end_processes_of(folder)


@pytest.fixture(scope="module")
def board(tasks: Tasks) -> dict[str, Any]:
    return tasks.start("tensorboard", experimentIds=[tasks.experiment])


@pytest.fixture(scope="module")
def notebook(tasks: Tasks) -> dict[str, Any]:
    return tasks.start("notebook", config={"resources": {"slots": 0}})
