"""The runner over network namespaces: gangs over several hosts, and hosts that die or are cut off."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.errors import Unavailable
from resolute.domain.gang import node_variables
from resolute.engine.ports.runner import Gang, NodePart
from resolute.runners.contract import MasterStandIn, RunnerContract, SeveralNodesContract, ended, until
from resolute.runners.hosts import HostsRunner
from resolute.runners.namespaces import Namespace, NamespaceNetwork, NamespacesNotPermitted, namespace_network
from resolute.runners.shepherd.run_directory import RunDirectory

from .conftest import is_gone, packed

HOSTS = 2


@pytest.fixture(scope="module")
def network() -> Iterator[NamespaceNetwork]:
    try:
        with namespace_network(HOSTS) as network:
            yield network
    except NamespacesNotPermitted as reason:
        pytest.skip(f"there can be no hosts here: {reason}")


@pytest.fixture(scope="module")
def master(network: NamespaceNetwork) -> Iterator[MasterStandIn]:
    with MasterStandIn(network.address) as running:
        yield running


class Hosts:
    def __init__(self, home: Path, network: NamespaceNetwork, master: MasterStandIn) -> None:
        self._home = home
        self._network = network
        self._master = master
        master.reset()
        self.runner = self.reopened()

    def reopened(self) -> HostsRunner:
        return HostsRunner(home=self._home, hosts=self._network.hosts)

    def ending(self, name: str, exit_code: int) -> Gang:
        return self._gang(name, f"echo started; exit {exit_code}", 1)

    def endless(self, name: str) -> Gang:
        return self._gang(name, "echo started; exec sleep 600", 1)

    def started_count(self) -> int:
        until(lambda: self._master.lines("a.1"))
        return self._master.lines("a.1").count("started")

    def spread(self, name: str, script: str, files: dict[str, str] | None = None) -> Gang:
        return self._gang(name, script, HOSTS, self._master.keep(name, packed(files)) if files else None)

    def lines(self, gang: Gang) -> list[str]:
        return self._master.lines(gang.allocation_id)

    def _gang(self, name: str, script: str, nodes: int, context_id: str | None = None) -> Gang:
        shares = [NodeShare(f"host{rank}", (0,)) for rank in range(nodes)]
        return Gang(
            allocation_id=name,
            task_id=name,
            run_id=1,
            nodes=tuple(
                NodePart(share=share, rank=rank, env=node_variables(name, rank, share))
                for rank, share in enumerate(shares)
            ),
            entrypoint=script,
            env=self._master.env,
            context_id=context_id,
        )


@pytest.fixture
def hosts(tmp_path: Path, network: NamespaceNetwork, master: MasterStandIn) -> Iterator[Hosts]:
    subject = Hosts(tmp_path, network, master)
    yield subject
    for host in network.hosts:
        host.join()
    subject.reopened().close(stop_gangs=True)


class TestHostsRunner(RunnerContract, SeveralNodesContract):
    @pytest.fixture
    def subject(self, hosts: Hosts) -> Hosts:
        return hosts


SLEEPING = "echo $$; setsid sh -c 'echo $$; exec sleep 600' & exec sleep 600"
"""Two processes on each host, one of which has left."""


def started(hosts: Hosts) -> tuple[Gang, str]:
    gang = hosts.spread("a.1", SLEEPING)
    handle = hosts.runner.start(gang)
    until(lambda: len(hosts.lines(gang)) == 2 * HOSTS)
    return gang, handle


def kill_all(host: Namespace) -> None:
    """The host is switched off."""
    for pid in host.pids():
        os.kill(pid, signal.SIGKILL)


def test_a_host_that_dies_makes_the_gang_lost_once_nothing_of_it_runs_anywhere(
    hosts: Hosts, network: NamespaceNetwork
) -> None:
    gang, handle = started(hosts)
    workers = [int(line) for line in hosts.lines(gang)]

    kill_all(network.hosts[1])
    status = ended(hosts.runner, handle)

    assert [pid for pid in workers if not is_gone(pid)] == []
    assert status.is_lost
    assert status.reason.startswith("Node host1: ")


def test_nothing_of_a_gang_outlives_a_killed_supervisor(hosts: Hosts, tmp_path: Path) -> None:
    gang, handle = started(hosts)
    workers = [int(line) for line in hosts.lines(gang)]
    supervisor = RunDirectory(tmp_path / "hosts/host1/runs/a.1.1").claimed_by()

    assert supervisor is not None
    os.kill(supervisor.pid, signal.SIGKILL)
    status = ended(hosts.runner, handle)

    assert [pid for pid in workers if not is_gone(pid)] == []
    assert status.is_lost


def test_what_ignores_the_request_to_end_is_killed_when_its_partner_is_gone(
    hosts: Hosts, network: NamespaceNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolute.runners.hosts._GRACE_S", 0.2)
    gang = hosts.spread("a.1", "trap '' TERM; echo here; while true; do sleep 0.05; done")
    handle = hosts.runner.start(gang)
    until(lambda: len(hosts.lines(gang)) == HOSTS)

    kill_all(network.hosts[1])

    assert ended(hosts.runner, handle).is_lost
    until(lambda: network.hosts[0].pids() == [])


def test_a_host_that_is_cut_off_for_a_while_goes_on_and_loses_no_line(hosts: Hosts, network: NamespaceNetwork) -> None:
    script = "for n in $(seq 1 60); do echo $RESOLUTE_NODE_RANK $n; sleep 0.05; done"
    gang = hosts.spread("a.1", script)
    handle = hosts.runner.start(gang)
    until(lambda: len(hosts.lines(gang)) > 4)

    network.hosts[1].cut_off()
    before = hosts.lines(gang)
    until(lambda: hosts.lines(gang).count("0 60") == 1)
    during = hosts.runner.poll([handle])[handle]
    network.hosts[1].join()
    status = ended(hosts.runner, handle)

    assert not during.is_over
    assert status.exit_code == 0
    assert "1 60" not in before
    for rank in range(HOSTS):
        told = [line for line in hosts.lines(gang) if line.startswith(f"{rank} ")]
        assert told == [f"{rank} {number}" for number in range(1, 61)]


def test_what_is_stopped_and_forgotten_before_it_began_never_begins(hosts: Hosts, network: NamespaceNetwork) -> None:
    handle = hosts.runner.start(hosts.spread("a.1", "echo here; exec sleep 600"))

    hosts.runner.stop(handle, force=True)
    status = ended(hosts.runner, handle)
    hosts.runner.forget(handle)
    until(lambda: [host.pids() for host in network.hosts] == [[], []])

    assert status.exit_code == 137
    assert hosts.lines(hosts.spread("a.1", "")) == []


def test_nothing_is_started_where_a_host_is_cut_off(hosts: Hosts, network: NamespaceNetwork) -> None:
    network.hosts[1].cut_off()

    with pytest.raises(Unavailable, match="host1 cannot be reached"):
        hosts.runner.start(hosts.spread("a.1", "echo here"))

    assert [node.is_enabled for node in hosts.runner.nodes()] == [True, False]
    assert hosts.runner.running() == []


def test_a_gang_that_cannot_be_started_at_all_is_tried_again(hosts: Hosts, tmp_path: Path) -> None:
    (tmp_path / "hosts/host0/runs/a.1.0/node.json").mkdir(parents=True)

    with pytest.raises(Unavailable, match="cannot be started on host0: Is a directory"):
        hosts.runner.start(hosts.spread("a.1", "echo here"))

    assert hosts.runner.running() == []


def test_a_gang_that_can_be_started_in_part_only_is_ended_and_lost(
    hosts: Hosts, network: NamespaceNetwork, tmp_path: Path
) -> None:
    (tmp_path / "hosts/host1/runs/a.1.1/node.json").mkdir(parents=True)

    handle = hosts.runner.start(hosts.spread("a.1", "echo here; exec sleep 600"))

    assert ended(hosts.runner, handle).is_lost
    until(lambda: network.hosts[0].pids() == [])
