"""`engine.ports.blobs.Blobs` over any store that obstore opens.

A file is whole or not there: object stores put at once, the local store writes beside and renames. Several files
move at the same time; obstore does its work without the interpreter lock.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, UnauthenticatedError
from obstore.store import LocalStore, ObjectStore

from resolute.domain.errors import NotFound, Unavailable
from resolute.store.blobs.guard import Guard
from resolute.store.blobs.open import open_object_store
from resolute.store.blobs.paths import check_path, check_uuid, matching

if TYPE_CHECKING:
    from obstore import GetResult  # there for the type checker only

T = TypeVar("T")
R = TypeVar("R")
_PARALLEL_FILES = 16
_CHUNK = 8 * 1024 * 1024
_PARTIAL = ".partial"


def open_blobs(storage: dict[str, object], *, guard: Guard | None = None) -> "ObjectBlobs":
    """The store that a `checkpoint_storage` section describes; raises InvalidInput when it describes none. `guard`: of
    a master that opens it for others."""
    store, place = open_object_store(storage)
    return ObjectBlobs(store, place, guard)


class ObjectBlobs:
    """Files of checkpoints under `<uuid>/`. `place` names the store for people. Thread-safe."""

    def __init__(self, store: ObjectStore, place: str, guard: Guard | None = None) -> None:
        self._store = store
        self._place = place
        self._guard = guard

    def files(self, uuid: str) -> dict[str, int]:
        prefix = f"{check_uuid(uuid)}/"
        self._look_at(uuid)
        with self._translated(uuid):
            listed = [meta for batch in obstore.list(self._store, prefix=prefix) for meta in batch]
        return {meta["path"].removeprefix(prefix): meta["size"] for meta in sorted(listed, key=lambda m: m["path"])}

    def read(self, uuid: str, path: str) -> Iterator[bytes]:
        """Opened at once, so that a missing file is known before the first chunk is asked for."""
        key = self._look_at(_key(uuid, path))
        with self._translated(key):
            found = obstore.get(self._store, key)
        return self._chunks(key, found)

    def digest(self, uuid: str, path: str) -> str:
        digest = hashlib.sha256()
        for chunk in self.read(uuid, path):
            digest.update(chunk)
        return digest.hexdigest()

    def write(self, uuid: str, path: str, content: bytes) -> None:
        key = self._look_at(_key(uuid, path))
        with self._translated(key):
            obstore.put(self._store, key, content)

    def upload(self, uuid: str, source: Path, paths: Sequence[str] | None = None) -> dict[str, int]:
        names = _files_under(source) if paths is None else [path for path in paths if not path.endswith("/")]
        for name in names:
            if not (source / check_path(name)).is_file():
                raise NotFound(f"There is no file {name!r} in {source} to upload. Check the path.")

        def put(name: str) -> int:
            key = _key(uuid, name)
            with self._translated(key):
                obstore.put(self._store, key, source / name)
            return (source / name).stat().st_size

        return dict(zip(names, _in_parallel(put, names), strict=True))

    def download(self, uuid: str, target: Path, paths: Sequence[str] | None = None) -> None:
        names = list(self.files(uuid)) if paths is None else [path for path in paths if not path.endswith("/")]
        if not names and paths is None:
            raise NotFound(f"Checkpoint {uuid} has no files in {self._place}. It may have been deleted.")

        def get(name: str) -> None:
            goal = target / check_path(name)
            goal.parent.mkdir(parents=True, exist_ok=True)
            partial = goal.with_name(goal.name + _PARTIAL)
            with partial.open("wb") as file:
                for chunk in self.read(uuid, name):
                    file.write(chunk)
            partial.replace(goal)

        _in_parallel(get, names)

    def remove(self, uuid: str, globs: Sequence[str] = ("**/*",)) -> dict[str, int]:
        there = self.files(uuid)
        doomed = matching(there, globs)
        with self._translated(uuid):
            if doomed:
                obstore.delete(self._store, [self._look_at(_key(uuid, name)) for name in doomed])
        return {name: size for name, size in there.items() if name not in set(doomed)}

    def _look_at(self, key: str) -> str:
        """`key` itself. Raises NotFound for what its name leads to elsewhere."""
        prefix = self._store.prefix if isinstance(self._store, LocalStore) else None
        if self._guard is not None and prefix is not None:
            self._guard.check(Path(prefix), key)
        return key

    def remove_folder(self, path: str) -> None:
        prefix = check_path(path)
        with self._translated(prefix):
            listed = [meta["path"] for batch in obstore.list(self._store, prefix=f"{prefix}/") for meta in batch]
            if listed:
                obstore.delete(self._store, [self._look_at(each) for each in listed])

    def _chunks(self, key: str, found: "GetResult") -> Iterator[bytes]:
        with self._translated(key):
            for chunk in found.stream(min_chunk_size=_CHUNK):
                yield bytes(chunk)

    @contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        try:
            yield
        except NotFoundError:
            raise NotFound(f"{key} is not in {self._place}. It was deleted, or never written.") from None
        except FileNotFoundError:
            raise NotFound(f"{key} is not in {self._place}. It was deleted, or never written.") from None
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise Unavailable(
                f"{self._place} refused access to {key}: {_reason(error)}. Check the keys and their permissions."
            ) from error
        except (BaseError, OSError) as error:
            raise _unavailable(self._place, key, error) from error


def _unavailable(place: str, key: str, error: Exception) -> Unavailable:
    reason = _reason(error)
    if "No space left" in reason or "os error 28" in reason:
        return Unavailable(f"The disk of {place} is full; {key} was not written. Free some space, then retry.")
    return Unavailable(f"{place} cannot be used for {key}: {reason}. Check that it is there; retry.")


def _reason(error: Exception) -> str:
    """The driver's first line; what follows is its own debugging output."""
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__


def _key(uuid: str, path: str) -> str:
    return f"{check_uuid(uuid)}/{check_path(path)}"


def _files_under(source: Path) -> list[str]:
    found = []
    for folder, _, names in os.walk(source):
        found += [(Path(folder) / name).relative_to(source).as_posix() for name in names]
    return sorted(found)


def _in_parallel(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Results in the order of the items; the first failure is raised once all have ended."""
    todo = list(items)
    if len(todo) <= 1:
        return [work(item) for item in todo]
    with ThreadPoolExecutor(min(_PARALLEL_FILES, len(todo)), thread_name_prefix="blobs") as pool:
        return list(pool.map(work, todo))
