"""A home of an earlier release opens and goes on where it was.

`released/home-0004.json` was written by the release with schema 0004: a trial runs, two wait (one of higher priority,
the other kept off a node), an experiment with a priority of its own is paused, one is over, and of a deployment one
replica answers while another drains.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from tests.contract.store.released.home import write_home

from resolute.domain.experiment import ExperimentState
from resolute.domain.job import JobKind
from resolute.domain.node import Node, Slot
from resolute.domain.replica import ReplicaState
from resolute.domain.trial import TrialState
from resolute.engine.deployments.replicas import replicas_of_deployments
from resolute.engine.experiments.changes import activate_experiment
from resolute.engine.jobs.queue import list_jobs
from resolute.engine.jobs.starting import build_gang
from resolute.engine.loop import prepare, tick
from resolute.engine.platform import MasterConfig, Platform
from resolute.runners.fake import FakeRunner
from resolute.store.blobs import open_blobs
from resolute.store.db import DatabaseStore, open_store
from resolute.store.db.schema import MIGRATIONS
from resolute.store.logs import FileLogs

NOON = datetime(2026, 1, 1, 13, tzinfo=UTC)
RUNNING, PAUSED, WAITING, FIRST_IN_LINE = 2, 3, 4, 5


@pytest.fixture
def released(empty_database: str) -> str:
    """URL of a database as the earlier release left it."""
    write_home(empty_database)
    return empty_database


@pytest.fixture
def store(released: str) -> Iterator[DatabaseStore]:
    opened = open_store(released)
    yield opened
    opened.close()


@pytest.fixture
def platform(store: DatabaseStore, tmp_path: Path) -> Platform:
    """A master of this release over it; what ran goes on running."""
    node = Node(id="fake", slots=(Slot(0), Slot(1)))
    made = Platform(
        store=store,
        runner=FakeRunner([node]),
        logs=FileLogs(tmp_path / "logs"),
        blobs=open_blobs,
        clock=lambda: NOON,
        config=MasterConfig(home=tmp_path, cluster_id="c"),
    )
    with store.read() as tx:
        started = [a for a in tx.allocations.live() if a.handle is not None]
    for allocation in started:
        made.runner.start(build_gang(made, allocation))
    prepare(made)
    return made


def test_experiments_and_deployments_get_jobs_with_what_stood_in_their_rows(store: DatabaseStore) -> None:
    with store.read() as tx:
        paused = tx.jobs.get(tx.experiments.get(PAUSED).job_id)
        deployment = tx.jobs.get(tx.deployments.all()[0].job_id)

    assert (paused.kind, paused.name, paused.entity_id) == (JobKind.EXPERIMENT, "paused", str(PAUSED))
    assert (paused.priority, paused.weight, paused.max_slots, paused.workspace_id) == (7, 2.5, 3, 1)
    assert paused.queue_position == paused.submitted_at.timestamp()
    assert (deployment.kind, deployment.name, deployment.priority) == (JobKind.DEPLOYMENT, "echo", 42)
    assert deployment.resource_pool == "default"


def test_the_queue_is_as_it_was(platform: Platform) -> None:
    found = [(view.job.name, view.is_scheduled) for view in list_jobs(platform)]

    assert found == [("running", True), ("first in line", False), ("waiting", False), ("echo", True)]


def test_a_trial_that_waits_is_still_kept_off_its_node(store: DatabaseStore) -> None:
    with store.read() as tx:
        (trial,) = tx.trials.of_experiment(WAITING)
        allocation = tx.allocations.of_task(trial.task_id)[-1]

    assert allocation.excluded_nodes == ("other",)


def test_a_replica_that_drains_goes_on_draining(store: DatabaseStore) -> None:
    with store.read() as tx:
        (replicas,) = replicas_of_deployments(tx).values()
        configs = [tx.tasks.get(replica.task_id).config or {} for replica in replicas]

    assert sorted(replica.state for replica in replicas) == [ReplicaState.DRAINING, ReplicaState.READY]
    assert all("draining_since" not in config for config in configs)


def test_running_trials_end_and_waiting_ones_follow_in_order(platform: Platform) -> None:
    runner: Any = platform.runner
    (running,) = _trials(platform, RUNNING)

    tick(platform, since=NOON)
    before = {gang.task_id for gang in runner.started}
    runner.finish(_allocation(platform, running.task_id))
    tick(platform, since=NOON)

    (first,), (waiting,) = _trials(platform, FIRST_IN_LINE), _trials(platform, WAITING)
    started = {gang.task_id for gang in runner.started} - before
    assert _trials(platform, RUNNING)[0].state is TrialState.COMPLETED
    assert started == {first.task_id}
    assert waiting.state is TrialState.ACTIVE


def test_a_paused_experiment_goes_on_with_its_own_priority(platform: Platform) -> None:
    activate_experiment(platform, PAUSED)

    names = [view.job.name for view in list_jobs(platform)]
    with platform.store.read() as tx:
        experiment = tx.experiments.get(PAUSED)
    assert names == ["running", "first in line", "paused", "waiting", "echo"]
    assert experiment.state is ExperimentState.ACTIVE


def test_going_back_loses_nothing_that_the_earlier_release_knew(
    released: str, migrated: Callable[[str, str], None]
) -> None:
    before = _rows(released)

    migrated(released, "head")
    migrated(released, "0004")

    assert _rows(released) == before


@pytest.fixture
def migrated() -> Callable[[str, str], None]:
    def migrate(url: str, revision: str) -> None:
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            (command.upgrade if revision == "head" else command.downgrade)(config, revision)
        engine.dispose()

    return migrate


def _rows(url: str) -> dict[str, list[Any]]:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    columns = {
        "experiments": "id, job_id, resource_pool, priority, weight, max_slots, queue_position",
        "tasks": "id, job_id, config",
        "allocations": "id, job_id, state, resource_pool",
    }
    with engine.connect() as connection:
        rows = {
            table: [_parsed(row) for row in connection.execute(text(f"SELECT {names} FROM {table} ORDER BY id"))]
            for table, names in columns.items()
        }
    engine.dispose()
    return rows


def _parsed(row: Any) -> list[Any]:
    """JSON text as what it says, and times as what they mean."""
    values = [json.loads(v) if isinstance(v, str) and v.startswith("{") else v for v in row]
    for value in values:
        if isinstance(value, dict) and "draining_since" in value:
            value["draining_since"] = datetime.fromisoformat(value["draining_since"])
    return values


def _trials(platform: Platform, experiment_id: int) -> list[Any]:
    with platform.store.read() as tx:
        return tx.trials.of_experiment(experiment_id)


def _allocation(platform: Platform, task_id: str) -> str:
    with platform.store.read() as tx:
        return tx.allocations.of_task(task_id)[-1].id
