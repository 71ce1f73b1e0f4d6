"""The store: transactions over one database, and the repositories seen through each of them."""

import logging
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from sqlalchemy import Connection

from resolute.store.db.allocations import AllocationTable
from resolute.store.db.changes import ChangeTable
from resolute.store.db.checkpoints import CheckpointTable
from resolute.store.db.connect import Database, connect
from resolute.store.db.contexts import ContextTable
from resolute.store.db.datasets import DatasetTable
from resolute.store.db.deployments import DeploymentTable
from resolute.store.db.experiments import ExperimentTable
from resolute.store.db.faults import translated
from resolute.store.db.gang_nodes import GangNodeTable
from resolute.store.db.jobs import JobTable
from resolute.store.db.metrics import MetricTable
from resolute.store.db.models import ModelTable
from resolute.store.db.ownership import WAIT_S, Owner, current_owner
from resolute.store.db.rights import RightsTable
from resolute.store.db.schema import prepare
from resolute.store.db.settings import SettingTable
from resolute.store.db.space import has_spare_pages, make_shrinkable, release_pages
from resolute.store.db.tasks import TaskTable
from resolute.store.db.templates import TemplateTable
from resolute.store.db.trials import TrialTable
from resolute.store.db.users import UserTable
from resolute.store.db.workspaces import WorkspaceTable
from resolute.store.db.writing import driver_of
from resolute.store.metrics.series import SeriesCache

log = logging.getLogger(__name__)
IN_MEMORY = "sqlite://"


def open_store(url: str, *, owner: Owner | None = None, wait_s: float = WAIT_S) -> "DatabaseStore":
    """Open and, where needed, create or upgrade a database.

    A master gives itself as `owner`: it is refused (Unavailable) while the database has another one,
    which may take `wait_s` to go.

    `sqlite:///<path>`, `postgresql://...`, or `sqlite://` for one that is gone when it is closed (for tests).
    Raises InvalidInput for a URL that is none, Unavailable when the database cannot be reached.
    """
    if url != IN_MEMORY:
        return DatabaseStore(connect(url), owner, wait_s)
    folder = tempfile.mkdtemp(prefix="resolute-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    store = DatabaseStore(connect(f"sqlite:///{folder}/db.sqlite3", is_durable=False))
    store.discard = weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)
    return store


class DatabaseTransaction:
    """One connection inside one transaction. Not for use after its block has ended, nor by two threads."""

    def __init__(self, connection: Connection, cache: SeriesCache | None) -> None:
        """Without a `cache` nothing that this transaction sees is remembered: it may be rolled back."""
        self._connection = connection
        self._cache = cache
        self._after_commit: list[Callable[[], None]] = []

    @cached_property
    def experiments(self) -> ExperimentTable:
        return ExperimentTable(self._connection)

    @cached_property
    def trials(self) -> TrialTable:
        return TrialTable(self._connection)

    @cached_property
    def jobs(self) -> JobTable:
        return JobTable(self._connection)

    @cached_property
    def tasks(self) -> TaskTable:
        return TaskTable(self._connection)

    @cached_property
    def allocations(self) -> AllocationTable:
        return AllocationTable(self._connection)

    @cached_property
    def gang_nodes(self) -> GangNodeTable:
        return GangNodeTable(self._connection)

    @cached_property
    def checkpoints(self) -> CheckpointTable:
        return CheckpointTable(self._connection, self.metrics)

    @cached_property
    def metrics(self) -> MetricTable:
        return MetricTable(self._connection, self._cache)

    @cached_property
    def users(self) -> UserTable:
        return UserTable(self._connection)

    @cached_property
    def rights(self) -> RightsTable:
        return RightsTable(self._connection)

    @cached_property
    def workspaces(self) -> WorkspaceTable:
        return WorkspaceTable(self._connection)

    @cached_property
    def templates(self) -> TemplateTable:
        return TemplateTable(self._connection)

    @cached_property
    def contexts(self) -> ContextTable:
        return ContextTable(self._connection)

    @cached_property
    def settings(self) -> SettingTable:
        return SettingTable(self._connection)

    @cached_property
    def models(self) -> ModelTable:
        return ModelTable(self._connection)

    @cached_property
    def datasets(self) -> DatasetTable:
        return DatasetTable(self._connection)

    @cached_property
    def deployments(self) -> DeploymentTable:
        return DeploymentTable(self._connection)

    @cached_property
    def changes(self) -> ChangeTable:
        return ChangeTable(self._connection)

    @property
    def has_spare_pages(self) -> bool:
        driver = driver_of(self._connection)
        return driver is not None and has_spare_pages(driver)

    def release_pages(self) -> None:
        driver = driver_of(self._connection)
        if driver is not None:
            release_pages(driver)

    def after_commit(self, action: Callable[[], None]) -> None:
        self._after_commit.append(action)

    def run_after_commit(self) -> None:
        """What was asked for happens once each; one that fails does not undo the commit nor stop the others."""
        actions, self._after_commit = self._after_commit, []
        for action in actions:
            try:
                action()
            except Exception:
                log.exception("an action after a commit failed")


