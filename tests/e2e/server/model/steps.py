"""Counts steps until it is asked to leave, then checkpoints; speaks plain HTTP, as any language could."""

import json
import os
import pathlib
import time
import urllib.request
import uuid

MASTER = os.environ["DET_MASTER"]
ALLOCATION = f"/api/v1/allocations/{os.environ['DET_ALLOCATION_ID']}"
STORAGE = json.loads(os.environ["DET_EXPERIMENT_CONFIG"])["checkpoint_storage"]["container_path"]


def call(method: str, path: str, body: object = None) -> dict:
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {os.environ['DET_SESSION_TOKEN']}"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(MASTER + path, data=data, method=method, headers=headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def checkpoint(steps: int) -> None:
    name = str(uuid.uuid4())
    folder = pathlib.Path(STORAGE, name)
    folder.mkdir(parents=True)
    (folder / "steps.txt").write_text(str(steps))
    ids = {"taskId": os.environ["DET_TASK_ID"], "allocationId": os.environ["DET_ALLOCATION_ID"]}
    files = {"resources": {"steps.txt": str(len(str(steps)))}, "metadata": {"steps_completed": steps}}
    call("POST", "/api/v1/checkpoints", {"uuid": name, "state": "STATE_COMPLETED", **files, **ids})


steps = 0
latest = os.environ.get("DET_LATEST_CHECKPOINT")
if latest:
    steps = int(pathlib.Path(STORAGE, latest, "steps.txt").read_text())
    print(f"resumed at {steps}", flush=True)
print("running", flush=True)
while steps < 100_000 and not latest:
    steps += 1
    if call("GET", f"{ALLOCATION}/signals/preemption?timeout_seconds=0")["preempt"]:
        call("POST", f"{ALLOCATION}/signals/ack_preemption")
        checkpoint(steps)
        print(f"left at {steps}", flush=True)
        break
    time.sleep(0.02)
