"""What can go wrong on a stage. Each fault is undone when its block ends, as far as somebody outside would undo it."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from benchmarks.chaos.ledger import Ledger
from benchmarks.chaos.processes import living
from benchmarks.chaos.stage import Stage

WEIGHTS = {
    "rank": 5,
    "shepherd": 4,
    "launcher": 3,
    "master": 3,
    "zygote": 1,
    "router": 1,
    "router supervisor": 1,
    "replica": 1,
    "model process": 1,
}
_STOPPABLE = ("master", "shepherd", "rank", "launcher", "router", "replica", "zygote")
_HOUR_S, _DAY_S = 3600, 86400
_CLOCKS_S = (_HOUR_S, -_HOUR_S, 25 * _HOUR_S, 3 * _DAY_S, -30 * _DAY_S)
_Fault = Callable[["Storm"], AbstractContextManager[None]]


class Storm:
    """Draws what happens next. `kills` and `faults` count by kind."""

    def __init__(self, stage: Stage, ledger: Ledger, *, rng: random.Random, disk_can_be_full: bool) -> None:
        self.stage = stage
        self.ledger = ledger
        self.rng = rng
        self.kills: dict[str, int] = {}
        self.faults: dict[str, int] = {}
        self.spared = set(WEIGHTS)
        """Kinds of which none was killed yet."""
        self._known = possible(stage, disk_can_be_full)

    @property
    def fault_names(self) -> list[str]:
        return list(self._known)

    def kill(self, kind: str) -> bool:
        """kill -9 of one process of a kind; False: there is none now."""
        found = living(self.stage, self.ledger, kind)
        if not found:
            return False
        if not _send(self.rng.choice(found), signal.SIGKILL):
            return False
        self.kills[kind] = self.kills.get(kind, 0) + 1
        self.spared.discard(kind)
        return True

    def kill_any(self) -> str:
        """The kind that was hit; empty when what was drawn was not there. Kinds that were spared so far come first."""
        for kind in self.rng.sample(sorted(self.spared), len(self.spared)):
            if self.kill(kind):
                return kind
        kind = self.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        return kind if self.kill(kind) else ""

    def fault(self, name: str) -> AbstractContextManager[None]:
        self.faults[name] = self.faults.get(name, 0) + 1
        return self._known[name](self)


def possible(stage: Stage, disk_can_be_full: bool) -> dict[str, _Fault]:
    """Of this stage, by name."""
    faults: dict[str, _Fault] = {"stopped process": _stopped}
    if disk_can_be_full:
        faults["disk full"] = _disk_full
    if stage.clock_can_jump:
        faults["clock jump"] = _clock_jump
    if stage.postgres is not None:
        faults["database away"] = _database_away
    if stage.s3 is not None:
        faults["store away"] = _store_away
    if stage.hosts:
        faults["host cut off"] = _host_cut_off
        faults["host switched off"] = _host_switched_off
    return faults


@contextlib.contextmanager
def _stopped(storm: Storm) -> Iterator[None]:
    kind = storm.rng.choice(_STOPPABLE)
    found = living(storm.stage, storm.ledger, kind)
    pid = storm.rng.choice(found) if found else 0
    if pid:
        _send(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        if pid:
            _send(pid, signal.SIGCONT)


@contextlib.contextmanager
def _disk_full(storm: Storm) -> Iterator[None]:
    filler = storm.stage.home.parent / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
    try:
        yield
    finally:
        filler.unlink()


@contextlib.contextmanager
def _clock_jump(storm: Storm) -> Iterator[None]:
    storm.stage.set_clock(storm.rng.choice(_CLOCKS_S))
    try:
        yield
    finally:
        storm.stage.set_clock(0)


@contextlib.contextmanager
def _database_away(storm: Storm) -> Iterator[None]:
    assert storm.stage.postgres is not None
    storm.stage.postgres.kill()
    try:
        yield
    finally:
        storm.stage.postgres.start()


@contextlib.contextmanager
def _store_away(storm: Storm) -> Iterator[None]:
    assert storm.stage.s3 is not None
    storm.stage.s3.kill()
    try:
        yield
    finally:
        storm.stage.s3.start()


@contextlib.contextmanager
def _host_cut_off(storm: Storm) -> Iterator[None]:
    host = storm.rng.choice(storm.stage.hosts)
    host.cut_off()
    try:
        yield
    finally:
        host.join()


@contextlib.contextmanager
def _host_switched_off(storm: Storm) -> Iterator[None]:
    host = storm.rng.choice(storm.stage.hosts)
    deadline = time.monotonic() + 10
    while (pids := host.pids()) and time.monotonic() < deadline:
        for pid in pids:
            _send(pid, signal.SIGKILL)
    yield


def _send(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
