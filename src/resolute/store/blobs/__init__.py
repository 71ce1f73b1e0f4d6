"""Checkpoint files in local folders and object stores, through obstore. No database and no training code."""

from resolute.store.blobs.guard import Guard
from resolute.store.blobs.storage import ObjectBlobs, open_blobs

__all__ = ["Guard", "ObjectBlobs", "open_blobs"]
