"""Three workspaces full of things, people with every role, and a copy of the database to come back to.

Names of all things contain the name of their place, so that a place is recognised wherever it shows through.
"""

import base64
import contextlib
import gzip
import hashlib
import io
import json
import sqlite3
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from PIL import Image
from starlette.testclient import TestClient

from resolute.domain.log import LogLine
from resolute.domain.rights import RightsMode, RoleName
from resolute.domain.user import User
from resolute.engine.access import accounts, rights
from resolute.engine.access.workspaces import ensure_default_workspace
from resolute.engine.loop import prepare, tick
from resolute.engine.platform import MasterConfig, Platform
from resolute.runners.fake import FakeRunner
from resolute.server.app import create_app
from resolute.store.blobs import open_blobs
from resolute.store.blobs.dataset_files import open_dataset_files
from resolute.store.db import open_store
from resolute.store.logs import FileLogs

PLACES = ("own", "foreign", "archived")
"""What a caller has a role in, what he has none in, and what he has one in but is closed."""
MARKS = {"own": "zzown", "foreign": "zzforeign", "archived": "zzarchived"}
OWNERS = {"own": "maker", "foreign": "stranger", "archived": "maker"}
ROLES: dict[str, RoleName | None] = {
    "nobody": None,
    "model-registry-viewer": RoleName.MODEL_REGISTRY_VIEWER,
    "viewer": RoleName.VIEWER,
    "editor-restricted": RoleName.EDITOR_RESTRICTED,
    "editor": RoleName.EDITOR,
    "workspace-admin": RoleName.WORKSPACE_ADMIN,
    "cluster-admin": None,
    "maker": RoleName.EDITOR_RESTRICTED,
    "stranger": None,
    "bystander": None,
}
"""Users, and what each is assigned in the places `own` and `archived`. Nobody calls as the bystander."""
CONFIG = """
name: {mark}
description: {mark}
labels: [{mark}]
entrypoint: python3 train.py
searcher: {{name: single, metric: {mark}_loss, max_length: {{batches: 10}}}}
hyperparameters: {{{mark}_lr: 0.1}}
max_restarts: 0
"""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass
class Place:
    """Ids by the names that paths and bodies use."""

    name: str
    ids: dict[str, Any] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        return MARKS[self.name]


@dataclass
class World:
    platforms: dict[RightsMode, Platform]
    places: dict[str, Place]
    tokens: dict[str, str]
    users: dict[str, int]
    common: dict[str, Any]
    """Ids that are in no place."""
    folder: Path
    _saved: sqlite3.Connection

    def restore(self) -> None:
        """Everything stored is as it was. What the process remembers beside it is nobody's right."""
        with contextlib.closing(sqlite3.connect(database_of(self.platforms[RightsMode.BASIC]))) as live:
            self._saved.backup(live)
        for place in self.places.values():
            write_checkpoints(self.platforms[RightsMode.BASIC], place)
        self.platforms[RightsMode.BASIC].bus.publish(rights.RIGHTS_CHANGED)


def database_of(platform: Platform) -> str:
    with platform.store.read() as tx:
        rows = tx._connection.exec_driver_sql("PRAGMA database_list").all()  # type: ignore[attr-defined]
    return str(rows[0][2])


def build(folder: Path) -> World:
    runner = FakeRunner(16)
    moment = [NOON]
    basic = Platform(
        store=open_store("sqlite://"),
        runner=runner,
        logs=FileLogs(folder / "logs"),
        blobs=open_blobs,
        dataset_files=open_dataset_files,
        clock=lambda: moment[0],
        config=MasterConfig(
            home=folder,
            cluster_id="c1",
            checkpoint_storage={"type": "shared_fs", "host_path": str(folder / "checkpoints")},
        ),
    )
    roles = replace(basic, config=replace(basic.config, rights=RightsMode.ROLES))
    accounts.ensure_default_users(basic)
    ensure_default_workspace(basic)
    prepare(basic)
    users = {name: _user(basic, name) for name in ROLES}
    with TestClient(
        create_app(basic, whereabouts=lambda _: accounts.Whereabouts.OWN_ACCOUNT),
        base_url="http://127.0.0.1:8080",
        client=("127.0.0.1", 5),
    ) as client:
        tokens = {name: _token(client, name) for name in ROLES}
        maker = Maker(client, basic, moment, folder)
        places = {name: maker.place(name, tokens[OWNERS[name]]) for name in PLACES}
        spare = maker.workspace("zzspare", tokens["maker"])
        token_id = client.post(
            "/api/v1/tokens", json={"description": "his own"}, headers=_headers(tokens["bystander"])
        ).json()["tokenId"]
    for name, role in ROLES.items():
        for workspace_id in (places["own"].ids["workspace_id"], places["archived"].ids["workspace_id"], spare):
            if role is not None:
                rights.assign_role(basic, role, user_id=users[name], workspace_id=workspace_id)
    common = {
        "spare_workspace_id": spare,
        "user_id": users["bystander"],
        "username": "bystander",
        "token_id": token_id,
        "agent_id": runner.nodes()[0].id,
        "slot_id": 0,
        "pool_name": "default",
        "path": "",
        "label": "zzlabel",
    }
    saved = sqlite3.connect(":memory:", check_same_thread=False)
    with contextlib.closing(sqlite3.connect(database_of(basic))) as live:
        live.backup(saved)
    return World({RightsMode.BASIC: basic, RightsMode.ROLES: roles}, places, tokens, users, common, folder, saved)


