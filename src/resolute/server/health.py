"""Whether the platform can do its work: the database answers and takes a write, and the home's disk has room.

Asked by anybody and often, so the write is made at most once in `FRESH_S`, and the last answer is given in between.
"""

import logging
import shutil
import threading
import time

from resolute.domain.errors import ResoluteError
from resolute.engine.platform import Platform

log = logging.getLogger(__name__)

FRESH_S = 5.0
LOW_BYTES = 1024 * 1024
"""Below this a log line or a checkpoint's record may not fit any more."""
_SETTING = "health"


class HealthCheck:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
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
        return self._disk()

    def _disk(self) -> str:
        home = self._platform.config.home
        try:
            free = shutil.disk_usage(home).free
        except OSError as error:
            return f"The home folder {home} cannot be looked at: {error.strerror}."
        return f"The disk of {home} is full ({free:,} bytes are left). Free some space." if free < LOW_BYTES else ""
