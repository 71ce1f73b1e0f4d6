"""Adapters for what must last: database, logs, blobs."""
