"""The tables of this release, and the revisions that lead to them, are the same thing."""

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, text

from resolute.domain.errors import Unavailable
from resolute.store.db import open_store, tables
from resolute.store.db.schema import HEAD, MIGRATIONS


@pytest.fixture
def engine(empty_database: str) -> Engine:
    return create_engine(empty_database.replace("postgresql://", "postgresql+psycopg://"))


def test_revisions_from_nothing_give_the_tables_of_this_release(engine: Engine) -> None:
    with engine.begin() as connection:
        command.upgrade(_config(connection), "head")

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, tables.metadata)
    engine.dispose()

    assert differences == []


def test_revisions_can_be_undone(engine: Engine) -> None:
    with engine.begin() as connection:
        command.upgrade(_config(connection), "head")

        command.downgrade(_config(connection), "base")

        context = MigrationContext.configure(connection)
        left = {item[1].name for item in compare_metadata(context, tables.metadata) if item[0] == "add_table"}
    engine.dispose()
    assert left == set(tables.metadata.tables)


def test_the_head_that_is_written_into_fresh_databases_is_the_newest_revision() -> None:
    scripts = ScriptDirectory(str(MIGRATIONS))

    assert scripts.get_current_head() == HEAD


def test_a_database_of_a_newer_release_is_refused_with_what_to_do(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/db.sqlite3"
    open_store(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()

    with pytest.raises(Unavailable, match=r"has schema 9999.*Install that version"):
        open_store(url)


def _config(connection: object) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def test_a_database_of_another_program_is_refused_with_a_sentence(empty_database: str) -> None:
    engine = create_engine(empty_database.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER)"))
    engine.dispose()

    with pytest.raises(Unavailable, match=r"has tables \(users, ...\) but no schema number"):
        open_store(empty_database)
