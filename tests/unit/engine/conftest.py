"""A whole platform in memory: real store and engine, a fake runner, and a clock that stands still until told."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from resolute.domain.allocation import AllocationState
from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.experiment import Experiment
from resolute.domain.metric import VALIDATION, MetricReport
from resolute.domain.trial import Trial
from resolute.domain.user import User
from resolute.engine.experiments.submission import create_experiment
from resolute.engine.jobs.allocations import ack_preemption
from resolute.engine.loop import prepare, tick
from resolute.engine.platform import MasterConfig, Platform
from resolute.engine.trials.reports import report_checkpoint, report_metrics
from resolute.runners.fake import FakeRunner
from resolute.store.blobs import open_blobs
from resolute.store.db import open_store
from resolute.store.logs import FileLogs

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
max_restarts: 2
"""


@dataclass
class Clock:
    now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class World:
    platform: Platform
    runner: FakeRunner
    clock: Clock
    started_at: datetime
    user: User
    home: Path

    def create(self, config: str = CONFIG, **options: Any) -> Experiment:
        return create_experiment(self.platform, user=self.user, config_text=config, **options).experiment

    def person(self, name: str) -> User:
        """Somebody without any right of his own."""
        with self.platform.store.write() as tx:
            return tx.users.add(User(id=0, username=name, display_name="", modified_at=self.clock()))

    def tick(self, times: int = 1) -> None:
        for _ in range(times):
            self.clock.forward(0.1)
            tick(self.platform, since=self.started_at)

    def experiment(self, experiment_id: int) -> Experiment:
        with self.platform.store.read() as tx:
            return tx.experiments.get(experiment_id)

    def trial(self, trial_id: int) -> Trial:
        with self.platform.store.read() as tx:
            return tx.trials.get(trial_id)

    def trials(self, experiment_id: int) -> list[Trial]:
        with self.platform.store.read() as tx:
            return tx.trials.of_experiment(experiment_id)

    def allocation(self, trial: Trial) -> str:
        """Id of the trial's newest allocation."""
        with self.platform.store.read() as tx:
            return tx.allocations.of_task(trial.task_id)[-1].id

    def states(self, trial: Trial) -> list[AllocationState]:
        with self.platform.store.read() as tx:
            return [a.state for a in tx.allocations.of_task(trial.task_id)]

    def validate(self, trial: Trial, steps: int, **metrics: Any) -> None:
        report = MetricReport(
            trial_id=trial.id,
            run_id=self.trial(trial.id).run_id,
            group=VALIDATION,
            steps_completed=steps,
            report_time=self.clock(),
            metrics=metrics,
        )
        report_metrics(self.platform, [report])

    def checkpoint(self, trial: Trial, steps: int, content: bytes = b"weights", **fields: Any) -> str:
        """A checkpoint with one file, on disk and reported."""
        name = str(uuid.uuid4())
        storage = self.experiment(trial.experiment_id).config["checkpoint_storage"]
        open_blobs(storage).write(name, "model.bin", content)
        report_checkpoint(
            self.platform,
            Checkpoint(
                uuid=name,
                state=CheckpointState.COMPLETED,
                report_time=self.clock(),
                resources={"model.bin": len(content)},
                metadata={"steps_completed": steps},
                trial_id=trial.id,
                task_id=trial.task_id,
                run_id=self.trial(trial.id).run_id,
                steps_completed=steps,
                **fields,
            ),
        )
        return name

    def finish(self, trial: Trial, code: int = 0) -> None:
        """Its processes end, and the engine notices."""
        self.runner.finish(self.allocation(trial), code)
        self.tick()

    def leave(self, trial: Trial) -> None:
        """It hears that it should go, and goes."""
        ack_preemption(self.platform, self.allocation(trial))
        self.finish(trial)

    def log(self, trial: Trial) -> str:
        from resolute.engine.ports.logs import LogQuery

        return "\n".join(line.text for line in self.platform.logs.read(trial.task_id, LogQuery()))


@dataclass
class Counted:
    selects: int = 0
    texts: list[str] = field(default_factory=list)

    def of(self, table: str) -> int:
        """How many of them read this table first."""
        return sum(f"FROM {table} " in " ".join(text.split()) for text in self.texts)


@pytest.fixture
def count_statements() -> Callable[[], AbstractContextManager[Counted]]:
    """How often the database is read inside the block."""

    @contextmanager
    def count() -> Iterator[Counted]:
        counted = Counted()

        def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
            if statement.lstrip().upper().startswith(("SELECT", "WITH")):
                counted.selects += 1
                counted.texts.append(statement)

        event.listen(Engine, "before_cursor_execute", note)
        try:
            yield counted
        finally:
            event.remove(Engine, "before_cursor_execute", note)

    return count


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[[], World]]:
    made: list[World] = []

    def make() -> World:
        made.append(_new_world(tmp_path / str(len(made))))
        return made[-1]

    yield make
    for world in made:
        world.platform.store.close()


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


def _new_world(home: Path) -> World:
    clock = Clock()
    runner = FakeRunner(2)
    store = open_store("sqlite://")
    platform = Platform(
        store=store,
        runner=runner,
        logs=FileLogs(home / "logs"),
        blobs=open_blobs,
        clock=clock,
        config=MasterConfig(
            home=home,
            cluster_id="c",
            checkpoint_storage={"type": "shared_fs", "host_path": str(home / "checkpoints")},
        ),
    )
    prepare(platform)
    with store.read() as tx:
        user = tx.users.by_name("determined")
    assert user is not None
    return World(platform, runner, clock, clock.now, user, home)
