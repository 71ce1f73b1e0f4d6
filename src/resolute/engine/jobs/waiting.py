"""Why allocations wait, as the scheduler's last pass left it. In memory: the first pass after a restart fills it."""

import threading
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from resolute.domain.allocation import Allocation
from resolute.domain.job import Job, title_of_job
from resolute.domain.waiting import NOT_LOOKED_AT, Wait, WaitingFor, sentence

LONGEST_DELAY_S = 60.0
"""Between tries to start something that an engine cannot start now."""


@dataclass(frozen=True, slots=True)
class WaitingReason:
    code: WaitingFor
    sentence: str


@dataclass(frozen=True, slots=True)
class _Failure:
    """Of a start that should be tried again."""

    tries: int
    until: datetime
    reason: str


class WaitingRoom:
    """Written by the engine's threads, read by any: each mapping is replaced as a whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decided: Mapping[str, Wait] = {}
        self._notes: Mapping[str, str] = {}
        self._failures: Mapping[str, _Failure] = {}

    def failed(self, allocation_id: str, reason: str, *, now: datetime) -> float:
        """A start did not work. Returns for how many seconds it is not tried again: longer each time."""
        with self._lock:
            before = self._failures.get(allocation_id)
            tries = 1 + (before.tries if before else 0)
            delay_s = min(LONGEST_DELAY_S, 2.0 ** (tries - 1))
            failure = _Failure(tries, now + timedelta(seconds=delay_s), reason)
            self._failures = {**self._failures, allocation_id: failure}
        return delay_s

    def started(self, allocation_id: str) -> None:
        if allocation_id in self._failures:
            with self._lock:
                self._failures = {key: value for key, value in self._failures.items() if key != allocation_id}

    def delayed(self, live: Container[str], *, now: datetime) -> dict[str, Wait]:
        """Those that are not tried again yet. `live`: allocation ids; of others nothing needs to be known any more."""
        if not self._failures:
            return {}
        with self._lock:
            self._failures = {key: value for key, value in self._failures.items() if key in live}
        return {
            key: Wait(reason=WaitingFor.START, note=failure.reason)
            for key, failure in self._failures.items()
            if failure.until > now
        }

    def decide(self, waits: Mapping[str, Wait]) -> bool:
        """What a pass found, by allocation id. True when somebody may see something new."""
        is_new = waits != self._decided
        self._decided = waits
        return is_new

    def note(self, notes: Mapping[str, str]) -> bool:
        """What the engines outside say of those that they have not placed yet, by allocation id."""
        is_new = notes != self._notes
        self._notes = notes
        return is_new

    def reason(self, allocation_id: str) -> Wait:
        wait = self._decided.get(allocation_id, NOT_LOOKED_AT)
        if wait.reason is WaitingFor.ENGINE:
            return replace(wait, note=self._notes.get(allocation_id, ""))
        return wait


def why_it_waits(room: WaitingRoom, allocation: Allocation, names: Mapping[str, str]) -> WaitingReason | None:
    """None when it does not wait. `names`: of the jobs that the reader may see."""
    if not allocation.waits:
        return None
    wait = room.reason(allocation.id)
    told = sentence(wait, pool=allocation.resource_pool, own_job=allocation.job_id, names=names)
    return WaitingReason(wait.reason, told)


def job_names(jobs: Iterable[Job], visible_in: frozenset[int] | None) -> dict[str, str]:
    """Of those that belong to these workspaces; None: to any."""
    return {job.id: title_of_job(job) for job in jobs if visible_in is None or job.workspace_id in visible_in}
