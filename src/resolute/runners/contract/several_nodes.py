"""What is asked of a runner whose gangs may span nodes: each part knows its place, they meet, and they end together."""

from pathlib import Path
from typing import Protocol

import pytest

from resolute.engine.ports.runner import Gang, Runner
from resolute.runners.contract.patience import ended, until

NODES = 2
_PLACE = "$RESOLUTE_NODE_RANK $DET_RESOURCES_ID $DET_AGENT_ID"
_MEET = """
import json, os, socket, time
facts = json.loads(os.environ["RESOLUTE_RENDEZVOUS"])
target = (facts["addresses"][0], int(os.environ["C10D_PORT"]))
if facts["rank"] == 0:
    with socket.create_server(target) as server:
        for _ in facts["addresses"][1:]:
            connection, (caller, _) = server.accept()
            connection.close()
            print("met", caller, flush=True)
else:
    with socket.socket() as own:
        own.bind((facts["addresses"][facts["rank"]], 0))
        while own.connect_ex(target):
            own.close()
            own = socket.socket()
            own.bind((facts["addresses"][facts["rank"]], 0))
            time.sleep(0.05)
        own.recv(1)
print("addresses", " ".join(facts["addresses"]), flush=True)
"""
FILES = {"meet.py": _MEET, "here.txt": "the model definition"}


class SeveralNodes(Protocol):
    """A runner with two nodes at least, and gangs that span them. The name of a gang is its allocation id."""

    runner: Runner

    def spread(self, name: str, script: str, files: dict[str, str] | None = None) -> Gang:
        """A gang of one slot on each of NODES nodes, each of which runs this line of shell; `files` are its model
        definition. Where nodes are machines, its environment names a master that they reach."""

    def lines(self, gang: Gang) -> list[str]:
        """What all of its nodes have written so far, each node's lines in order."""

    def reopened(self) -> Runner:
        """The runner as the next master finds it."""


class SeveralNodesContract:
    @pytest.fixture
    def subject(self, tmp_path: Path) -> SeveralNodes:
        raise NotImplementedError("Give the class a fixture `subject` of its own.")

    def test_each_node_knows_its_place(self, subject: SeveralNodes) -> None:
        gang = subject.spread("a.1", f'echo "{_PLACE}"')

        status = ended(subject.runner, subject.runner.start(gang))

        assert status.exit_code == 0, status.reason
        until(lambda: len(subject.lines(gang)) == NODES)
        expected = [f"{part.rank} a.1.{part.rank} {part.share.node_id}" for part in gang.nodes]
        assert sorted(subject.lines(gang)) == expected

    def test_nodes_reach_each_other_at_the_addresses_they_are_told(self, subject: SeveralNodes) -> None:
        gang = subject.spread("a.1", "python3 meet.py", FILES)

        status = ended(subject.runner, subject.runner.start(gang))

        assert status.exit_code == 0, (status.reason, subject.lines(gang))
        until(lambda: len(subject.lines(gang)) == 2 * NODES - 1)
        told = {line for line in subject.lines(gang) if line.startswith("addresses")}
        addresses = told.pop().split()[1:]
        assert not told
        assert len(set(addresses)) == len(addresses) == NODES
        assert f"met {addresses[1]}" in subject.lines(gang)

    def test_every_node_has_the_model_definition(self, subject: SeveralNodes) -> None:
        gang = subject.spread("a.1", "cat here.txt; echo", FILES)

        ended(subject.runner, subject.runner.start(gang))

        until(lambda: subject.lines(gang) == [FILES["here.txt"]] * NODES)

    @pytest.mark.parametrize("victim", range(NODES))
    def test_when_one_node_fails_the_others_end_and_its_exit_code_is_that_of_all(
        self, subject: SeveralNodes, victim: int
    ) -> None:
        gang = subject.spread("a.1", f"echo here; [ $RESOLUTE_NODE_RANK = {victim} ] && exit 3; exec sleep 600")

        status = ended(subject.runner, subject.runner.start(gang))

        assert (status.exit_code, status.is_lost) == (3, False)
        assert gang.nodes[victim].share.node_id in status.reason
        assert subject.runner.running() == []

    def test_a_gang_is_over_when_its_last_node_is(self, subject: SeveralNodes) -> None:
        gang = subject.spread("a.1", "echo here; [ $RESOLUTE_NODE_RANK = 0 ] && exit 0; exec sleep 600")
        handle = subject.runner.start(gang)
        until(lambda: len(subject.lines(gang)) == NODES)

        is_over = subject.runner.poll([handle])[handle].is_over
        subject.runner.stop(handle, force=False)

        assert not is_over
        assert ended(subject.runner, handle).exit_code == 143

    @pytest.mark.parametrize(("force", "exit_code"), [(False, 143), (True, 137)])
    def test_an_order_to_end_reaches_every_node(self, subject: SeveralNodes, force: bool, exit_code: int) -> None:
        gang = subject.spread("a.1", "echo here; exec sleep 600")
        handle = subject.runner.start(gang)
        until(lambda: len(subject.lines(gang)) == NODES)

        subject.runner.stop(handle, force=force)

        assert ended(subject.runner, handle).exit_code == exit_code

    def test_the_next_master_finds_all_nodes_and_starts_none_again(self, subject: SeveralNodes) -> None:
        gang = subject.spread("a.1", "echo here; exec sleep 600")
        handle = subject.runner.start(gang)
        until(lambda: len(subject.lines(gang)) == NODES)

        subject.runner.close(stop_gangs=False)
        successor = subject.reopened()
        successor.start(gang)

        assert successor.running() == [handle]
        successor.stop(handle, force=True)
        assert ended(successor, handle).exit_code == 137
        assert subject.lines(gang) == ["here"] * NODES
