"""What changed, and how far each follower has read."""

from sqlalchemy import BigInteger, Column, Integer, Table, Text

from resolute.domain.change import Action, Via
from resolute.store.db.columns import Choice, Document, Moment
from resolute.store.db.tables.base import metadata

# Only the primary key is an index: every change pays for each further one, and whoever looks into the past reads back
# from the newest.
changes = Table(
    "changes",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("action", Choice(Action), nullable=False),
    Column("kind", Text, nullable=False),
    Column("thing_id", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("workspace_id", Integer),
    Column("from_state", Text, nullable=False),
    Column("to_state", Text, nullable=False),
    Column("user_id", Integer),
    Column("actor", Text, nullable=False),
    Column("via", Choice(Via), nullable=False),
    Column("address", Text, nullable=False),
    Column("user_agent", Text, nullable=False),
    Column("detail", Document),
    # A number is never given again, also when all rows were swept.
    sqlite_autoincrement=True,
)

followers = Table(
    "followers",
    metadata,
    Column("name", Text, primary_key=True),
    # The number of the last change that it has read, but for those of held things.
    Column("cursor", BigInteger, nullable=False),
)

# Things of which a follower could not take a change: they wait, while it reads on.
held_things = Table(
    "held_things",
    metadata,
    Column("follower", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("thing_id", Text, primary_key=True),
    # The first change that it has not taken.
    Column("seq", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("not_before", Moment, nullable=False),
)
