"""`python -m resolute.runners.node`: one node's part of a gang, as any engine starts it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.gang import CLUSTER_INFO, Phase
from resolute.engine.ports.runner import Gang, NodePart
from resolute.runners.contract import MasterStandIn, until
from resolute.runners.node import REQUEST_VARIABLE
from resolute.runners.node_request import NodeRequest, node_request

COMMAND = [sys.executable, "-m", "resolute.runners.node"]


@pytest.fixture
def master() -> Iterator[MasterStandIn]:
    with MasterStandIn() as running:
        yield running


class Node:
    """Starts the command as an engine would: with a request, a home, and no more of our environment than it has."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.started: list[subprocess.Popen[str]] = []

    def start(
        self, request: NodeRequest, *options: str, env: Mapping[str, str] | None = None, text: str | None = None
    ) -> subprocess.Popen[str]:
        command = [*COMMAND, "--home", str(self.home), *(options or ("--request", "-"))]
        content = json.dumps(request.as_json()) if text is None else text
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self.started.append(process)
        assert process.stdin is not None
        process.stdin.write(content)
        process.stdin.close()
        process.stdin = None
        return process

    def run(
        self, request: NodeRequest, *options: str, env: Mapping[str, str] | None = None, text: str | None = None
    ) -> tuple[int, str]:
        process = self.start(request, *options, env=env, text=text)
        _, complaint = process.communicate(timeout=60)
        return process.returncode, complaint


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "node")
    yield node
    for process in node.started:
        if process.poll() is None:
            process.send_signal(signal.SIGUSR2)
            process.communicate(timeout=30)


def request_of(master: MasterStandIn, entrypoint: str, **options: object) -> NodeRequest:
    gang = Gang(allocation_id="a.1", task_id="a", run_id=1, entrypoint=entrypoint, env=master.env)
    request = node_request(gang, NodePart(share=NodeShare("somewhere", (0,)), env={"DET_RESOURCES_ID": "a.1.0"}))
    return replace(request, node_count=1, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", ["a file", "standard input", "the environment"])
def test_it_ends_as_its_entrypoint_did_wherever_the_request_comes_from(
    master: MasterStandIn, node: Node, tmp_path: Path, source: str
) -> None:
    request = request_of(master, "exit 7")
    text = json.dumps(request.as_json())
    file = tmp_path / "request.json"
    file.write_text(text)
    calls: dict[str, Callable[[], tuple[int, str]]] = {
        "a file": lambda: node.run(request, "--request", str(file), text=""),
        "standard input": lambda: node.run(request, "--request", "-"),
        "the environment": lambda: node.run(request, "--rank", "0", env={REQUEST_VARIABLE: text}, text=""),
    }

    code, complaint = calls[source]()

    assert (code, complaint) == (7, "")


def test_output_and_phases_reach_the_master(master: MasterStandIn, node: Node) -> None:
    code, _ = node.run(request_of(master, "echo one; echo two"))

    assert code == 0
    assert master.lines("a.1") == ["one", "two"]
    assert master.phases["a.1.0"] == [Phase.STARTING, Phase.RUNNING, Phase.ENDED]


def test_a_master_that_is_away_is_waited_for(master: MasterStandIn, node: Node) -> None:
    with master.away():
        process = node.start(request_of(master, "echo said"))
        until(lambda: (node.home / "runs/a.1.0/entrypoint.json").exists())

    process.communicate(timeout=60)

    assert process.returncode == 0
    assert master.lines("a.1") == ["said"]


def test_a_run_that_has_been_replaced_ends_itself(master: MasterStandIn, node: Node) -> None:
    process = node.start(request_of(master, "trap '' TERM; while true; do echo here; sleep 0.1; done"))
    until(lambda: master.lines("a.1"))

    master.over.add("a.1")
    process.communicate(timeout=60)

    assert process.returncode == 137


def test_nothing_of_the_request_is_to_be_seen_by_others(master: MasterStandIn, node: Node) -> None:
    request = request_of(master, "echo here; exec sleep 600", env={"DET_RESOURCES_ID": "a.1.0"})
    process = node.start(request, env={**master.env, REQUEST_VARIABLE: "unused"})
    until(lambda: master.lines("a.1") == ["here"])

    seen = (Path(f"/proc/{process.pid}/cmdline").read_bytes(), Path(f"/proc/{process.pid}/environ").read_bytes())
    left = [path for path in node.home.rglob("*.json") if master.env["DET_SESSION_TOKEN"] in path.read_text()]

    assert master.env["DET_SESSION_TOKEN"].encode() not in seen[0] + seen[1]
    assert left == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGUSR2, 137)])
