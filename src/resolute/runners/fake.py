"""A runner without processes: tests of the engine script what happens to each gang and read what was asked.

It keeps the promises of the port (idempotent start, forgiving stop, re-attach) and nothing else: no files, no
clock, no threads. A gang runs until `finish`, `lose` or `stop` says otherwise, unless an exit was scripted. In a
delegating pool it waits until `place` says where it went.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from resolute.domain.allocation import NodeShare
from resolute.domain.gang import Phase
from resolute.domain.node import DeviceType, Node, Pool, Slot
from resolute.engine.ports.runner import Gang, GangStatus
from resolute.runners.rendering import render_gang

SIGTERM_EXIT = 128 + 15
SIGKILL_EXIT = 128 + 9


class FakeRunner:
    """`nodes` may be a number: one node of that many slots. With `completes_instantly` every gang without a
    scripted exit code has ended with 0 by the first poll."""

    def __init__(
        self,
        nodes: Sequence[Node] | int = 2,
        *,
        completes_instantly: bool = False,
        exit_codes: Mapping[str, int] | None = None,
        ignores_sigterm: bool = False,
        pools: Sequence[Pool] = (),
    ) -> None:
        self._nodes = [_node(nodes)] if isinstance(nodes, int) else list(nodes)
        self._pools = list(pools)
        """Beside those of the nodes."""
        self.completes_instantly = completes_instantly
        self.exit_codes = dict(exit_codes or {})
        """Exit code by allocation id; the gang has ended with it by the first poll after its start."""
        self.ignores_sigterm = ignores_sigterm
        """Gangs outlive a stop without `force`, as a trial that is still checkpointing does."""
        self.start_failures: dict[str, Exception] = {}
        """Raised once by the next start of that allocation id; `"*"` fails whichever gang comes next."""
        self.started: list[Gang] = []
        self.stopped: list[tuple[str, bool]] = []
        """Every stop that reached a live gang: (handle, force)."""
        self.forgotten: list[str] = []
        self.is_closed = False
        self._statuses: dict[str, GangStatus] = {}
        self._watchers: list[Callable[[], None]] = []

    # ------------------------------------------------------------------------------------------------ the port

    def pools(self) -> list[Pool]:
        declared = {pool.name: pool for pool in self._pools}
        for node in self._nodes:
            declared.setdefault(node.resource_pool, Pool(node.resource_pool, _device(node)))
        return list(declared.values()) or [Pool("default")]

    def nodes(self) -> list[Node]:
        return list(self._nodes)

    def render(self, gang: Gang) -> dict[str, object]:
        return render_gang(gang)

    def start(self, gang: Gang) -> str:
        handle = gang.allocation_id
        if handle in self._statuses:
            return handle
        failure = self.start_failures.pop(handle, None) or self.start_failures.pop("*", None)
        if failure is not None:
            raise failure
        self.started.append(gang)
        self._statuses[handle] = self._first_status(gang)
        return handle

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        return {handle: self._statuses.get(handle, _LOST) for handle in handles}

    def stop(self, handle: str, *, force: bool) -> None:
        if not self._is_running(handle):
            return
        self.stopped.append((handle, force))
        if force:
            self.finish(handle, SIGKILL_EXIT)
        elif not self.ignores_sigterm:
            self.finish(handle, SIGTERM_EXIT)

    def running(self) -> list[str]:
        return [handle for handle in self._statuses if self._is_running(handle)]

    def close(self, *, stop_gangs: bool) -> None:
        self.is_closed = True
        if stop_gangs:
            for handle in self.running():
                self.stop(handle, force=True)

    def forget(self, handle: str) -> None:
        if handle in self._statuses and not self._is_running(handle):
            del self._statuses[handle]
            self.forgotten.append(handle)

    # ---------------------------------------------------------------------------------------------- the script

    def watch(self, on_change: Callable[[], None]) -> None:
        self._watchers.append(on_change)

    def finish(self, handle: str, exit_code: int = 0, reason: str = "") -> None:
        """The gang ends now."""
        self._change(handle, GangStatus(phase=Phase.ENDED, exit_code=exit_code, reason=reason))

    def lose(self, handle: str) -> None:
        """The machine forgot the gang: from now on it polls as lost."""
        self._change(handle, _LOST)

    def enter(self, handle: str, phase: Phase, reason: str = "") -> None:
        """The gang has come this far."""
        self._change(handle, replace(self._statuses[handle], phase=phase, reason=reason))

    def place(self, handle: str, shares: Sequence[NodeShare], addresses: Sequence[str] = ()) -> None:
        """The engine of a delegating pool has found room, and the gang runs there."""
        status = GangStatus(phase=Phase.RUNNING, shares=tuple(shares), addresses=tuple(addresses))
        self._change(handle, status)

    def _change(self, handle: str, status: GangStatus) -> None:
        self._statuses[handle] = status
        for tell in self._watchers:
            tell()

    def set_nodes(self, nodes: Sequence[Node]) -> None:
        """Nodes came or went."""
        self._nodes = list(nodes)

    def set_pools(self, pools: Sequence[Pool]) -> None:
        """Beside those of the nodes; the first is the default one."""
        self._pools = list(pools)

    def gang(self, handle: str) -> Gang:
        """What was started under this handle."""
        return next(gang for gang in self.started if gang.allocation_id == handle)

    def _first_status(self, gang: Gang) -> GangStatus:
        code = self.exit_codes.get(gang.allocation_id, 0 if self.completes_instantly else None)
        if code is not None:
            return GangStatus(phase=Phase.ENDED, exit_code=code)
        return GangStatus(phase=Phase.RUNNING if gang.nodes else Phase.PENDING)

    def _is_running(self, handle: str) -> bool:
        return not self._statuses.get(handle, _LOST).is_over


_LOST = GangStatus(phase=Phase.ENDED, is_lost=True, reason="The runner knows nothing of this gang any more.")


def _device(node: Node) -> DeviceType:
    return node.slots[0].type if node.slots else DeviceType.CPU


def _node(slots: int) -> Node:
    return Node(id="fake", slots=tuple(Slot(id=number) for number in range(slots)))
