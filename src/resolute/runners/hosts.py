"""Runs gangs over hosts that are network namespaces of this machine: each node part by the one command that any engine
runs, with an address, a home and a fate of its own. It stands for a cluster in tests, and asks for none.

As with an engine, a host that is cut off keeps its last known state until it is back, and takes no orders meanwhile. It
holds no state that matters: gangs are read from `<home>/hosts/gangs/`, their parts from `<home>/hosts/<node id>/runs/`.
"""

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from urllib.parse import quote, unquote

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.domain.gang import Phase, resources_id
from resolute.domain.node import Node, Pool, Slot
from resolute.engine.ports.runner import Gang, GangStatus, NodePart
from resolute.runners.joint_status import PartStatus, joint_status, must_end
from resolute.runners.namespaces import Namespace
from resolute.runners.node_request import NodeRequest, node_request
from resolute.runners.rendering import render_gang, unused_here
from resolute.runners.runs import Runs
from resolute.runners.shepherd.run_directory import RunDirectory
from resolute.runners.spawning import Children

log = logging.getLogger(__name__)

_GRACE_S = 10.0
"""What is left of a gang that has lost a node may take to end before it is killed."""
_SOFTWARE = (Path(sys.prefix), Path(__file__).parents[2], Path.cwd())
"""What every host has installed: this Python, this package, and what lies where the tests are run."""
_LOST = GangStatus(phase=Phase.ENDED, is_lost=True, reason="No host knows of it.")


class Host:
    """One of them, as far as it can be asked."""

    def __init__(self, node_id: str, namespace: Namespace, home: Path) -> None:
        self.node_id = node_id
        self.namespace = namespace
        self.home = home
        self.runs = Runs(home / "runs")
        self._last_known: dict[str, GangStatus] = {}

    def status(self, name: str) -> PartStatus:
        if self.namespace.is_reachable:
            self._last_known[name] = self.runs.status(name)
        status = self._last_known.get(name, GangStatus())
        return PartStatus(self.node_id, status, self.runs.directory(name).ended_at() if status.is_over else 0.0)

    def stop(self, name: str, *, force: bool) -> None:
        if self.namespace.is_reachable:
            self.runs.stop(name, force=force)

    def forget(self, name: str) -> None:
        self._last_known.pop(name, None)
        self.runs.forget(name)


