"""`run.checkpoint`: save, restore, and upload in the background, from one rank or from many into one checkpoint.

A checkpoint becomes known to the master only after every file is in the store, so a crash at any moment leaves either
a whole checkpoint or none. What is restored is checked against its manifest first.
"""

import json
import logging
import shutil
import tempfile
import threading
import time
import uuid as uuids
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from resolute.domain.errors import CheckpointDamaged, InvalidInput, NotFound, Unavailable
from resolute.training.checkpoint_files import CheckpointFiles
from resolute.training.environment import Place
from resolute.training.manifest import METADATA_FILE, FileFacts, check_folder, describe_folder
from resolute.training.master import CheckpointRecord, Master
from resolute.training.metrics import check_steps

_log = logging.getLogger("resolute")
_NAMESPACE = uuids.UUID("6f2d1c8e-53a4-4d0b-9c55-0d2f8f6f3a10")
_SHARDS = ".shards"
T = TypeVar("T")

STATE_FILE = "state.pt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A checkpoint brought here and found whole."""

    uuid: str
    path: Path
    steps: int
    metadata: dict[str, Any]

    def load(self, file: str = STATE_FILE) -> Any:
        """What `checkpoint.save` was given. Only tensors and plain values are read: no code runs."""
        from resolute.training.state_file import read_state

        return read_state(self.path / file)


