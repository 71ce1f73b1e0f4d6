"""What a trial that spans hosts is given: one part a node, and what they share once."""

import io
import json
import tarfile
from typing import Any

import pytest

from resolute.domain.gang import PORT_NAMES
from resolute.domain.node import Node, Slot
from resolute.engine.ports.runner import Gang

WIDE = """
name: wide
entrypoint: python3 train.py
resources: {slots_per_trial: 4}
searcher: {name: single, metric: loss}
"""


@pytest.fixture
def gang(world: Any) -> Gang:
    world.runner.set_nodes([_node("one"), _node("two")])
    world.create(WIDE, context=_archive({"train.py": "pass"}))
    world.tick()
    (started,) = world.runner.started
    return started


def test_each_node_of_a_gang_has_its_own_share_rank_and_names(gang: Gang) -> None:
    first, second = gang.nodes
    allocation = gang.allocation_id

    assert [(part.rank, part.share.node_id, part.share.slot_ids) for part in gang.nodes] == [
        (0, "one", (0, 1)),
        (1, "two", (0, 1)),
    ]
    assert first.env["DET_RESOURCES_ID"] == first.env["DET_CONTAINER_ID"] == f"{allocation}.0"
    assert second.env["DET_RESOURCES_ID"] == second.env["DET_CONTAINER_ID"] == f"{allocation}.1"
    assert (first.env["DET_AGENT_ID"], second.env["DET_AGENT_ID"]) == ("one", "two")
    assert second.env["DET_SLOT_IDS"] == "[0, 1]"


def test_the_harness_file_of_a_node_names_that_node(gang: Gang) -> None:
    files = [json.loads(part.files["info/cluster.json"]) for part in gang.nodes]

    assert [(file["agent_id"], file["slot_ids"]) for file in files] == [("one", [0, 1]), ("two", [0, 1])]
    assert {file["allocation_id"] for file in files} == {gang.allocation_id}
    assert "info/rendezvous.json" not in gang.files


def test_the_model_definition_is_named_and_not_carried(world: Any, gang: Gang) -> None:
    assert gang.context_id == world.experiment(1).context_id


def test_ports_are_not_chosen_by_the_master(gang: Gang) -> None:
    assert not any(name in {**gang.env, **part.env} for part in gang.nodes for name in PORT_NAMES)


def test_an_image_and_native_options_reach_the_runner(world: Any) -> None:
    options = "environment: {image: {cpu: 'python:3.12', cuda: 'nvidia/cuda'}}\nslurm: {sbatch_args: ['--qos=high']}\n"

    world.create(WIDE.replace("slots_per_trial: 4", "slots_per_trial: 1") + options)
    world.tick()

    (started,) = world.runner.started
    assert started.environment.image == "python:3.12"
    assert started.native["slurm"]["sbatch_args"] == ["--qos=high"]
    assert "pbs" not in started.native


NATIVE = {
    "pod_spec": (
        "environment: {pod_spec: {spec: {nodeSelector: {gpu: h200}}}}",
        {"spec": {"nodeSelector": {"gpu": "h200"}}},
    ),
    "slurm": ("slurm: {slots_per_node: 4, gpu_type: tesla}", {"slots_per_node": 4, "gpu_type": "tesla"}),
    "pbs": ("pbs: {pbsbatch_args: [-l, walltime=1]}", {"pbsbatch_args": ["-l", "walltime=1"]}),
    "ray": ("ray: {num_gpus: 0.5, resources: {special: 1}}", {"num_gpus": 0.5, "resources": {"special": 1}}),
}


@pytest.mark.parametrize("engine", NATIVE)
def test_the_options_of_each_engine_reach_the_runner_in_its_own_words(world: Any, engine: str) -> None:
    written, expected = NATIVE[engine]

    world.create(WIDE.replace("slots_per_trial: 4", "slots_per_trial: 1") + written + "\n")
    world.tick()

    (started,) = world.runner.started
    (name,) = started.native
    assert name == engine
    assert {key: value for key, value in started.native[engine].items() if value not in (None, [])} == expected


def _node(name: str) -> Node:
    return Node(id=name, slots=(Slot(0), Slot(1)))


def _archive(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content.encode()))
    return buffer.getvalue()
