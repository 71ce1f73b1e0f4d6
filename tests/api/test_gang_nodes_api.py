"""The routes that supervisors on other hosts call, with nothing but their allocation's token."""

import base64
import io
import json
import tarfile
import threading
from typing import Any

import pytest

from resolute.domain.gang import Phase
from resolute.domain.log import LogLine, encode_line
from resolute.domain.node import Node, Slot

from .conftest import CONFIG

WIDE = CONFIG + "resources: {slots_per_trial: 4}\n"
RECORDS = encode_line(LogLine(10**15, "from, [another] host"))


@pytest.fixture
def wide(api: Any) -> Any:
    """A trial on two nodes, seen from inside."""
    api.runner.set_nodes([Node(id=name, slots=(Slot(0), Slot(1))) for name in ("one", "two")])
    return api.running(WIDE)


def part(trial: Any, rank: int, verb: str) -> str:
    return f"/api/v1/allocations/{trial.allocation_id}/resources/{trial.allocation_id}.{rank}/{verb}"


def join(trial: Any, rank: int) -> dict[str, Any]:
    body = {"nodeId": f"n{rank}", "address": f"10.0.0.{rank}", "slotIds": [0, 1], "ports": [9000 + rank], "nodes": 2}
    return dict(trial.api.post(part(trial, rank, "rendezvous"), body))


def send(trial: Any, sequence: int, records: bytes = RECORDS, *, expect: int = 200) -> Any:
    path = part(trial, 1, f"logs?sequence={sequence}")
    headers = {**trial.api.headers, "Content-Type": "application/octet-stream"}
    answer = trial.api.client.post(path, content=records, headers=headers)
    assert answer.status_code == expect, answer.text
    return answer.json()


def test_two_nodes_meet(wide: Any) -> None:
    first, second = join(wide, 0), join(wide, 1)

    assert first == {"isComplete": False, "rendezvousInfo": None, "ports": []}
    assert second == {
        "isComplete": True,
        "rendezvousInfo": {"addresses": ["10.0.0.0", "10.0.0.1"], "rank": 1, "slots": [2, 2]},
        "ports": [9000],
    }


def test_the_harness_waits_for_the_last_node_and_learns_of_the_same_meeting(wide: Any) -> None:
    join(wide, 0)
    answers: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: answers.append(wide.api.get(part(wide, 0, "rendezvous"))))
    waiting.start()

    last = join(wide, 1)
    waiting.join(10)

    assert answers == [{"rendezvousInfo": {**last["rendezvousInfo"], "rank": 0}}]


def test_a_node_fetches_the_model_definition_as_it_was_uploaded(wide: Any) -> None:
    answer = wide.api.get(f"/api/v1/allocations/{wide.allocation_id}/context")

    with tarfile.open(fileobj=io.BytesIO(answer.content), mode="r:gz") as archive:
        assert archive.getnames() == ["train.py"]
    whole = wide.api.get(f"/api/v1/tasks/{wide.task_id}/context_directory")
    assert base64.b64decode(whole["b64Tgz"]) == answer.content


def test_a_trial_has_no_model_to_fetch(api: Any, wide: Any) -> None:
    path = f"/api/v1/allocations/{wide.allocation_id}/model"

    assert "has no model to fetch" in wide.api.refusal("GET", path, expect=404)
    assert "Only a running task" in api.refusal("GET", path, expect=403)


def test_output_of_another_host_stands_in_the_log_of_its_task_once(wide: Any) -> None:
    for sequence in (1, 1, 2, 1):
        send(wide, sequence)

    lines = [line["message"] for line in wide.api.lines(f"/api/v1/tasks/{wide.task_id}/logs")]
    assert sum("from, [another] host" in line for line in lines) == 2


def test_output_may_be_as_large_as_a_supervisor_sends_it_and_full_of_commas(wide: Any) -> None:
    many = encode_line(LogLine(10**15, "," * 60_000)) * 120

    send(wide, 1, many)

    assert wide.api.platform.logs.size(wide.task_id) > len(many) > 7_000_000


@pytest.mark.parametrize(
    ("sequence", "records", "sentence"),
    [(2, RECORDS, "Send batch 1 first"), (1, RECORDS[:-1], "whole record"), (1, b"", "whole record"), (0, RECORDS, "")],
)
def test_output_that_is_out_of_order_or_torn_is_refused(
    wide: Any, sequence: int, records: bytes, sentence: str
) -> None:
    assert sentence in json.dumps(send(wide, sequence, records, expect=400))


