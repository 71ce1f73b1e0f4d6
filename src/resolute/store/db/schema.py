"""Brings a database to the schema of this release, and puts in what every platform starts with.

A fresh database gets the tables at once; alembic is imported only when an older one has to be upgraded.
"""

import uuid
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, insert, inspect, text

from resolute.domain.errors import Unavailable
from resolute.store.db import tables
from resolute.store.db.writing import Writer

HEAD = "0013"
"""The newest revision under `migrations/versions`; a test compares the two."""
MIGRATIONS = Path(__file__).parent / "migrations"


def prepare(writer: Writer, place: str) -> None:
    """Create, upgrade or accept the database. Safe when two processes do it at once: the second waits."""
    with writer.transaction() as connection:
        revision = _revision(connection)
        if revision == HEAD:
            return
        if revision is None:
            _refuse_strangers(connection, place)
            _create(connection)
            return
        _upgrade(connection, revision, place)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return revision


def _refuse_strangers(connection: Connection, place: str) -> None:
    """Tables that Resolute made always come with its schema's number."""
    taken = sorted(set(inspect(connection).get_table_names()) & set(tables.metadata.tables))
    if taken:
        raise Unavailable(
            f"The database {place} has tables ({', '.join(taken[:3])}, ...) but no schema number (alembic_version): it "
            "belongs to another program, or was restored in part. Restore all of it, or point --db at another database."
        )


def _create(connection: Connection) -> None:
    tables.metadata.create_all(connection, checkfirst=False)
    connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": HEAD})
    seed(connection)


def seed(connection: Connection) -> None:
    """Users, home workspace and project, and the id of this cluster."""
    now = datetime.now(UTC)
    people = [("admin", True), ("determined", False)]
    connection.execute(insert(tables.users), [_user(name, is_admin, now) for name, is_admin in people])
    home = {"name": "Uncategorized", "user_id": 1, "is_archived": False, "is_immutable": True, "created_at": now}
    connection.execute(insert(tables.workspaces), {**home, "is_pinned": False, "checkpoint_storage": None})
    project = {**home, "workspace_id": 1, "key": "UNCAT", "description": "", "notes": ()}
    connection.execute(insert(tables.projects), project)
    connection.execute(insert(tables.settings), {"key": "cluster_id", "value": str(uuid.uuid4())})


def _user(username: str, is_admin: bool, now: datetime) -> dict[str, object]:
    return {
        "username": username,
        "is_admin": is_admin,
        "is_active": True,
        "is_remote": False,
        "display_name": "",
        "password_hash": "",
        "modified_at": now,
        "last_auth_at": None,
    }


def _upgrade(connection: Connection, revision: str, place: str) -> None:
    # Slow to import and needed once per release: not at the top.
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise Unavailable(
            f"The database {place} has schema {revision}, which this release (schema {HEAD}) does not know: {error}. "
            "It was probably written by a newer Resolute. Install that version, or point --db at another database."
        ) from error
