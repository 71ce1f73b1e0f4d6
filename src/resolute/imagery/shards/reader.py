"""Reads samples of a packed set through a cache of whole shards on this machine.

Several processes may share one cache folder: a shard is fetched by one of them and checked before it gets its name. An
evicted file that somebody still reads stays readable until it is closed.
"""

import fcntl
import hashlib
import os
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import obstore
from obstore.store import ObjectStore

from resolute.domain.errors import InvalidInput, NotFound, Unavailable
from resolute.imagery import coco
from resolute.imagery.files import make_folder
from resolute.imagery.locations import exists, explained, open_place
from resolute.imagery.shards.index import ANNOTATIONS, INDEX, Index, Shard, decode

CACHE_BYTES = 8 << 30
_OPEN_FILES = 16
_CHUNK = 8 << 20
_TRIES = 3
_ABANDONED_S = 3600.0
"""A file that has been on its way for so long belongs to a process that died."""


class ShardReader:
    """`read(i)` gives the encoded bytes of sample i. May be pickled to worker processes; thread-safe."""

    def __init__(self, url: str, *, cache: Path, cache_bytes: int = CACHE_BYTES, ahead: int = 2) -> None:
        """`ahead`: how many shards are fetched before they are needed, once `plan` has told the order."""
        self.url = url
        self._cache_root = Path(cache)
        self._cache_bytes = cache_bytes
        self._ahead = ahead
        with explained(url):
            store = open_place(url, is_writing=False)
            if not exists(store, INDEX):
                raise NotFound(f"There is no packed set at {url}: it has no {INDEX}. `resolute data pack` writes one.")
            text = bytes(obstore.get(store, INDEX).bytes())
        self.index: Index = decode(text, url)
        largest = max((shard.size for shard in self.index.shards), default=0)
        if largest > cache_bytes:
            raise InvalidInput(
                f"The cache of {cache_bytes} bytes is smaller than a shard of {url} ({largest} bytes). Enlarge it, or "
                "pack the set into smaller shards."
            )
        self.folder = make_folder(self._cache_root / hashlib.sha256(text).hexdigest()[:16])
        self._plan: list[int] = []
        self._start()

    def __len__(self) -> int:
        return len(self.index.samples)

    def annotations(self) -> coco.Dataset:
        with explained(self.url):
            text = bytes(obstore.get(self._store(), ANNOTATIONS).bytes())
        return coco.decode(text, f"{self.url}/{ANNOTATIONS}")

    def plan(self, order: Sequence[int]) -> None:
        """The order in which samples will be asked for, so that shards can be fetched ahead."""
        shards = (self.index.samples[index].shard for index in order)
        self._plan = list(dict.fromkeys(shards))

    def read(self, index: int) -> bytes:
        """Raises Unavailable when the store does not answer or the bytes are not what was packed."""
        sample = self.index.samples[index]
        for _ in range(2):
            content = self._bytes(sample.shard, sample.length, sample.offset)
            if zlib.crc32(content) == sample.crc32:
                self._fetch_ahead(sample.shard)
                return content
            self._discard(sample.shard)  # a damaged file in the cache is fetched again, once
        raise Unavailable(
            f"{sample.file_name} in {self.index.shards[sample.shard].name} of {self.url} differs from what was packed. "
            "Pack the set again from good images."
        )

    def __enter__(self) -> "ShardReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._guard:
            while self._files:
                self._files.popitem()[1].close()

    # ------------------------------------------------------------------------------------------------ the cache

    def _start(self) -> None:
        self._guard = threading.RLock()
        self._files: OrderedDict[int, BinaryIO] = OrderedDict()
        self._fetching: dict[int, Future[None]] = {}
        self._pool = ThreadPoolExecutor(max(1, self._ahead), thread_name_prefix="shards")
        self._opened: ObjectStore | None = None

    def __getstate__(self) -> dict[str, object]:
        kept = ("url", "index", "folder", "_cache_root", "_cache_bytes", "_ahead", "_plan")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._start()

    def _store(self) -> ObjectStore:
        if self._opened is None:
            self._opened = open_place(self.url, is_writing=False)
        return self._opened

    def _bytes(self, number: int, length: int, offset: int) -> bytes:
        for _ in range(_TRIES):
            # Read under the guard: no other thread may close the file meanwhile.
            with suppress(FileNotFoundError), self._guard:
                return os.pread(self._file(number).fileno(), length, offset)
            with self._guard:
                future = self._fetching.get(number)
            if future is not None:
                future.result()
            else:
                self._fetch(number)
        raise Unavailable(
            f"{self._path(number)} is taken away as soon as it is fetched. Give the cache more room than one shard."
        )

    def _file(self, number: int) -> BinaryIO:
        """Raises FileNotFoundError when it is not in the cache."""
        file = self._files.get(number)
        if file is None:
            file = self._path(number).open("rb")
            os.utime(file.fileno())  # last used now
            self._files[number] = file
            if len(self._files) > _OPEN_FILES:
                self._files.popitem(last=False)[1].close()
        self._files.move_to_end(number)
        return file

    def _fetch_ahead(self, current: int) -> None:
        if current not in self._plan or not self._ahead:
            return
        place = self._plan.index(current)
        for number in self._plan[place + 1 : place + 1 + self._ahead]:
            with self._guard:
                if number in self._fetching or number in self._files or self._path(number).exists():
                    continue
                self._fetching[number] = self._pool.submit(self._fetch_quietly, number)

    def _fetch_quietly(self, number: int) -> None:
        """Ahead of time nothing is lost by a failure: whoever needs the shard tries again and says what is wrong."""
        try:
            with suppress(Exception):
                self._fetch(number)
        finally:
            with self._guard:
                self._fetching.pop(number, None)

    def _fetch(self, number: int) -> None:
        shard = self.index.shards[number]
        with _locked(self.folder / f"{shard.name}.lock"):
            if self._path(number).exists():
                return
            beside = self.folder / f"{shard.name}.{os.getpid()}.part"
            self._reserve(beside, shard.size)
            with explained(self.url):
                self._download(shard, beside)
            os.replace(beside, self._path(number))

    def _download(self, shard: Shard, target: Path) -> None:
        for _ in range(_TRIES):
            digest = hashlib.sha256()
            with target.open("r+b") as out:
                for chunk in obstore.get(self._store(), shard.name).stream(min_chunk_size=_CHUNK):
                    digest.update(chunk)
                    out.write(chunk)
            if digest.hexdigest() == shard.sha256:
                return
        target.unlink(missing_ok=True)
        raise Unavailable(f"{shard.name} of {self.url} differs from its index (sha256). Pack the set again.")

    def _reserve(self, target: Path, size: int) -> None:
        """Take away the shards not used for longest, of any set in this cache, until `size` bytes fit, and make
        `target` so large at once: whoever fetches at the same time counts it."""
        with _locked(self._cache_root / "cache.lock"):
            held = []
            for path in (*self._cache_root.glob("*/shard-*.bin"), *self._cache_root.glob("*/shard-*.part")):
                with suppress(FileNotFoundError):
                    status = path.stat()
                    held.append((status.st_mtime, status.st_size, path))
            total = sum(entry[1] for entry in held) + size
            for used, length, path in sorted(held, key=lambda entry: entry[0]):
                if total <= self._cache_bytes:
                    break
                if path.suffix == ".bin" or used < time.time() - _ABANDONED_S:
                    path.unlink(missing_ok=True)
                    total -= length
            with target.open("wb") as out:
                out.truncate(size)

    def _discard(self, number: int) -> None:
        with self._guard:
            file = self._files.pop(number, None)
        if file is not None:
            file.close()
        self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / self.index.shards[number].name


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
