"""Slots of this machine, and what a gang's processes are told about them."""

from pathlib import Path

import pytest

from resolute.domain.node import DeviceType, Node, Slot
from resolute.runners.environments import Environment
from resolute.runners.node_request import NodeRequest
from resolute.runners.process_env import process_env
from resolute.runners.shepherd.run_directory import RunDirectory
from resolute.runners.slots import local_node, usable_cores, visible_devices

DEVICES = [("H200", "GPU-aaaa"), ("H200", "GPU-bbbb"), ("T4", "GPU-bccc")]
CUDA_NODE = Node("here", tuple(Slot(n, DeviceType.CUDA, brand, uuid) for n, (brand, uuid) in enumerate(DEVICES)))
CPU_NODE = Node("here", (Slot(0), Slot(1)))


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (None, DEVICES),
        ("", []),
        ("2,0", [DEVICES[2], DEVICES[0]]),
        ("GPU-aaaa", [DEVICES[0]]),
        ("GPU-bb", [DEVICES[1]]),
        ("GPU-b", []),
        ("0,9,1", [DEVICES[0]]),
        ("-1", []),
    ],
)
def test_the_masters_own_limits_on_devices_are_honoured(allowed: str | None, expected: list[tuple[str, str]]) -> None:
    assert visible_devices(DEVICES, allowed) == expected


def test_without_devices_there_is_a_slot_per_usable_core() -> None:
    node = local_node("here", None, {"CUDA_VISIBLE_DEVICES": ""})

    assert len(node.slots) == usable_cores()
    assert {slot.type for slot in node.slots} == {DeviceType.CPU}


def test_the_number_of_slots_can_be_set() -> None:
    node = local_node("here", 5, {"CUDA_VISIBLE_DEVICES": ""})

    assert [slot.id for slot in node.slots] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("slots", "visible"), [((1,), "GPU-bbbb"), ((0, 2), "GPU-aaaa,GPU-bccc"), ((), "")])
def test_a_gang_sees_the_devices_of_its_slots_only(slots: tuple[int, ...], visible: str) -> None:
    assert env_of(CUDA_NODE, slots=slots)["CUDA_VISIBLE_DEVICES"] == visible


def test_threads_are_shared_out_over_the_slots_unless_the_user_says_otherwise() -> None:
    assert env_of(CPU_NODE)["OMP_NUM_THREADS"] == str(max(1, usable_cores() // 2))
    assert env_of(CPU_NODE, env={"OMP_NUM_THREADS": "9"})["OMP_NUM_THREADS"] == "9"


def test_nothing_of_the_masters_own_settings_is_inherited() -> None:
    inherited = {"RESOLUTE_TOKEN": "x", "DET_MASTER": "y", "VIRTUAL_ENV": "/v", "HOME": "/h", "PATH": "/usr/bin"}

    env = env_of(CPU_NODE, inherited=inherited)

    assert not {"RESOLUTE_TOKEN", "DET_MASTER", "VIRTUAL_ENV"} & set(env)
    assert env["HOME"] == "/h"


def test_the_interpreter_comes_first_on_the_path_even_when_the_gang_sets_one() -> None:
    env = env_of(CPU_NODE, env={"PATH": "/opt/tools"})

    assert env["PATH"].split(":")[-2:] == ["/opt/env/bin", "/opt/tools"]


def env_of(
    node: Node,
    *,
    slots: tuple[int, ...] = (0,),
    env: dict[str, str] | None = None,
    inherited: dict[str, str] | None = None,
) -> dict[str, str]:
    request = NodeRequest(allocation_id="a.1", slot_ids=slots, entrypoint="true", env=env or {})
    environment = Environment("/opt/env/bin/python", can_be_warm=True)
    run = RunDirectory(Path("/home/runs/a.1"))
    return process_env(request, environment, node=node, run=run, inherited=inherited or {})
