"""No answer of the API shows a secret of a configuration, and forks keep the ones they were made from."""

import json
from typing import Any

CONFIG = """
name: keys  # mine
entrypoint: python3 train.py
searcher: {name: single, metric: loss, max_length: {batches: 10}}
checkpoint_storage: {type: s3, bucket: b, access_key: AKIATEST, secret_key: topsecretkey}
environment: {environment_variables: [WANDB_API_KEY=wandbsecret, PLAIN=shown]}
max_restarts: 0
"""
SECRETS = ("AKIATEST", "topsecretkey", "wandbsecret")


def shown_config(api: Any, experiment: int) -> str:
    return str(api.get(f"/api/v1/experiments/{experiment}")["experiment"]["originalConfig"])


def test_no_answer_shows_a_secret_of_an_experiment(api: Any, admin: Any, make_file: Any) -> None:
    body = {"config": CONFIG, "modelDefinition": [make_file("train.py", b"print(1)")], "activate": True}
    created = admin.post("/api/v1/experiments", body)
    experiment = created["experiment"]["id"]

    answers = [
        created,
        api.get(f"/api/v1/experiments/{experiment}"),
        api.get("/api/v1/experiments"),
        api.post("/api/v1/experiments-search", {}),
        api.get(f"/api/v1/experiments/{experiment}/trials"),
        api.get("/api/v1/master/config"),
    ]

    text = json.dumps(answers)
    assert not any(secret in text for secret in SECRETS)
    assert "PLAIN=shown" in text
    assert "# mine" in shown_config(api, experiment)


def test_a_trial_is_given_the_real_values(api: Any) -> None:
    trial = api.running(CONFIG)

    spec = str(api.runner.__dict__)

    assert trial is not None
    assert all(secret in spec for secret in SECRETS)


def test_a_fork_of_what_is_shown_keeps_the_secrets(api: Any) -> None:
    parent = api.create(CONFIG)

    child = api.create(shown_config(api, parent), parentId=parent)

    with api.platform.store.read() as tx:
        storage = tx.experiments.get(child).config["checkpoint_storage"]
    assert storage["secret_key"] == "topsecretkey"


def test_a_mask_without_a_parent_is_refused(api: Any) -> None:
    parent = api.create(CONFIG)
    body = {"config": shown_config(api, parent), "activate": True}

    said = api.refusal("POST", "/api/v1/experiments", body, expect=400)

    assert "checkpoint_storage.secret_key: ******** stands for a secret that is not known here" in said


def test_templates_and_workspaces_show_no_keys_and_keep_them_when_edited(api: Any, admin: Any) -> None:
    storage = {"type": "s3", "bucket": "b", "access_key": "AKIATEST", "secret_key": "topsecretkey"}
    template = {"config": {"checkpoint_storage": storage, "max_restarts": 1}}
    admin.call("PUT", "/api/v1/templates/t", template)
    workspace = admin.post("/api/v1/workspaces", {"name": "w", "checkpointStorageConfig": storage})["workspace"]["id"]

    seen = admin.get("/api/v1/templates/t")["template"]["config"]
    admin.call("PATCH", "/api/v1/templates/t", {**seen, "max_restarts": 2})
    place = admin.get(f"/api/v1/workspaces/{workspace}")["workspace"]["checkpointStorageConfig"]
    admin.call("PATCH", f"/api/v1/workspaces/{workspace}", {"checkpointStorageConfig": {**place, "bucket": "c"}})

    assert "topsecretkey" not in json.dumps([seen, place])
    with api.platform.store.read() as tx:
        assert tx.templates.get("t").config["checkpoint_storage"]["secret_key"] == "topsecretkey"
        assert tx.workspaces.get(workspace).checkpoint_storage == {**storage, "bucket": "c"}
