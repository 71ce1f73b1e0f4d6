"""Checkpoints on a real S3 server that are damaged while nobody looks: found at restore, as on a local disk."""

import time
from typing import Any

import obstore
from obstore.store import S3Store

CONFIG = """
name: saver
entrypoint: python3 saver.py
searcher: {{name: single, metric: loss}}
checkpoint_storage:
  type: s3
  bucket: contract
  prefix: faults
  endpoint_url: {endpoint}
  access_key: {key}
  secret_key: {secret}
  save_trial_latest: 5
"""


def test_a_bit_flipped_in_object_storage_is_found_and_the_checkpoint_before_it_is_used(
    master, s3_endpoint: str, s3_keys: tuple[str, str]
) -> None:
    key, secret = s3_keys
    experiment = master.create(CONFIG.format(endpoint=s3_endpoint, key=key, secret=secret), "saver.py")
    [trial] = _until(lambda: master.trials(experiment))
    _until(lambda: "waiting to be paused" in master.log(trial["id"]))
    newest = max(_checkpoints(master, trial["id"]), key=lambda each: each["metadata"]["steps_completed"])
    master.call("POST", f"/api/v1/experiments/{experiment}/pause")
    _until(lambda: master.experiment(experiment)["state"] == "STATE_PAUSED" and not _is_running(master, experiment))

    _flip_a_bit(_store(s3_endpoint, key, secret), f"faults/{newest['uuid']}/weights")
    master.call("POST", f"/api/v1/experiments/{experiment}/activate")

    assert master.wait(experiment) == "STATE_COMPLETED"
    log = master.log(trial["id"])
    assert "starting at step 10 with 'of step 10'" in log
    assert f"Checkpoint {newest['uuid']} is damaged" in log
    assert "sha256 differs" in log


def _checkpoints(master: Any, trial_id: int) -> list[dict[str, Any]]:
    return list(master.call("GET", f"/api/v1/trials/{trial_id}/checkpoints")["checkpoints"])


def _is_running(master: Any, experiment: int) -> bool:
    return any(trial["state"] in ("STATE_RUNNING", "STATE_ACTIVE") for trial in master.trials(experiment))


def _store(endpoint: str, key: str, secret: str) -> S3Store:
    options: Any = {"allow_http": True}
    return S3Store(
        "contract",
        endpoint=endpoint,
        access_key_id=key,
        secret_access_key=secret,
        region="us-east-1",
        client_options=options,
    )


def _flip_a_bit(store: S3Store, path: str) -> None:
    content = bytearray(obstore.get(store, path).bytes())
    content[-1] ^= 1
    obstore.put(store, path, bytes(content))


def _until(condition: Any) -> Any:
    deadline = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.1)
    return found
