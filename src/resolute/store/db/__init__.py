"""SQLAlchemy adapters of the database ports."""
