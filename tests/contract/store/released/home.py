"""Makes a database as an earlier release left it: its own migrations, and the rows that it wrote."""

import json
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Boolean, MetaData, create_engine, insert

from resolute.store.db.schema import MIGRATIONS

Rows = dict[str, list[dict[str, Any]]]
HOME = Path(__file__).with_name("home-0004.json")


def read_home() -> Rows:
    """By table."""
    rows: Rows = json.loads(HOME.read_text())
    return rows


def write_home(url: str, rows: Rows | None = None) -> None:
    """Into an empty database."""
    content = rows or read_home()
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0004")
        known = MetaData()
        known.reflect(connection)
        for table in known.sorted_tables:
            flags = {column.name for column in table.columns if isinstance(column.type, Boolean)}
            for row in content.get(table.name, []):
                connection.execute(
                    insert(table), {key: bool(value) if key in flags else value for key, value in row.items()}
                )
    engine.dispose()
