"""A master whose runner has two hosts that share nothing with it: `resolute up`, but for the runner.

In the pool `default` the master places; in `cluster` the runner does, as an engine outside would. Each node part is
started by the command that any engine can run, with a home of its own; it knows the master's address and its
allocation's token. Run as a script: HOME PORT.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from resolute.domain.allocation import NodeShare
from resolute.domain.gang import Phase, resources_id
from resolute.domain.node import Node, Pool, Slot
from resolute.engine.ports.runner import Gang, GangStatus
from resolute.runners.node_request import NodeRequest, node_request
from resolute.runners.rendering import render_gang
from resolute.runners.runs import Runs
from resolute.server.main import Master, Options

HOSTS = ("one", "two")
CLUSTER = "cluster"


class RunnerOfHosts:
    """Remembers nothing: a handle is an allocation's id, and the rest is read from the homes of the hosts."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._runs = {host: Runs(home / host / "runs") for host in _made(home)}

    def pools(self) -> list[Pool]:
        return [Pool("default"), Pool(CLUSTER, is_delegating=True)]

    def nodes(self) -> list[Node]:
        return [Node(id=host, slots=(Slot(0),), addresses=("127.0.0.1",)) for host in HOSTS]

    def render(self, gang: Gang) -> dict[str, object]:
        return render_gang(gang)

    def start(self, gang: Gang) -> str:
        for part in gang.nodes:
            self._start(gang, part.share.node_id, part.rank, node_request(gang, part, address="127.0.0.1"))
        if not gang.nodes:
            request = replace(node_request(gang), address="127.0.0.1")
            for rank, host in enumerate(reversed(HOSTS)):
                placed = ["--rank", str(rank), "--nodes", str(len(HOSTS)), "--node-id", host, "--slots", "1"]
                self._start(gang, host, rank, request, *placed)
        return gang.allocation_id

    def _start(self, gang: Gang, host: str, rank: int, request: NodeRequest, *placed: str) -> None:
        home = self._home / host
        file = home / f"{resources_id(gang.allocation_id, rank)}.json"
        file.write_text(json.dumps(request.as_json()))
        command = [sys.executable, "-m", "resolute.runners.node", "--request", str(file), "--home", str(home), *placed]
        subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL)

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        return {handle: self._status(handle) for handle in handles}

    def _status(self, handle: str) -> GangStatus:
        exits = []
        for host, name in self._parts(handle):
            run = self._runs[host].directory(name)
            exits.append(run.exit() if run.path.exists() else None)
        failed = next((each for each in exits if each is not None and each.code), None)
        if None in exits:
            shares = tuple(NodeShare(host, (0,)) for host, _ in self._parts(handle))
            return GangStatus(phase=Phase.RUNNING, shares=shares, addresses=("127.0.0.1",) * len(shares))
        return GangStatus(phase=Phase.ENDED, exit_code=failed.code if failed else 0)

    def stop(self, handle: str, *, force: bool) -> None:
        for host, name in self._parts(handle):
            self._runs[host].stop(name, force=force)

    def _parts(self, handle: str) -> list[tuple[str, str]]:
        """Hosts and the ids of what was sent to them."""
        parts = [(host, file.stem) for host in HOSTS for file in (self._home / host).glob(f"{handle}.*.json")]
        return sorted(parts, key=lambda part: part[1])

    def running(self) -> list[str]:
        return []

    def close(self, *, stop_gangs: bool) -> None:
        pass


def _made(home: Path) -> tuple[str, ...]:
    for host in HOSTS:
        (home / host).mkdir(parents=True, exist_ok=True)
    return HOSTS


class MasterOfHosts(Master):
    def _runner(self, store: object, url: str) -> RunnerOfHosts:
        return RunnerOfHosts(self._home / "hosts")


if __name__ == "__main__":
    sys.exit(MasterOfHosts(Options(home=Path(sys.argv[1]), port=int(sys.argv[2]))).serve())