class HostsRunner:
    """`slots`: of each host. `shared`: a folder that all of them see, as a cluster has one; the home, or around it."""

    def __init__(self, *, home: Path, hosts: Sequence[Namespace], slots: int = 1, shared: Path | None = None) -> None:
        folder = home.absolute() / "hosts"
        self._shared = shared or home.absolute()
        self._hosts = {
            node_id: Host(node_id, namespace, folder / node_id)
            for node_id, namespace in ((f"host{index}", namespace) for index, namespace in enumerate(hosts))
        }
        self._slots = tuple(Slot(id=number) for number in range(slots))
        self._gangs = folder / "gangs"
        self._gangs.mkdir(parents=True, exist_ok=True)
        self._starting = threading.Lock()
        self._children = Children()
        self._failing_since: dict[str, float] = {}
        """When it was first seen that the rest of a gang must end, by handle."""

    def pools(self) -> list[Pool]:
        return [Pool("default")]

    def nodes(self) -> list[Node]:
        return [
            Node(
                id=host.node_id,
                slots=self._slots,
                addresses=(host.namespace.address,),
                is_enabled=host.namespace.is_reachable,
            )
            for host in self._hosts.values()
        ]

    def render(self, gang: Gang) -> dict[str, object]:
        return {**render_gang(gang), "commands": [self._command_of(gang, part) for part in gang.nodes]}

    def start(self, gang: Gang) -> str:
        handle = gang.allocation_id
        parts = [(self._host_of(part), part) for part in gang.nodes]
        with self._starting:
            if not self._record(handle).exists():
                _check_reachable(handle, [host for host, _ in parts])
                _write(self._record(handle), json.dumps([host.node_id for host, _ in parts]))
            for number, (host, part) in enumerate(parts):
                try:
                    self._start_part(gang, host, part)
                except OSError as error:
                    self._give_up(handle, number, f"{host.node_id}: {error.strerror or error}")
                    break
        return handle

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        self._children.reap()
        return {handle: self._status(handle) for handle in handles}

    def stop(self, handle: str, *, force: bool) -> None:
        with self._starting:
            for host, name in self._parts(handle):
                host.stop(name, force=force)

    def running(self) -> list[str]:
        handles = sorted(unquote(path.stem) for path in self._gangs.glob("*.json"))
        return [handle for handle, status in self.poll(handles).items() if not status.is_over]

    def close(self, *, stop_gangs: bool) -> None:
        deadline = time.monotonic() + _GRACE_S
        while stop_gangs and (handles := self.running()) and time.monotonic() < deadline:
            for handle in handles:
                self.stop(handle, force=True)
            time.sleep(0.02)
        self._children.reap()

    def forget(self, handle: str) -> None:
        if not self._status(handle).is_over:
            return
        for host, name in self._parts(handle):
            host.forget(name)
        self._record(handle).unlink(missing_ok=True)
        self._failing_since.pop(handle, None)

    # ----------------------------------------------------------------------------------------------------- the parts

    def _status(self, handle: str) -> GangStatus:
        with self._starting:
            parts = [(host, name, host.status(name)) for host, name in self._parts(handle)]
        if not parts:
            return _LOST
        statuses = [status for _, _, status in parts]
        if must_end(statuses):
            since = self._failing_since.setdefault(handle, time.monotonic())
            for host, name, status in parts:
                if not status.status.is_over:
                    host.stop(name, force=time.monotonic() - since > _GRACE_S)
        return joint_status(statuses)

    def _parts(self, handle: str) -> list[tuple[Host, str]]:
        """Empty for a gang that nobody has heard of."""
        try:
            node_ids = json.loads(self._record(handle).read_bytes())
        except FileNotFoundError:
            return []
        return [(self._hosts[node_id], resources_id(handle, rank)) for rank, node_id in enumerate(node_ids)]

    def _give_up(self, handle: str, started: int, why: str) -> None:
        """A part could not be started. As the first one, nothing has happened. Else the gang has begun, and is ended:
        what is missing makes it lost, so that it is tried again under another name."""
        if not started:
            self._record(handle).unlink()
            raise Unavailable(f"Allocation {handle} cannot be started on {why}.")
        log.warning("allocation %s could be started in part only, and is ended: %s", handle, why)
        for host, name in self._parts(handle)[:started]:
            host.stop(name, force=True)

    def _command_of(self, gang: Gang, part: NodePart) -> list[str]:
        host = self._host_of(part)
        return self._command(host, host.runs.directory(resources_id(gang.allocation_id, part.rank)))

    def _start_part(self, gang: Gang, host: Host, part: NodePart) -> None:
        request = node_request(gang, part, address=host.namespace.address, notes=unused_here(gang))
        host.runs.start(resources_id(gang.allocation_id, part.rank), lambda run: self._launch(run, host, request))

    def _launch(self, run: RunDirectory, host: Host, request: NodeRequest) -> int:
        run.leave_for_node(request.as_json())
        env = {name: value for name, value in os.environ.items() if not name.startswith(("RESOLUTE_", "DET_"))}
        return self._children.start(self._command(host, run), env, errors=run.path / "node.err")

    def _command(self, host: Host, run: RunDirectory) -> list[str]:
        options = ["--request", str(run.node_request), "--home", str(host.home)]
        command = [sys.executable, "-m", "resolute.runners.node", *options]
        return host.namespace.command(command, shared=(self._shared, *_SOFTWARE))

    def _host_of(self, part: NodePart) -> Host:
        host = self._hosts.get(part.share.node_id)
        if host is None:
            raise InvalidInput(f"There is no host {part.share.node_id!r}; there are: {', '.join(self._hosts)}.")
        return host

    def _record(self, handle: str) -> Path:
        return self._gangs / f"{quote(handle, safe='')}.json"


def write_hosts(path: Path, hosts: Sequence[Namespace]) -> None:
    """For a master that is to run work on them."""
    _write(path, json.dumps([asdict(host) for host in hosts]))


def read_hosts(path: Path) -> tuple[Namespace, ...]:
    """Raises InvalidInput."""
    try:
        return tuple(Namespace(**values) for values in json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInput(f"{path} names no hosts: {error}. It is written by a test that has made some.") from error


def _check_reachable(handle: str, hosts: Sequence[Host]) -> None:
    missing = [host.node_id for host in hosts if not host.namespace.is_reachable]
    if missing:
        raise Unavailable(f"Allocation {handle} cannot be started: {', '.join(missing)} cannot be reached.")


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text)
    os.replace(draft, path)
