"""What the engine would be asked to run for an experiment: shown as it would be, with nothing created and no secret."""

import json
from typing import Any

import pytest

from resolute.domain.node import Node, Pool, Slot

from .conftest import CONFIG, file

FULL = """
name: full
entrypoint: [python3, train.py, --fast]
resources: {slots_per_trial: 4}
searcher: {name: single, metric: loss, max_length: {batches: 10}}
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 0.9}}
reproducibility: {experiment_seed: 7}
bind_mounts: [{host_path: /data, container_path: /data, read_only: true}]
environment:
  image: {cpu: 'python:3.12'}
  pod_spec: {spec: {nodeSelector: {gpu: h200}}}
  environment_variables: [PLAIN=shown, WANDB_API_KEY=wandbsecret]
slurm: {sbatch_args: [--qos=high]}
ray: {num_gpus: 0.5}
checkpoint_storage: {type: s3, bucket: b, access_key: AKIATEST, secret_key: topsecretkey}
max_restarts: 0
"""
OF_THIS_ONE = ("allocation_id", "task_id", "env", "log_path", "nodes")


def dry_run(api: Any, config: str, **fields: Any) -> dict[str, Any]:
    body = {"config": config, "modelDefinition": [file("train.py", b"print(1)")], **fields}
    return dict(api.post("/api/v1/experiments/dry-run", body))


@pytest.fixture
def two_nodes(api: Any) -> None:
    api.runner.set_nodes([Node(id=name, slots=(Slot(0), Slot(1))) for name in ("one", "two")])


@pytest.mark.usefixtures("two_nodes")
def test_the_request_is_the_one_that_the_first_trial_is_started_with(api: Any) -> None:
    shown = dry_run(api, FULL)["request"]
    api.create(FULL)
    api.tick()
    started = json.loads(json.dumps(api.runner.render(api.runner.started[0])))

    assert shown.keys() == started.keys()
    assert [key for key in shown if key not in OF_THIS_ONE and shown[key] != started[key]] == []
    assert [(n["rank"], n["node_id"], n["slot_ids"]) for n in shown["nodes"]] == [
        (n["rank"], n["node_id"], n["slot_ids"]) for n in started["nodes"]
    ]
    assert shown["env"].keys() == started["env"].keys()
    assert shown["env"]["DET_HPARAMS"] == started["env"]["DET_HPARAMS"]
    assert shown["native"] == {
        "pod_spec": {"spec": {"nodeSelector": {"gpu": "h200"}}},
        "slurm": {"gpu_type": None, "sbatch_args": ["--qos=high"], "slots_per_node": None},
        "ray": {"num_gpus": 0.5},
    }


@pytest.mark.usefixtures("two_nodes")
def test_nothing_is_created(api: Any) -> None:
    dry_run(api, FULL)
    api.tick()

    assert api.get("/api/v1/experiments")["experiments"] == []
    assert api.get("/api/v1/job-queues-v2", resourcePool="default")["jobs"] == []
    assert api.runner.started == []
    assert api.create() == 1


@pytest.mark.usefixtures("two_nodes")
def test_no_secret_is_shown(api: Any) -> None:
    text = json.dumps(dry_run(api, FULL))

    assert not any(secret in text for secret in ("AKIATEST", "topsecretkey", "wandbsecret"))
    assert '"DET_SESSION_TOKEN": "********"' in text
    assert '"PLAIN": "shown"' in text


def test_where_an_engine_places_no_node_is_named(api: Any) -> None:
    api.runner.set_nodes([])
    api.runner.set_pools([Pool("cluster", is_delegating=True)])

    request = dry_run(api, FULL)["request"]

    assert (request["nodes"], request["slots"], request["resource_pool"]) == ([], 4, "cluster")


def test_what_does_not_fit_is_said(api: Any) -> None:
    body = {"config": FULL, "modelDefinition": []}

    sentence = api.refusal("POST", "/api/v1/experiments/dry-run", body, expect=400)

    assert "4 slots do not fit on the nodes of pool default" in sentence


def test_a_search_that_waits_to_be_told_has_nothing_to_show(api: Any) -> None:
    body = {"config": CONFIG.replace("name: single", "name: custom")}

    assert "custom makes no trial" in api.refusal("POST", "/api/v1/experiments/dry-run", body, expect=400)


def test_a_fault_is_the_same_as_when_it_is_created(api: Any) -> None:
    body = {"config": "name: x\nentrypoint: y\nsearcher: {name: nope}\n"}

    faults = [api.refusal("POST", f"/api/v1/experiments{path}", body, expect=400) for path in ("", "/dry-run")]

    assert faults[0] == faults[1]


def test_it_shows_a_fork_with_the_files_of_its_parent(api: Any) -> None:
    parent = api.create()
    api.tick()

    request = api.post("/api/v1/experiments/dry-run", {"config": CONFIG, "parentId": parent})["request"]

    assert request["context_id"] == api.runner.started[0].context_id