class Checkpoints:
    """One checkpoint is written at a time: a second one waits for the first upload to end."""

    def __init__(
        self,
        *,
        master: Master,
        blobs: CheckpointFiles,
        place: Place,
        name_base: str,
        latest: str | None = None,
        before_report: Callable[[], object] = lambda: None,
        retry_s: float = 1.0,
        shard_timeout_s: float = 600.0,
    ) -> None:
        self._master = master
        self._blobs = blobs
        self._place = place
        self._name_base = name_base
        self._latest = latest
        self._before_report = before_report
        self._retry_s = retry_s
        self._shard_timeout_s = shard_timeout_s
        self._uploader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="resolute-checkpoint")
        self._pending: Future[None] | None = None
        self._snapshots: Any = None
        self._count = 0
        self._scratch: Path | None = None
        self._closing = threading.Event()

    # ------------------------------------------------------------------------------------------------- write

    def save(self, state: Any, *, steps: int, metadata: Mapping[str, Any] | None = None, shard: bool = False) -> str:
        """Copy `state` (nested dicts of tensors and plain values) now; write and upload it in the background.

        With `shard`, every rank calls this and its state goes to `state-rank<N>.pt` of the same checkpoint;
        without, only the chief's does anything. Returns the checkpoint's uuid.
        """
        from resolute.training.snapshot import Snapshots
        from resolute.training.state_file import write_state

        uuid = self._next_uuid(steps)
        if not shard and not self._place.is_chief:
            return uuid
        self.wait()
        self._snapshots = self._snapshots or Snapshots()
        snapshot = self._snapshots.take(state)
        file = STATE_FILE if not shard else f"state-rank{self._place.rank}.pt"

        def write(folder: Path) -> None:
            write_state(snapshot.on_host(), folder / file)

        self._begin(uuid, steps, metadata, shard, write)
        return uuid

    @contextmanager
    def store(
        self, *, steps: int, metadata: Mapping[str, Any] | None = None, shard: bool = False
    ) -> Iterator[tuple[Path, str]]:
        """Write files into the folder given; they are uploaded in the background when the block ends.

        With `shard`, every rank enters the block and writes files of other names. Without, ranks other than the
        chief get a folder too, and what they write is thrown away.
        """
        uuid = self._next_uuid(steps)
        folder = self._new_folder()
        try:
            yield folder, uuid
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if not shard and not self._place.is_chief:
            shutil.rmtree(folder, ignore_errors=True)
            return
        self.wait()
        self._begin(uuid, steps, metadata, shard, lambda target: None, folder)

    def wait(self) -> None:
        """Until the last checkpoint is uploaded and reported. Raises what went wrong with it."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def close(self) -> None:
        try:
            self.wait()
        finally:
            self._closing.set()
            self._uploader.shutdown(wait=True)
            if self._scratch is not None:
                shutil.rmtree(self._scratch, ignore_errors=True)

    def abandon(self) -> None:
        """Give up on retries: the run was replaced."""
        self._closing.set()

    # -------------------------------------------------------------------------------------------------- read

    def restore(self, uuid: str | None = None) -> Restored | None:
        """Bring `uuid`, or the newest checkpoint of this trial, here. None when there is none.

        Without `uuid`, a damaged checkpoint is skipped, loudly, for the one before it.
        """
        if uuid is not None:
            return self._fetch(self._retrying(lambda: self._master.checkpoint(uuid)))
        for record in self._candidates():
            try:
                return self._fetch(record)
            except (CheckpointDamaged, NotFound) as error:
                _log.error("%s The checkpoint before it is used instead.", error)
        return None

    def _candidates(self) -> Iterator[CheckpointRecord]:
        if self._latest is None:
            return
        latest = self._latest
        seen = set()
        try:
            record = self._retrying(lambda: self._master.checkpoint(latest))
            seen.add(record.uuid)
            yield record
        except NotFound as error:
            _log.error("%s", error)
        yield from (r for r in self._retrying(self._master.checkpoints) if r.uuid not in seen)
        _log.error("No checkpoint of this trial could be restored; it starts from the beginning.")

    def _fetch(self, record: CheckpointRecord) -> Restored:
        folder = self._new_folder()
        stored = self._retrying(lambda: self._blobs.files(record.uuid))
        expected = {path: size for path, size in record.resources.items() if not path.endswith("/")}
        missing = sorted(set(expected) - set(stored))
        if missing:
            raise CheckpointDamaged(f"Checkpoint {record.uuid} is damaged: {', '.join(missing)} missing in the store.")
        self._retrying(lambda: self._blobs.download(record.uuid, folder, sorted(expected) or None))
        check_folder(record.uuid, folder, expected, record.digests)
        return Restored(uuid=record.uuid, path=folder, steps=record.steps, metadata=record.metadata)

    # ---------------------------------------------------------------------------------------------- uploading

    def _next_uuid(self, steps: int) -> str:
        """All ranks call in the same order with the same steps, so all get the same name without talking."""
        check_steps(steps)
        self._count += 1
        return str(uuids.uuid5(_NAMESPACE, f"{self._name_base}/{self._count}/{steps}"))

    def _begin(
        self,
        uuid: str,
        steps: int,
        metadata: Mapping[str, Any] | None,
        shard: bool,
        write: Callable[[Path], None],
        folder: Path | None = None,
    ) -> None:
        facts = _checked_metadata(metadata, steps)

        def work() -> None:
            target = folder or self._new_folder()
            try:
                write(target)
                self._upload(uuid, steps, facts, shard, target)
            finally:
                shutil.rmtree(target, ignore_errors=True)

        self._pending = self._uploader.submit(work)

    def _upload(self, uuid: str, steps: int, metadata: dict[str, Any], shard: bool, folder: Path) -> None:
        if self._place.is_chief:
            (folder / METADATA_FILE).write_text(json.dumps(metadata, indent=2))
        files = describe_folder(folder)
        if files:
            self._retrying(lambda: self._blobs.upload(uuid, folder))
        if shard and self._place.size > 1:
            self._post_shard(uuid, files)
            if not self._place.is_chief:
                return
            files = self._gather_shards(uuid)
        self._before_report()
        record = CheckpointRecord(
            uuid=uuid,
            steps=steps,
            resources={path: facts.size for path, facts in files.items()},
            digests={path: facts.sha256 for path, facts in files.items()},
            metadata=metadata,
        )
        self._retrying(lambda: self._master.send_checkpoint(record))

    def _post_shard(self, uuid: str, files: Mapping[str, FileFacts]) -> None:
        content = json.dumps({path: [facts.size, facts.sha256] for path, facts in files.items()}).encode()
        self._retrying(lambda: self._blobs.write(uuid, f"{_SHARDS}/rank-{self._place.rank}.json", content))

    def _gather_shards(self, uuid: str) -> dict[str, FileFacts]:
        """The store itself is the meeting point of the ranks: no port to open, and it works between hosts."""
        names = [f"{_SHARDS}/rank-{rank}.json" for rank in range(self._place.size)]
        deadline = time.monotonic() + self._shard_timeout_s
        pause_s = 0.05
        while missing := sorted(set(names) - set(self._retrying(lambda: self._blobs.files(uuid)))):
            if time.monotonic() > deadline:
                raise Unavailable(f"Checkpoint {uuid} is given up: {', '.join(missing)} did not arrive in time.")
            self._closing.wait(pause_s)
            pause_s = min(pause_s * 1.5, 1.0)
        files: dict[str, FileFacts] = {}
        for name in names:
            for path, (size, sha256) in json.loads(b"".join(self._blobs.read(uuid, name))).items():
                if path in files:
                    raise InvalidInput(
                        f"Two ranks wrote {path} into checkpoint {uuid}; put the rank into the names of sharded files."
                    )
                files[path] = FileFacts(size, sha256)
        self._retrying(lambda: self._blobs.remove(uuid, [f"{_SHARDS}/*"]))
        return files

    def _retrying(self, call: Callable[[], T]) -> T:
        """Until it works, or the run ends. Outages of the master or the store are waited out."""
        is_warned = False
        while True:
            try:
                return call()
            except Unavailable as error:
                if self._closing.is_set():
                    raise
                if not is_warned:
                    _log.warning("%s Trying again until it works.", error)
                    is_warned = True
                self._closing.wait(self._retry_s)

    def _new_folder(self) -> Path:
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="resolute-checkpoint-"))
        return Path(tempfile.mkdtemp(dir=self._scratch))


def _checked_metadata(metadata: Mapping[str, Any] | None, steps: int) -> dict[str, Any]:
    facts = {**(metadata or {}), "steps_completed": steps}
    try:
        json.dumps(facts)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Checkpoint metadata must be plain JSON values: {error}.") from None
    return facts
