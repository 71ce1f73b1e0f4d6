"""`data push` and `data pull`: a folder to and from local folders, S3, GCS and Azure, in parallel and checked.

Both may be stopped and started again: what has arrived, by sha256, is not moved again.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import ObjectStore

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery import manifest as manifests
from resolute.imagery.files import existing_folder, make_folder
from resolute.imagery.locations import exists, explained, first_line, open_place
from resolute.imagery.manifest import MANIFEST, PARTIAL, StoredFile
from resolute.imagery.workers import Progress

_JOURNAL_EVERY = 256
_CHUNK = 8 << 20


@dataclass
class TransferResult:
    moved: int = 0
    skipped: int = 0
    moved_bytes: int = 0
    failures: list[str] = field(default_factory=list)


def push(folder: Path, url: str, *, workers: int = 16, on_progress: Progress = lambda _: None) -> TransferResult:
    """The manifest is written last, and only when every file has arrived."""
    root = existing_folder(folder)
    paths = manifests.files_of(root)
    if not paths:
        raise InvalidInput(f"{folder} holds no file. There is nothing to push.")
    with explained(url):
        store = open_place(url, is_writing=True)
        there = _already_there(store)
        result, files = TransferResult(), []
        for outcome in _in_threads(lambda path: _push_one(store, root, path, there), paths, workers):
            on_progress(1)
            _count(result, outcome)
            if isinstance(outcome, str):
                continue
            files.append(outcome[0])
            if result.moved and len(files) % _JOURNAL_EVERY == 0:
                obstore.put(store, PARTIAL, manifests.encode(files))
        # A file that was there before and is not in this push keeps its place only in the store, not in the set.
        obstore.put(store, PARTIAL if result.failures else MANIFEST, manifests.encode(files))
        if not result.failures and exists(store, PARTIAL):
            obstore.delete(store, [PARTIAL])
        return result


def pull(url: str, folder: Path, *, workers: int = 16, on_progress: Progress = lambda _: None) -> TransferResult:
    """Every file is checked against the manifest before it gets its name."""
    with explained(url):
        store = open_place(url, is_writing=False)
        try:
            text = bytes(obstore.get(store, MANIFEST).bytes())
        except (NotFoundError, FileNotFoundError):
            raise NotFound(
                f"There is no set at {url}: it has no {MANIFEST}. Check the address; `resolute data push` writes one."
            ) from None
        wanted = manifests.decode(text, url).files
        root = make_folder(folder)
        result = TransferResult()
        for outcome in _in_threads(lambda file: _pull_one(store, root, file), wanted, workers):
            on_progress(1)
            _count(result, outcome)
        return result


_Outcome = tuple[StoredFile, bool] | str
"""The file and whether it was moved, or why it could not be."""


def _push_one(store: ObjectStore, root: Path, path: Path, there: dict[str, StoredFile]) -> _Outcome:
    file = manifests.describe(root, path)
    if there.get(file.path) == file:
        return file, False
    obstore.put(store, file.path, path)
    return file, True


def _pull_one(store: ObjectStore, root: Path, file: StoredFile) -> _Outcome:
    target = root / file.path
    if target.is_file() and target.stat().st_size == file.size and manifests.describe(root, target) == file:
        return file, False
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.part")
    # A second try: a flipped bit on the way is rare, and a damaged object stays damaged.
    for _ in range(2):
        if _download(store, file.path, beside) == file.sha256:
            os.replace(beside, target)
            return file, True
    beside.unlink()
    return f"{file.path} differs from the manifest (sha256). Push it again from a good copy."


def _download(store: ObjectStore, key: str, target: Path) -> str:
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for chunk in obstore.get(store, key).stream(min_chunk_size=_CHUNK):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()


def _in_threads(function: Callable[[Any], _Outcome], items: Iterable[Any], workers: int) -> Iterator[_Outcome]:
    def guarded(item: Any) -> _Outcome:
        try:
            return function(item)
        except (BaseError, OSError) as problem:
            return f"{getattr(item, 'path', item)}: {first_line(problem)}"

    with ThreadPoolExecutor(max(1, workers)) as pool:
        futures = [pool.submit(guarded, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def _count(result: TransferResult, outcome: _Outcome) -> None:
    if isinstance(outcome, str):
        result.failures.append(outcome)
    elif outcome[1]:
        result.moved += 1
        result.moved_bytes += outcome[0].size
    else:
        result.skipped += 1


def _already_there(store: ObjectStore) -> dict[str, StoredFile]:
    """Files that an earlier push brought, and that still have their size in the store."""
    known: dict[str, StoredFile] = {}
    for name in (MANIFEST, PARTIAL):
        if exists(store, name):
            known |= manifests.decode(bytes(obstore.get(store, name).bytes()), name).by_path()
    sizes = {entry["path"]: entry["size"] for chunk in obstore.list(store) for entry in chunk} if known else {}
    return {path: file for path, file in known.items() if sizes.get(path) == file.size}
