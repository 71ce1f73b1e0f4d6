"""Run by alembic. The connection is handed in by `store.db.schema`; nothing is configured from files.

To write a revision after changing `tables.py`: see docs/dev/store.md.
"""

from typing import Any, Literal

from alembic import context
from sqlalchemy.types import TypeDecorator

from resolute.store.db import tables


def render_item(kind: str, item: Any, autogen_context: Any) -> str | Literal[False]:
    """Revisions must not change when our column types do, so they name the plain type underneath."""
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl_instance!r}"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.metadata,
    render_item=render_item,
    # SQLite cannot alter a column; alembic then copies the table.
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
