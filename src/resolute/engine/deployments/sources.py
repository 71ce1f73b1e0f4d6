"""A revision's files, brought to this machine once: a checkpoint from its storage, an archive from a URL.

Runs on threads of its own: a download takes as long as it takes, and no pass of the engine waits for it.
"""

import hashlib
import ipaddress
import logging
import shutil
import socket
import threading
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPMessage
from pathlib import Path
from typing import IO
from urllib.request import Request

from resolute.domain.checkpoint import Checkpoint
from resolute.domain.deployment import Revision
from resolute.domain.errors import CheckpointDamaged, InvalidInput, NotFound, ResoluteError, Unavailable
from resolute.engine.platform import Platform

log = logging.getLogger(__name__)

BUCKETS = {"s3://": "s3", "gs://": "gcs"}
"""Addresses of object stores, and their type as `checkpoint_storage` names it."""
_CHUNK = 1 << 20
_LARGEST_DOWNLOAD = 64 << 30
_DONE = ".complete"


def source_folder(home: Path, revision: Revision) -> Path:
    """Where a replica finds the model: a folder here, or the path that the user named."""
    if revision.checkpoint_uuid is not None:
        return home / "served" / revision.checkpoint_uuid
    if is_remote(revision.source):
        return _url_folder(home, revision.source) / _file_name(revision.source)
    return Path(revision.source)


def is_fetched(revision: Revision) -> bool:
    """It was brought to this machine, and is brought from here to others; a path is taken to be the same everywhere."""
    return revision.checkpoint_uuid is not None or is_remote(revision.source)


def is_remote(source: str) -> bool:
    """A URL, or a folder or file of an object store."""
    return source.startswith(("http://", "https://", *BUCKETS))


def check_bucket(uri: str) -> None:
    """Raises InvalidInput for an address of an object store that names no folder or file in it."""
    if uri.startswith(tuple(BUCKETS)) and not all(_bucket_parts(uri)):
        raise InvalidInput(f"modelUri: {uri!r} names a bucket and nothing in it. Add the folder or file of the model.")


class Sources:
    """Fetches in the background and remembers how it went."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._lock = threading.Lock()
        self._results: dict[str, str | None] = {}
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="served")

    def state(self, revision: Revision) -> str | None:
        """Empty: it is here. None: on its way (asking starts it). Otherwise why it cannot be had."""
        if self._is_here(revision):
            return ""
        with self._lock:
            if revision.source not in self._results:
                self._results[revision.source] = None
                self._pool.submit(self._fetch, revision)
            return self._results[revision.source]

    def forget(self, revision: Revision) -> None:
        """A failed one is tried again when it is next asked for."""
        with self._lock:
            if self._results.get(revision.source):
                del self._results[revision.source]

    def prune(self, served: Iterable[Revision]) -> None:
        """Remove what no revision is served from any more."""
        folder = self._platform.config.home / "served"
        kept = {_root(self._platform.config.home, revision) for revision in served}
        for path in folder.iterdir() if folder.is_dir() else ():
            if path not in kept and (path / _DONE).exists():
                shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _is_here(self, revision: Revision) -> bool:
        root = _root(self._platform.config.home, revision)
        return root is None or (root / _DONE).exists()

    def _fetch(self, revision: Revision) -> None:
        try:
            fetch(self._platform, revision)
            result: str | None = ""
        except ResoluteError as error:
            result = str(error)
        except Exception as error:
            log.exception("the files of %s could not be fetched", revision.source)
            result = f"the files of {revision.source} could not be fetched: {error}"
        with self._lock:
            if result:
                self._results[revision.source] = result
            else:
                self._results.pop(revision.source, None)
        self._platform.bus.publish("deployments")


def fetch(platform: Platform, revision: Revision) -> None:
    """Bring the files here, whole or not at all."""
    root = _root(platform.config.home, revision)
    if root is None or (root / _DONE).exists():
        return
    draft = root.with_name(f".{root.name}.{uuid.uuid4().hex[:8]}")
    draft.mkdir(parents=True)
    try:
        if revision.checkpoint_uuid is not None:
            with platform.store.read() as tx:
                checkpoint = tx.checkpoints.get(revision.checkpoint_uuid)
            _download_checkpoint(platform, checkpoint, draft)
        elif revision.source.startswith(tuple(BUCKETS)):
            _download_bucket(platform, revision.source, draft / _file_name(revision.source))
        else:
            _download_url(revision.source, draft / _file_name(revision.source))
        (draft / _DONE).touch()
        shutil.rmtree(root, ignore_errors=True)
        draft.replace(root)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _download_checkpoint(platform: Platform, checkpoint: Checkpoint, target: Path) -> None:
    if not checkpoint.storage:
        raise InvalidInput(f"Checkpoint {checkpoint.uuid} has no storage on record; its files cannot be found.")
    platform.blobs(checkpoint.storage).download(checkpoint.uuid, target)
    for path, size in checkpoint.resources.items():
        if path.endswith("/"):
            continue
        file = target / path
        if not file.is_file() or file.stat().st_size != size:
            raise CheckpointDamaged(
                f"Checkpoint {checkpoint.uuid} is damaged: {path} is missing or has another size. Deploy another one."
            )
        digest = (checkpoint.digests or {}).get(path)
        if digest and _digest(file) != digest:
            raise CheckpointDamaged(
                f"Checkpoint {checkpoint.uuid} is damaged: the content of {path} has changed. Deploy another one."
            )


def _download_bucket(platform: Platform, uri: str, target: Path) -> None:
    """A folder with all that is in it, or one file. Whose keys: the master's, as its environment has them."""
    bucket, place = _bucket_parts(uri)
    folder, _, name = place.rpartition("/")
    store = {"type": BUCKETS[uri.partition("//")[0] + "//"], "bucket": bucket}
    blobs = platform.blobs({**store, "prefix": folder})
    files = blobs.files(name)
    if sum(files.values()) > _LARGEST_DOWNLOAD:
        raise InvalidInput(f"{uri} is larger than {_LARGEST_DOWNLOAD >> 30} GiB; deploy from a folder.")
    if files:
        blobs.download(name, target, list(files))
        return
    above, _, inner = folder.rpartition("/")
    if not inner:
        raise NotFound(f"There is nothing under {uri}, and no file of its own in a folder. Check the address.")
    platform.blobs({**store, "prefix": above}).download(inner, target.parent, [name])


