"""What is deleted gives its space back: rows and model definitions at once, the database file by and by."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from resolute.domain.errors import NotFound
from resolute.domain.experiment import Experiment
from resolute.engine.ports.database import ReleasesSpace, Store
from resolute.store.db import open_store
from resolute.store.db.ownership import Owner
from resolute.store.db.schema import HEAD

NewExperiment = Callable[..., Experiment]
LARGE = 300_000


def filled(store: Store, new_experiment: NewExperiment, count: int) -> list[Experiment]:
    made = []
    for _ in range(count):
        with store.write() as tx:
            context = tx.contexts.put(os.urandom(LARGE))
            made.append(tx.experiments.add(replace(new_experiment(), context_id=context), searcher_snapshot=None))
    return made


def remove(store: Store, experiments: list[Experiment]) -> None:
    for experiment in experiments:
        with store.write() as tx:
            tx.experiments.remove(experiment.id)


def has_context(store: Store, context_id: str | None) -> bool:
    with store.read() as tx:
        try:
            return bool(tx.contexts.get(context_id or ""))
        except NotFound:
            return False


def test_a_model_definition_goes_with_the_last_experiment_that_has_it(
    store: Store, new_experiment: NewExperiment
) -> None:
    [first, other] = filled(store, new_experiment, 2)
    with store.write() as tx:
        twin = tx.experiments.add(replace(new_experiment(), context_id=first.context_id), searcher_snapshot=None)

    remove(store, [first])
    is_kept = has_context(store, first.context_id)
    remove(store, [twin])

    assert is_kept
    assert not has_context(store, first.context_id)
    assert has_context(store, other.context_id)


def test_a_file_gets_smaller_when_experiments_are_deleted(tmp_path: Path, new_experiment: NewExperiment) -> None:
    file = tmp_path / "db.sqlite3"
    with closing(open_store(f"sqlite:///{file}", owner=Owner())) as store:
        experiments = filled(store, new_experiment, 60)
        remove(store, experiments[5:])

        assert isinstance(store, ReleasesSpace)
        while store.release_space():
            pass
        is_more = store.release_space()

    assert not is_more
    assert file.stat().st_size < 60 * LARGE / 2


def test_a_file_of_an_earlier_release_gets_smaller_too(tmp_path: Path, new_experiment: NewExperiment) -> None:
    file = tmp_path / "db.sqlite3"
    with closing(open_store(f"sqlite:///{file}", owner=Owner())) as store:
        experiments = filled(store, new_experiment, 40)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        # As earlier releases made them.
        connection.execute("PRAGMA auto_vacuum = 0")
        connection.execute("VACUUM")

    with closing(open_store(f"sqlite:///{file}", owner=Owner())) as store:
        remove(store, experiments)
        steps = 0
        while store.release_space():
            steps += 1

    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
    assert steps > 0
    assert file.stat().st_size < 40 * LARGE / 2


def test_a_few_free_pages_are_kept_for_the_next_rows(tmp_path: Path, new_experiment: NewExperiment) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/db.sqlite3", owner=Owner())) as store:
        remove(store, filled(store, new_experiment, 2))

        assert not store.release_space()
