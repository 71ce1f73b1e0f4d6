"""The thread that reads the logs of running trials for their log policies. It decides nothing itself."""

import logging
import threading

from resolute.domain.errors import ResoluteError
from resolute.engine.platform import Platform
from resolute.engine.trials.log_policies import LogReader, policies_of
from resolute.engine.trials.moves import trial_of

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.25
"""A line sets off what it should within a second; to ask for the size of a file costs microseconds."""
LIST_EVERY = 20
"""Looks between two lists of what runs, should a notice be lost."""


class LogWatch:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._readers: dict[str, LogReader | None] = {}
        """By allocation; None: its trial has no policies."""
        self._is_stale = True
        self._looks = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log-watch", daemon=True)
        platform.bus.subscribe("queue", self._list_again)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=10)

    def look(self) -> None:
        """One pass over all logs that have grown."""
        self._looks += 1
        if self._is_stale or self._looks % LIST_EVERY == 0:
            self._is_stale = False
            self._list()
        for reader in filter(None, self._readers.values()):
            reader.read_on()

    def _list_again(self) -> None:
        """Something started or ended."""
        self._is_stale = True

    def _list(self) -> None:
        with self._platform.store.read() as tx:
            running = {a.id: a for a in tx.allocations.live() if a.handle is not None and a.trial_id is not None}
            for allocation_id in {*self._readers, *self._platform.read_logs} - set(running):
                self._readers.pop(allocation_id, None)
                self._platform.read_logs.pop(allocation_id, None)
            for allocation in (each for each in running.values() if each.id not in self._readers):
                policies = policies_of(tx, trial_of(tx, tx.tasks.get(allocation.task_id)))
                reader = LogReader(self._platform, allocation, policies) if policies else None
                self._readers[allocation.id] = reader

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_EVERY_S):
            try:
                self.look()
            except ResoluteError as error:
                log.warning("the logs of running trials could not be read: %s", error)
            except Exception:
                log.exception("reading the logs of running trials failed; it goes on")