def test_orders_reach_the_entrypoint(master: MasterStandIn, node: Node, number: signal.Signals, code: int) -> None:
    process = node.start(request_of(master, "echo here; exec sleep 600"))
    until(lambda: master.lines("a.1") == ["here"])

    process.send_signal(number)
    process.communicate(timeout=60)

    assert process.returncode == code


def test_the_same_request_again_starts_nothing_and_ends_in_the_same_way(master: MasterStandIn, node: Node) -> None:
    request = request_of(master, "echo started; exit 4")

    codes = [node.run(request)[0] for _ in range(2)]

    assert codes == [4, 4]
    assert master.lines("a.1") == ["started"]


def test_a_second_supervisor_leaves_the_first_one_alone(master: MasterStandIn, node: Node) -> None:
    request = request_of(master, "echo started; exec sleep 600")
    first = node.start(request)
    until(lambda: master.lines("a.1") == ["started"])

    code, complaint = node.run(request)

    assert code == 75
    assert "runs here already" in complaint
    assert first.poll() is None


def test_after_a_killed_supervisor_nothing_of_its_run_is_left_and_nothing_starts_again(
    master: MasterStandIn, node: Node
) -> None:
    request = request_of(master, "setsid sh -c 'echo $$; exec sleep 600' & wait")
    first = node.start(request)
    until(lambda: master.lines("a.1"))
    (worker,) = master.lines("a.1")

    first.kill()
    first.communicate(timeout=60)
    code, complaint = node.run(request)
    until(lambda: not Path(f"/proc/{worker}").exists())

    assert code in (75, 137)
    assert "a.1.0" in complaint
    assert node.run(request)[0] == 137


def test_where_an_engine_has_placed_it_the_node_completes_the_request(master: MasterStandIn, node: Node) -> None:
    gang = Gang(
        allocation_id="a.1",
        task_id="a",
        run_id=1,
        entrypoint='echo "$DET_RESOURCES_ID $DET_AGENT_ID $DET_SLOT_IDS"; cat $RESOLUTE_INFO_DIR/cluster.json; echo',
        env=master.env,
        files={CLUSTER_INFO: json.dumps({"cluster_id": "c", "agent_id": "", "slot_ids": []})},
        slots=2,
        resource_pool="engine",
    )
    options = ("--request", "-", "--rank", "0", "--nodes", "1", "--node-id", "blade7", "--slots", "2")

    code, complaint = node.run(node_request(gang), *options)

    assert (code, complaint) == (0, "")
    told, info = master.lines("a.1")
    assert told == "a.1.0 blade7 [0, 1]"
    assert json.loads(info) == {"cluster_id": "c", "agent_id": "blade7", "slot_ids": [0, 1]}


def test_master_and_token_may_come_from_the_environment(master: MasterStandIn, node: Node) -> None:
    request = request_of(master, 'echo "$DET_MASTER"', env={"DET_RESOURCES_ID": "a.1.0"})

    code, _ = node.run(request, env=master.env)

    assert code == 0
    assert master.lines("a.1") == [master.env["DET_MASTER"]]


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("{", ("--request", "-"), "The node request in standard input cannot be read"),
        ("{}", ("--request", "-"), "The node request in standard input cannot be read"),
        ("", ("--request", "/nowhere/request.json"), "The node request in /nowhere/request.json cannot be read"),
        ("", ("--rank", "0"), "There is no node request. Name a file with --request"),
    ],
)
def test_a_request_that_cannot_be_read_is_refused_with_a_sentence(
    master: MasterStandIn, node: Node, text: str, options: tuple[str, ...], sentence: str
) -> None:
    code, complaint = node.run(request_of(master, "true"), *options, text=text)

    assert code == 2
    assert sentence in complaint
    assert "Traceback" not in complaint
