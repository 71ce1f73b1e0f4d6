"""Whether the platform can do its work: the database takes a write, the disk has room, checkpoint stores take a file.

Asked by anybody and often, so the write is made at most once in `FRESH_S`, and the last answer is given in between.
"""

import json
import logging
import shutil
import threading
import time
import uuid

from resolute.domain.errors import ResoluteError
from resolute.domain.experiment import ExperimentState
from resolute.engine.platform import Platform

log = logging.getLogger(__name__)

FRESH_S = 5.0
LOW_BYTES = 1024 * 1024
"""Below this a log line or a checkpoint's record may not fit any more."""
STORES_FRESH_S = 30.0
PATIENCE_S = 2.0
_SETTING = "health"


class HealthCheck:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._stores = StoreCheck(platform)
        self._guard = threading.Lock()
        self._looked_at = float("-inf")
        self._problem = ""

    def problem(self) -> str:
        """A sentence; empty when all is well. What changed since the last look is logged."""
        with self._guard:
            if time.monotonic() - self._looked_at >= FRESH_S:
                self._note(self._look())
                self._looked_at = time.monotonic()
            return self._problem

    def _note(self, problem: str) -> None:
        if problem and not self._problem:
            log.error("The platform is not healthy: %s", problem)
        elif self._problem and not problem:
            log.warning("The platform is healthy again.")
        self._problem = problem

    def _look(self) -> str:
        try:
            with self._platform.store.write() as tx:
                # Rows that do not change are written too: it is the write that is tried.
                tx.settings.put(_SETTING, time.time())
        except ResoluteError as error:
            return str(error)
        return self._disk() or self._stores.problem()

    def _disk(self) -> str:
        home = self._platform.config.home
        try:
            free = shutil.disk_usage(home).free
        except OSError as error:
            return f"The home folder {home} cannot be looked at: {error.strerror}."
        return f"The disk of {home} is full ({free:,} bytes are left). Free some space." if free < LOW_BYTES else ""


class StoreCheck:
    """The checkpoint stores of running experiments, and the default one. An object store that is away answers late or
    never, so it is tried on a thread of its own, and whoever asks waits `PATIENCE_S` at most."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._looked_at = float("-inf")
        self._thread = threading.Thread(target=lambda: None)
        self._problem = ""

    def problem(self) -> str:
        """A sentence; empty when every store took a file. Asked by one thread at a time."""
        if not self._thread.is_alive() and time.monotonic() - self._looked_at >= STORES_FRESH_S:
            self._looked_at = time.monotonic()
            self._thread = threading.Thread(target=self._look, name="store check", daemon=True)
            self._thread.start()
            self._thread.join(PATIENCE_S)
        if self._thread.is_alive() and not self._problem:
            waited = time.monotonic() - self._looked_at
            if waited >= PATIENCE_S:
                return f"A checkpoint store of a running experiment has not answered for {waited:.0f} s."
        return self._problem

    def _look(self) -> None:
        try:
            found = [problem for storage in self._storages() if (problem := self._tried(storage))]
        except ResoluteError as error:
            found = [str(error)]
        self._problem = " ".join(found)

    def _storages(self) -> list[dict[str, object]]:
        with self._platform.store.read() as tx:
            active = tx.experiments.in_states([ExperimentState.ACTIVE])
        own = (each.config.get("checkpoint_storage") for each in active)
        wanted = [self._platform.config.checkpoint_storage, *(each for each in own if isinstance(each, dict))]
        # What is kept of a store's checkpoints does not change which store it is.
        places = [
            {key: value for key, value in each.items() if not key.startswith("save_")}
            for each in wanted
            # A `directory` is one inside of containers: there is none to look at here.
            if each and each.get("type") != "directory"
        ]
        return list({json.dumps(each, sort_keys=True): each for each in places}.values())

    def _tried(self, storage: dict[str, object]) -> str:
        name = str(uuid.uuid4())
        try:
            store = self._platform.blobs(storage)
            store.write(name, "health", b"taken")
            store.remove(name)
        except ResoluteError as error:
            return str(error)
        return ""
