"""Where a supervisor's words go: output and phases into files beside it, or to the master when that is elsewhere."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from resolute.domain.gang import Phase, resources_id
from resolute.runners.shepherd.courier import Courier
from resolute.runners.shepherd.master_link import MasterLink
from resolute.runners.shepherd.orders import FORCE_SIGNAL
from resolute.runners.shepherd.run_directory import Exit, RunDirectory
from resolute.runners.shepherd.task_log import TaskLog

DRAIN_S = 120.0
"""How long a node that is done stays for its last lines while the master is away."""
_TURN_S = 0.05


class Reporting:
    def __init__(self, run: RunDirectory, request: Mapping[str, Any]) -> None:
        self._run = run
        env = request["env"]
        self.link = MasterLink(env) if {"DET_MASTER", "DET_SESSION_TOKEN"} <= set(env) else None
        self._courier: Courier | None = None
        if self.link is not None and request["sends_output"]:
            allocation = request["allocation_id"]
            path = f"/api/v1/allocations/{allocation}/resources/{resources_id(allocation, request['rank'])}"
            self._courier = Courier(self.link, path, on_replaced=_end_this_run)
        self.log = self._open_log(request["log_path"])

    def _open_log(self, path: str) -> TaskLog:
        courier = self._courier
        if courier is None:
            return TaskLog(path or os.devnull)
        return TaskLog(os.devnull, write=lambda _, records: courier.write(records))

    def phase(self, phase: Phase) -> None:
        self._run.note_phase(phase)
        if self._courier is not None:
            self._courier.report(phase)

    def drain(self, wait: Callable[[float], bool]) -> None:
        """Before the end is known to anybody: after it the master takes no more lines. `wait` is True when there is no
        more time for it."""
        left = DRAIN_S
        while self._courier is not None and not self._courier.is_idle and left > 0 and not wait(_TURN_S):
            left -= _TURN_S

    def end(self, ended: Exit, wait: Callable[[float], bool]) -> None:
        """Last words; the exit is recorded already, so they may get lost."""
        if self._courier is None:
            return
        self._courier.report(Phase.ENDED, ended.code, ended.reason)
        left = 2.0
        while not self._courier.is_idle and left > 0 and not wait(_TURN_S):
            left -= _TURN_S
        self._courier.close()


def _end_this_run() -> None:
    """Its successor may run already: this node was cut off for so long that its engine gave it up."""
    os.kill(os.getpid(), FORCE_SIGNAL)