class DatabaseStore:
    """`engine.ports.database.Store` over SQLAlchemy. Thread-safe; writers take turns."""

    def __init__(self, database: Database, owner: Owner | None = None, wait_s: float = WAIT_S) -> None:
        self._database = database
        self._writing = threading.Lock()
        self._writer_thread: int | None = None
        self._cache = SeriesCache()
        self.discard: Callable[[], object] = lambda: None
        """Takes away what must not outlive the store."""
        try:
            with translated(database.place):
                if owner is not None:
                    database.ownership.take(self._current_owner, wait_s=wait_s)
                if owner is not None and database.file is not None and database.file.exists():
                    make_shrinkable(database.file)
                prepare(database.writer, database.place)
                if owner is not None:
                    with database.writer.transaction() as connection:
                        database.ownership.begin(connection, owner)
        except BaseException:
            database.dispose()
            raise

    @contextmanager
    def write(self) -> Iterator[DatabaseTransaction]:
        if self._writer_thread == threading.get_ident():
            raise RuntimeError("write() inside write(): one transaction cannot hold another; pass the open one on")
        sync = self._database.sync
        with self._writing:
            self._writer_thread = threading.get_ident()
            try:
                with translated(self._database.place), self._database.writer.transaction() as connection:
                    transaction = DatabaseTransaction(connection, None)
                    before = _changes(connection) if sync else 0
                    self._database.ownership.check(connection)
                    yield transaction
                    # One that changed nothing has nothing to make durable.
                    sync = sync if sync and _changes(connection) != before else None
                number = sync.committed() if sync else 0
            finally:
                self._writer_thread = None
        if sync:
            sync.wait(number)
        transaction.run_after_commit()

    @contextmanager
    def read(self) -> Iterator[DatabaseTransaction]:
        with translated(self._database.place), self._database.reader.connect() as connection, connection.begin():
            yield DatabaseTransaction(connection, self._cache)

    def release_space(self) -> bool:
        """`engine.ports.database.ReleasesSpace`."""
        with self.read() as transaction:
            if not transaction.has_spare_pages:
                return False
        with self.write() as transaction:
            transaction.release_pages()
        return True

    def watch_ownership(self, on_superseded: Callable[[str], None]) -> None:
        """Hold on to the database; `on_superseded` is called with a sentence when another master has taken over."""
        self._database.ownership.watch(self._database.reader, on_superseded)

    def close(self) -> None:
        """A transaction that another thread has open ends first."""
        with self._writing:
            self._database.dispose()
        self.discard()

    def _current_owner(self) -> object:
        with self._database.reader.connect() as connection, connection.begin():
            return current_owner(connection)


def _changes(connection: Connection) -> int:
    """Rows ever changed through an SQLite connection."""
    driver = driver_of(connection)
    return driver.total_changes if driver else 0