def _user(platform: Platform, name: str) -> int:
    with platform.store.read() as tx:
        admin = tx.users.by_name("admin")
    assert admin is not None
    user = User(id=0, username=name, is_admin=name == "cluster-admin", modified_at=NOON)
    return accounts.add_user(platform, by=admin, user=user, password="").id


def _token(client: TestClient, name: str) -> str:
    answer = client.post("/api/v1/auth/login", json={"username": name, "password": ""})
    client.cookies.clear()
    return str(answer.json()["token"])


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class Maker:
    """Makes the things of a place as its owner would, over the API."""

    def __init__(self, client: TestClient, platform: Platform, moment: list[datetime], folder: Path) -> None:
        self._client = client
        self._platform = platform
        self._moment = moment
        self._folder = folder
        self._token = ""

    def place(self, name: str, token: str) -> Place:
        self._token = token
        place = Place(name)
        ids, mark = place.ids, place.mark
        ids["workspace_id"] = self.workspace(mark, token)
        for key, suffix in (("project_id", "a"), ("other_project_id", "b")):
            made = self._send("POST", f"/api/v1/workspaces/{ids['workspace_id']}/projects", {"name": mark + suffix})
            ids[key], ids["project_key"] = made["project"]["id"], made["project"]["key"]
        self._send("POST", f"/api/v1/projects/{ids['project_id']}/notes", {"name": mark, "contents": mark})
        self._experiments(place)
        self._unmanaged(place)
        self._reported(place)
        self._registered(place)
        self._dataset(place)
        self._send("POST", f"/api/v1/templates/{mark}", {"workspaceId": ids["workspace_id"], "config": {"name": mark}})
        ids["template_name"] = mark
        self._deployment(place)
        self._interactive(place)
        if name == "archived":
            self._send("POST", f"/api/v1/workspaces/{ids['workspace_id']}/archive")
        return place

    def workspace(self, name: str, token: str) -> int:
        self._token = token
        return int(self._send("POST", "/api/v1/workspaces", {"name": name})["workspace"]["id"])

    def _experiments(self, place: Place) -> None:
        ids = place.ids
        ids["experiment_id"], ids["ended_id"] = (self._experiment(place) for _ in range(2))
        self._tick()
        self._send("POST", f"/api/v1/experiments/{ids['ended_id']}/kill")
        self._tick()
        trial = self._send("GET", f"/api/v1/experiments/{ids['experiment_id']}/trials")["trials"][0]
        ids["trial_id"] = ids["run_id"] = trial["id"]
        ids["task_id"] = trial["taskId"]
        ids["job_id"] = self._send("GET", f"/api/v1/experiments/{ids['experiment_id']}")["experiment"]["jobId"]
        with self._platform.store.read() as tx:
            allocation = tx.allocations.of_task(ids["task_id"])[-1]
            ids["allocation_id"], ids["run_number"] = allocation.id, allocation.run_id
            ids["resources_id"] = f"{allocation.id}.0"

    def _experiment(self, place: Place) -> int:
        code = base64.b64encode(place.mark.encode()).decode()
        file = {"path": "train.py", "type": 48, "content": code, "mtime": "0", "mode": 33188, "uid": 0, "gid": 0}
        body = {
            "config": CONFIG.format(mark=place.mark),
            "modelDefinition": [file],
            "activate": True,
            "projectId": place.ids["project_id"],
        }
        return int(self._send("POST", "/api/v1/experiments", body)["experiment"]["id"])

    def _unmanaged(self, place: Place) -> None:
        """A trial that runs elsewhere and reports."""
        ids, name = place.ids, f"{place.mark}-out"
        config = {"config": CONFIG.format(mark=place.mark), "unmanaged": True, "projectId": ids["project_id"]}
        made = self._send("PUT", f"/api/v1/experiments/by-external-id/{name}", config)
        ids["unmanaged_id"] = made["experiment"]["id"]
        trial = {"experimentId": ids["unmanaged_id"], "hparams": {}, "unmanaged": True}
        put = {"createTrialRequest": trial, "externalTrialId": name}
        ids["unmanaged_trial_id"] = self._send("PUT", "/api/v1/trials", put)["trial"]["id"]
        ids["external_id"] = ids["external_experiment_id"] = ids["external_trial_id"] = name

    def _reported(self, place: Place) -> None:
        ids = place.ids
        metrics = {"avgMetrics": {f"{place.mark}_loss": 0.5}}
        report = {"trialRunId": ids["run_number"], "stepsCompleted": 5, "metrics": metrics}
        for group in ("training", "validation"):
            body = {"group": group, "metrics": report}
            self._send("POST", f"/api/v1/trials/{ids['trial_id']}/metrics", body)
        ids["checkpoint_uuid"], ids["loose_uuid"] = f"{place.mark}-kept", f"{place.mark}-loose"
        write_checkpoints(self._platform, place)
        for uuid in (ids["checkpoint_uuid"], ids["loose_uuid"]):
            body = {
                "uuid": uuid,
                "state": "STATE_COMPLETED",
                "resources": {"model.bin": str(len(place.mark))},
                "metadata": {"steps_completed": 5, "mark": place.mark},
                "taskId": ids["task_id"],
                "allocationId": ids["allocation_id"],
            }
            self._send("POST", "/api/v1/checkpoints", body)
        line = LogLine(timestamp_us=int(NOON.timestamp() * 1e6), text=place.mark)
        self._platform.logs.append(ids["task_id"], [line])

    def _registered(self, place: Place) -> None:
        ids, mark = place.ids, place.mark
        model = {"name": mark, "workspaceId": ids["workspace_id"], "labels": [mark]}
        self._send("POST", "/api/v1/models", model)
        version = {"checkpointUuid": ids["checkpoint_uuid"], "name": mark}
        self._send("POST", f"/api/v1/models/{mark}/versions", version)
        ids["model_name"], ids["model_version_num"] = mark, 1

    def _dataset(self, place: Place) -> None:
        ids, mark = place.ids, place.mark
        root = self._folder / "datasets" / mark
        (root / "images").mkdir(parents=True)
        image = io.BytesIO()
        Image.new("RGB", (20, 20), "red").save(image, "JPEG")
        labels = {
            "images": [{"id": 1, "file_name": f"{mark}.jpg", "width": 20, "height": 20}],
            "annotations": [{"id": 1, "image_id": 1, "bbox": [1, 2, 3, 4], "category_id": 0, "area": 12}],
            "categories": [{"id": 0, "name": mark}],
        }
        (root / "images" / f"{mark}.jpg").write_bytes(image.getvalue())
        (root / "labels.json").write_text(json.dumps(labels))
        ids["dataset_body"] = {
            "name": mark,
            "workspaceId": ids["workspace_id"],
            "uri": str(root),
            "manifest": _manifest(root),
            "annotations": ["labels.json"],
            "images": ["images"],
            "classes": [{"id": 0, "name": mark}],
        }
        self._send("POST", "/api/v1/datasets", ids["dataset_body"])
        ids["dataset_name"], ids["version"], ids["image_path"] = mark, "1", f"images/{mark}.jpg"
        self._send("POST", f"/api/v1/experiments/{ids['experiment_id']}/datasets", {"dataset": f"{mark}:1"})

    def _deployment(self, place: Place) -> None:
        model = self._folder / "served" / place.mark
        model.mkdir(parents=True)
        body = {"name": place.mark, "modelUri": str(model), "workspaceId": place.ids["workspace_id"]}
        self._send("POST", "/api/v1/deployments", body)
        place.ids |= {"deployment_name": place.mark, "name": place.mark, "model_folder": str(model)}

    def _interactive(self, place: Place) -> None:
        """Tasks of a family: `generic_id` waits, `paused_id` is paused."""
        ids, mark = place.ids, place.mark
        config = {"description": mark, "entrypoint": ["sleep", "9"], "resources": {"slots": 0}}
        body = {"config": config, "workspaceId": ids["workspace_id"]}
        ids["command_id"] = self._send("POST", "/api/v1/commands", body)["command"]["id"]
        body = {"config": {"description": mark, "resources": {"slots": 0}}, "workspaceId": ids["workspace_id"]}
        ids["notebook_id"] = self._send("POST", "/api/v1/notebooks", body)["notebook"]["id"]
        body = {**body, "experimentIds": [ids["ended_id"]]}
        ids["tensorboard_id"] = self._send("POST", "/api/v1/tensorboards", body)["tensorboard"]["id"]
        for key in ("generic_id", "paused_id"):
            body = {"config": json.dumps(config), "projectId": ids["project_id"]}
            ids[key] = self._send("POST", "/api/v1/generic-tasks", body)["taskId"]
        self._send("POST", f"/api/v1/tasks/{ids['paused_id']}/pause")

    def _tick(self) -> None:
        for _ in range(2):
            self._moment[0] += timedelta(seconds=0.1)
            tick(self._platform, since=NOON)

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._client.request(method, path, json=body, headers=_headers(self._token))
        assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()


def write_checkpoints(platform: Platform, place: Place) -> None:
    for uuid in (place.ids["checkpoint_uuid"], place.ids["loose_uuid"]):
        if not (platform.config.home / "checkpoints" / uuid / "model.bin").exists():
            open_blobs(platform.config.checkpoint_storage).write(uuid, "model.bin", place.mark.encode())


def _manifest(root: Path) -> str:
    files = [
        {
            "path": path.relative_to(root).as_posix(),
            "size": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(root.rglob("*"))
        if path.is_file()
    ]
    return base64.b64encode(gzip.compress("\n".join(map(json.dumps, files)).encode())).decode()
