"""The xView tutorial's own configurations, as they stand, made short: on a live master, with made-up pictures."""

import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "xview"
CONST = """
name: resnet_fpn_frcnn_xview_dist_warmup
workspace: <WORKSPACE_NAME>
project: <PROJECT_NAME>
profiling:
 enabled: true
 begin_on_batch: 0
 end_after_batch: null
hyperparameters:
    lr: 0.01
    momentum: 0.9
    global_batch_size: 128
    weight_decay: 1.0e-4
    gamma: 0.1
    warmup: linear
    warmup_iters: 200
    warmup_ratio: 0.001

    step1: 18032
    step2: 19320
    model: fasterrcnn_resnet50_fpn
    dataset_file: coco
    backend: aws
    data_dir: determined-ai-coco-dataset
    masks: false
    num_workers: 4
    device: cuda
environment:
    image: determinedai/environments:cuda-11.3-pytorch-1.10-tf-2.8-gpu-mpi-0.19.10
    environment_variables:
        - NCCL_DEBUG=INFO
        - NCCL_SOCKET_IFNAME=ens,eth,ib
bind_mounts:
    - host_path: /tmp
      container_path: /data
      read_only: false
scheduling_unit: 400
min_validation_period:
    batches: 1288

searcher:
  name: single
  metric: mAP
  smaller_is_better: true
  max_length:
    batches: 38640
records_per_epoch: 1288
resources:
    slots_per_trial: 8
    shm_size: 2000000000
max_restarts: 0

entrypoint: python3 -m determined.launch.torch_distributed --trial model_def:ObjectDetectionTrial
"""
ARCHITECTURES = [
    "fasterrcnn_resnet50_fpn", "fcos_resnet50_fpn", "ssd300_vgg16", "ssdlite320_mobilenet_v3_large",
    "resnet152_fasterrcnn_model", "efficientnet_b4_fasterrcnn_model", "convnext_large_fasterrcnn_model",
    "convnext_small_fasterrcnn_model",
]  # fmt: skip
TO_SEARCH = {
    "resnet_fpn_frcnn_xview_dist_warmup": "xview_frxnn_search",
    "<WORKSPACE_NAME>": "Andrew",
    "<PROJECT_NAME>": "Xview FasterRCNN",
    "    model: fasterrcnn_resnet50_fpn": f"    model:\n      type: categorical\n      vals: {ARCHITECTURES}",
    "    image: determinedai/environments:cuda-11.3-pytorch-1.10-tf-2.8-gpu-mpi-0.19.10\n": "",
    "name: single": "name: grid",
    "smaller_is_better: true": "smaller_is_better: false",
    "batches: 38640": "batches: 51520",
}
SHORT = {
    "global_batch_size: 128": "global_batch_size: 2",
    "backend: aws": "backend: fake",
    "num_workers: 4": "num_workers: 0\n    fake_images: 2\n    fake_size: 64",
}


def changed(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def finished(live_master: Any, config: str, folder: Path, timeout_s: float) -> tuple[str, list[dict[str, Any]]]:
    code = folder / "determined_files"
    code.mkdir()
    shutil.copy(EXAMPLE / "model_def.py", code)
    experiment = live_master.create(config, code)
    state = live_master.wait(experiment, timeout_s=timeout_s)
    return state, live_master.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"]


def log_of(live_master: Any, trial: dict[str, Any]) -> str:
    return str(live_master.http.get(f"{live_master.url}/api/v1/trials/{trial['id']}/logs").text)


def make_project(live_master: Any, workspace: str, project: str) -> None:
    made = live_master.call("POST", "/api/v1/workspaces", json={"name": workspace})["workspace"]["id"]
    live_master.call("POST", f"/api/v1/workspaces/{made}/projects", json={"name": project})


def test_the_distributed_experiment_trains_on_all_its_slots(live_master: Any, tmp_path: Path) -> None:
    make_project(live_master, "<WORKSPACE_NAME>", "<PROJECT_NAME>")
    short = {**SHORT, "slots_per_trial: 8": "slots_per_trial: 2", "batches: 38640": "batches: 1"}
    config = changed(changed(CONST, short), {"device: cuda": "device: cuda\n    min_size: 64"})

    state, (trial,) = finished(live_master, config, tmp_path, 240)

    log = log_of(live_master, trial)
    assert state == "STATE_COMPLETED", log
    assert trial["totalBatchesProcessed"] == 1
    assert {"mAP", "mAP_50", "mAP_75", "mAP_small"} <= set(trial["bestValidation"]["metrics"]["avgMetrics"])
    assert "torch sees no GPU here" in log
    assert "more mAP is better" in log  # Its smaller_is_better is the wrong way round.


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_search_trains_each_of_its_eight_architectures(live_master: Any, tmp_path: Path) -> None:
    make_project(live_master, "Andrew", "Xview FasterRCNN")
    short = {**SHORT, "slots_per_trial: 8": "slots_per_trial: 1", "batches: 51520": "batches: 1"}
    # The largest side that all of them take and that two cores can bear; SSD300 takes no less.
    config = changed(changed(changed(CONST, TO_SEARCH), short), {"device: cuda": "device: cuda\n    min_size: 300"})

    state, trials = finished(live_master, config, tmp_path, 800)

    assert state == "STATE_COMPLETED", "\n".join(log_of(live_master, trial) for trial in trials)
    assert {trial["hparams"]["model"] for trial in trials} == set(ARCHITECTURES)
    assert all(trial["state"] == "STATE_COMPLETED" for trial in trials)
    assert all("mAP" in trial["bestValidation"]["metrics"]["avgMetrics"] for trial in trials)


def test_hyperparameters_that_one_architecture_cannot_have_do_not_stop_a_search(
    live_master: Any, tmp_path: Path
) -> None:
    make_project(live_master, "Andrews", "Xview")
    names = {"<WORKSPACE_NAME>": "Andrews", "<PROJECT_NAME>": "Xview"}
    two = "['ssd300_vgg16', 'ssdlite320_mobilenet_v3_large']"
    search = {
        **TO_SEARCH,
        **names,
        "    model: fasterrcnn_resnet50_fpn": f"    model: {{type: categorical, vals: {two}}}",
    }
    short = {**SHORT, "slots_per_trial: 8": "slots_per_trial: 1", "batches: 51520": "batches: 1"}
    short |= {"max_restarts: 0": "max_restarts: 5"}
    config = changed(changed(changed(CONST, search), short), {"device: cuda": "device: cuda\n    min_size: 64"})

    state, trials = finished(live_master, config, tmp_path, 240)

    refused, trained = sorted(trials, key=lambda trial: str(trial["hparams"]["model"]))
    assert state == "STATE_COMPLETED"
    assert trained["state"] == "STATE_COMPLETED"
    assert refused["state"] == "STATE_ERROR"
    assert refused.get("restarts", 0) == 0
    assert "Invalid hyperparameters: Model ssd300_vgg16: min_size is 64" in log_of(live_master, refused)
