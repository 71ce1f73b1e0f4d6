"""The database behind `engine.ports.database.Store`: SQLite in a file, or PostgreSQL by URL.

Rows stay in here; domain objects go in and out. `open_store` is the one door.
"""

from resolute.store.db.database import DatabaseStore, open_store

__all__ = ["DatabaseStore", "open_store"]