def _bucket_parts(uri: str) -> tuple[str, str]:
    bucket, _, place = uri.partition("//")[2].partition("/")
    return bucket, place.strip("/")


def _download_url(url: str, target: Path) -> None:
    try:
        require_fetchable(url)
        with _OPENER.open(url, timeout=60) as answer, target.open("wb") as file:
            size = 0
            while chunk := answer.read(_CHUNK):
                size += len(chunk)
                if size > _LARGEST_DOWNLOAD:
                    raise InvalidInput(f"{url} is larger than {_LARGEST_DOWNLOAD >> 30} GiB; deploy from a folder.")
                file.write(chunk)
    except OSError as error:
        raise Unavailable(f"{url} cannot be downloaded: {error}.") from error


def require_fetchable(url: str) -> None:
    """Raises InvalidInput for an address that only this machine's own link knows: clouds hand out their keys there."""
    parsed = urllib.parse.urlsplit(url)
    try:
        found = socket.getaddrinfo(parsed.hostname or "", parsed.port or 80, type=socket.SOCK_STREAM)
    except (OSError, ValueError, UnicodeError) as error:
        raise Unavailable(f"{url} cannot be downloaded: its host is not found ({error}).") from error
    for *_, address in found:
        ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
        ip = getattr(ip, "ipv4_mapped", None) or ip
        if ip.is_link_local or ip.is_unspecified or ip.is_multicast:
            raise InvalidInput(f"{url} leads to {ip}, from which no models are fetched. Give another address.")


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        require_fetchable(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _root(home: Path, revision: Revision) -> Path | None:
    """The folder that is filled for it; None when it is served from where it lies."""
    if revision.checkpoint_uuid is not None:
        return home / "served" / revision.checkpoint_uuid
    return _url_folder(home, revision.source) if is_remote(revision.source) else None


def _url_folder(home: Path, url: str) -> Path:
    return home / "served" / hashlib.sha256(url.encode()).hexdigest()[:32]


def _file_name(url: str) -> str:
    name = Path(urllib.parse.unquote(urllib.parse.urlsplit(url).path)).name
    return name if name and not name.startswith(".") else "model"
