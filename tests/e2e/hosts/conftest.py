"""Three hosts that are network namespaces, and a master that they reach at an address of this machine."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from resolute.runners.hosts import write_hosts
from resolute.runners.namespaces import Namespace, NamespaceNetwork, NamespacesNotPermitted, namespace_network

from ..conftest import LiveMaster, end_what_is_left

HOSTS = 3
SCRIPTS = Path(__file__).parent / "scripts"
PASSWORD = "a word for tests"


@pytest.fixture(scope="session")
def network() -> Iterator[NamespaceNetwork]:
    try:
        with namespace_network(HOSTS) as network:
            yield network
    except NamespacesNotPermitted as reason:
        pytest.skip(f"there can be no hosts here: {reason}")


class Cluster:
    """A master over the hosts, in a folder that all of them share. It may be killed and started again."""

    def __init__(self, folder: Path, network: NamespaceNetwork) -> None:
        self.folder = folder
        self.hosts = network.hosts
        write_hosts(folder / "hosts.json", network.hosts)
        self.master = LiveMaster(
            folder / "home",
            *("--host", network.address, "--port", str(_free_port(network.address)), "--slots", "1"),
            env={"RESOLUTE_TEST_HOSTS": str(folder / "hosts.json"), "RESOLUTE_INITIAL_PASSWORD": PASSWORD},
        )
        self.start()

    def start(self) -> None:
        self.master.start()
        if "Authorization" not in self.master.http.headers:
            self.master.login(password=PASSWORD)

    def kill_master(self) -> None:
        os.kill(self.master.pid, signal.SIGKILL)
        self.master.stop()

    def submit(self, config: str) -> int:
        return self.master.create(config, SCRIPTS)

    def trial(self, experiment: int) -> dict[str, Any]:
        (trial,) = self.master.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"]
        return dict(trial)

    def log(self, trial: int) -> str:
        """As people read it."""
        answer = self.master.http.get(f"{self.master.url}/api/v1/trials/{trial}/logs")
        return "".join(json.loads(line)["result"]["log"] for line in answer.text.splitlines())

    def close(self) -> None:
        self.master.close()
        for host in self.hosts:
            host.join()
            kill_all(host)
        end_what_is_left(self.folder)


def kill_all(host: Namespace) -> None:
    """The host is switched off, and comes back empty."""
    while pids := host.pids():
        for pid in pids:
            with_signal(pid, signal.SIGKILL)


def with_signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, network: NamespaceNetwork) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"), network)
    yield made
    made.close()


@pytest.fixture
def switch_off() -> Callable[[Namespace], None]:
    return kill_all


@pytest.fixture
def pause() -> Callable[[float], None]:
    """For a promise that is about time itself."""
    return time.sleep
