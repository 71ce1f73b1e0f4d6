"""A master whose runner has two hosts that share nothing with it: `resolute up`, but for the runner.

Each node part gets a supervisor of its own, in a folder of its own, which knows the master's address and its
allocation's token. Run as a script: HOME PORT.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from resolute.domain.gang import Phase, resources_id
from resolute.domain.node import Node, Pool, Slot
from resolute.engine.ports.runner import Gang, GangStatus
from resolute.runners import environments
from resolute.runners.node_request import node_request
from resolute.runners.preparation import run_directory, session_request
from resolute.runners.rendering import render_gang
from resolute.runners.shepherd.run_directory import RunDirectory
from resolute.runners.zygote import BOOT_SCRIPT
from resolute.server.main import Master, Options

HOSTS = ("one", "two")


class RunnerOfHosts:
    """Remembers nothing: handles are allocation ids, and the rest is read from the folders of the hosts."""

    def __init__(self, home: Path) -> None:
        self._home = home
        for host in HOSTS:
            (home / host / "runs").mkdir(parents=True, exist_ok=True)

    def pools(self) -> list[Pool]:
        return [Pool("default")]

    def nodes(self) -> list[Node]:
        return [Node(id=host, slots=(Slot(0),), addresses=("127.0.0.1",)) for host in HOSTS]

    def render(self, gang: Gang) -> dict[str, object]:
        return render_gang(gang)

    def start(self, gang: Gang) -> str:
        nodes = {node.id: node for node in self.nodes()}
        for part in gang.nodes:
            host = part.share.node_id
            run = self._run(host, gang.allocation_id, part.rank)
            if run.claimed_by() is not None:
                continue
            request = session_request(
                node_request(gang, part, address="127.0.0.1"),
                environments.resolve(gang.environment, envs=self._home / host / "envs"),
                node=nodes[host],
                run=run,
                contexts=self._home / host / "contexts",
                inherited=os.environ,
            )
            run.prepare(request)
            command = [sys.executable, "-I", "-S", str(BOOT_SCRIPT), "shepherd", str(run.path)]
            subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL)
        return gang.allocation_id

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        return {handle: self._status(handle) for handle in handles}

    def _status(self, handle: str) -> GangStatus:
        runs = [self._run(host, handle, rank) for rank, host in enumerate(HOSTS)]
        exits = [run.exit() for run in runs if run.path.exists()]
        if not exits:
            return GangStatus(phase=Phase.ENDED, is_lost=True)
        failed = next((each for each in exits if each is not None and each.code), None)
        if None in exits:
            return GangStatus(phase=Phase.RUNNING)
        return GangStatus(
            phase=Phase.ENDED, exit_code=failed.code if failed else 0, reason=failed.reason if failed else ""
        )

    def stop(self, handle: str, *, force: bool) -> None:
        raise NotImplementedError

    def running(self) -> list[str]:
        return []

    def close(self, *, stop_gangs: bool) -> None:
        pass

    def _run(self, host: str, handle: str, rank: int) -> RunDirectory:
        return run_directory(self._home / host / "runs", resources_id(handle, rank))


class MasterOfHosts(Master):
    def _runner(self, store: object) -> RunnerOfHosts:
        return RunnerOfHosts(self._home / "hosts")


if __name__ == "__main__":
    sys.exit(MasterOfHosts(Options(home=Path(sys.argv[1]), port=int(sys.argv[2]))).serve())
