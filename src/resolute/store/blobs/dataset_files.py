"""`engine.ports.registry.DatasetFiles` over a folder, S3, GCS or Azure. Reads only; creates nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, ObjectStore

from resolute.domain.errors import InvalidInput, NotFound, Unavailable
from resolute.store.blobs.guard import Guard
from resolute.store.blobs.open import open_object_store
from resolute.store.blobs.paths import check_path

_SECTIONS = {"s3": ("s3", "bucket"), "gs": ("gcs", "bucket"), "az": ("azure", "container")}
"""Scheme of an address to the kind of store and the key that names its root."""


def open_dataset_files(uri: str, *, guard: Guard | None = None) -> "ObjectFiles":
    """`guard`: of a master that opens it for others."""
    scheme, separator, rest = uri.partition("://")
    if not separator or scheme == "file":
        return ObjectFiles(_folder(rest if separator else uri), uri, guard)
    if scheme not in _SECTIONS:
        raise InvalidInput(f"{uri} cannot be opened. Give an absolute folder, or an address of s3://, gs:// or az://.")
    kind, root_key = _SECTIONS[scheme]
    root, _, prefix = rest.partition("/")
    storage: dict[str, object] = {"type": kind, root_key: root, "prefix": prefix}
    if kind == "s3":
        # Stores that speak S3 are named by the environment, as the tools of the clouds do.
        storage["endpoint_url"] = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return ObjectFiles(open_object_store(storage)[0], uri)


def _folder(text: str) -> LocalStore:
    path = Path(text)
    if not path.is_absolute():
        raise InvalidInput(f"The folder {text!r} is relative, and the master would look elsewhere. Give a whole path.")
    if not path.is_dir():
        raise NotFound(f"There is no folder {text} on the master's machine. Was it moved?")
    return LocalStore(path)


class ObjectFiles:
    """`place` names the store for people. Thread-safe."""

    def __init__(self, store: ObjectStore, place: str, guard: Guard | None = None) -> None:
        self._store = store
        self._place = place
        self._guard = guard

    def read(self, path: str, *, size: int) -> bytes:
        prefix = self._store.prefix if isinstance(self._store, LocalStore) else None
        if self._guard is not None and prefix is not None:
            self._guard.check(Path(prefix), check_path(path))
        with self._translated(path):
            found = obstore.get(self._store, check_path(path))
            if found.meta["size"] != size:
                raise NotFound(
                    f"{path} in {self._place} has {found.meta['size']} bytes; {size} were registered. It has changed: "
                    "register the set as a new version."
                )
            return bytes(found.bytes())

    @contextmanager
    def _translated(self, path: str) -> Iterator[None]:
        try:
            yield
        except (NotFoundError, FileNotFoundError):
            raise NotFound(
                f"{path} is not in {self._place} any more. Put it back, or register a new version."
            ) from None
        except (BaseError, OSError) as problem:
            reason = (str(problem).strip().splitlines() or [type(problem).__name__])[0][:300]
            raise Unavailable(f"{self._place} cannot be read: {reason}. Check the address and the keys.") from problem