def test_phases_are_taken(wide: Any) -> None:
    path = part(wide, 1, "phase")

    assert wide.api.post(path, {"phase": "PULLING", "exitCode": None, "reason": ""}) == {}
    assert wide.api.post(path, {"phase": "ENDED", "exitCode": 137, "reason": "killed"}) == {}
    assert "phase" in wide.api.refusal("POST", path, {"phase": "SLEEPING"}, expect=400)
    assert wide.api.refusal("POST", path, {"phase": "ENDED", "exitCode": 10**12}, expect=400)

    with wide.api.platform.store.read() as tx:
        (node,) = tx.gang_nodes.of_allocation(wide.allocation_id)
    assert (node.phase, node.exit_code, node.reason) == ("ENDED", 137, "killed")


def test_the_state_of_an_allocation_is_that_of_its_slowest_node(api: Any, wide: Any) -> None:
    def state() -> str:
        task = api.get(f"/api/v1/tasks/{wide.task_id}")["task"]
        assert api.get(f"/api/v1/allocations/{wide.allocation_id}")["allocation"] == task["allocations"][0]
        return str(task["allocations"][0]["state"])

    states = [state()]
    for rank, phase in ((0, "PULLING"), (1, "PULLING"), (0, "RUNNING"), (1, "RUNNING"), (0, "ENDED"), (1, "ENDED")):
        wide.api.post(part(wide, rank, "phase"), {"phase": phase, "exitCode": None, "reason": ""})
        states.append(state())
    wide.exit()
    states.append(state())

    names = ["RUNNING", "STARTING", "PULLING", "PULLING", "RUNNING", "RUNNING", "TERMINATING", "TERMINATED"]
    assert states == [f"STATE_{name}" for name in names]


def test_every_node_is_shown_with_its_address_phase_and_exit(api: Any, wide: Any) -> None:
    join(wide, 1)
    wide.api.post(part(wide, 1, "phase"), {"phase": "RUNNING"})
    running = api.get("/api/v1/tasks")["allocationIdToSummary"][wide.allocation_id]["resources"][1]
    wide.api.post(part(wide, 1, "phase"), {"phase": "ENDED", "exitCode": 137, "reason": "killed by SIGKILL"})

    quiet, ended = api.get(f"/api/v1/allocations/{wide.allocation_id}")["allocation"]["nodes"]
    stopped = api.get("/api/v1/tasks")["allocationIdToSummary"][wide.allocation_id]["resources"][1]

    assert (quiet["rank"], quiet["nodeId"], quiet["slotIds"], quiet["phase"]) == (0, "one", [0, 1], "PENDING")
    assert (ended["address"], ended["phase"], ended["exitCode"]) == ("10.0.0.1", "ENDED", 137)
    assert ended["phaseSince"]
    assert running["started"]["addresses"][0]["hostIp"] == "10.0.0.1"
    assert running["exited"] is None
    assert list(running["agentDevices"]) == ["n1"]
    assert stopped["exited"]["failure"] == {
        "failureType": "FAILURE_TYPE_RESOURCES_FAILED",
        "errMsg": "killed by SIGKILL",
        "exitCode": 137,
    }


def test_where_nodes_report_nothing_the_runner_says_how_far_the_gang_is(api: Any) -> None:
    trial = api.running()
    api.runner.enter(trial.allocation_id, Phase.PULLING)

    allocation = api.get(f"/api/v1/allocations/{trial.allocation_id}")["allocation"]

    assert allocation["state"] == "STATE_PULLING"
    assert [(node["nodeId"], node["phase"]) for node in allocation["nodes"]] == [("fake", "PULLING")]


def test_a_user_cannot_speak_for_a_node(api: Any, wide: Any) -> None:
    for verb in ("phase", "rendezvous", "logs?sequence=1"):
        assert "Only a running task may call" in api.refusal("POST", part(wide, 0, verb), {}, expect=403)
    assert "Only a running task" in api.refusal("GET", f"/api/v1/allocations/{wide.allocation_id}/context", expect=403)


def test_the_token_of_an_allocation_that_is_over_opens_nothing(wide: Any) -> None:
    wide.exit()
    wide.api.client.app.state.tokens.forget()

    wide.api.refusal("POST", part(wide, 0, "phase"), {"phase": "ENDED"}, expect=401)
