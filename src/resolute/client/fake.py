"""A master that lives in memory, for tests of anything that talks to one. Not a simulator: nothing trains here.

    master = FakeMaster()
    client = Client("http://fake:8080", env={...}, transport=master.transport())

It answers in the API's shapes, keeps what it was sent in `calls`, and can be told to fail.
"""

import base64
import io
import json
import re
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

Json = dict[str, Any]
Handler = Callable[..., Any]
_TIME = "2026-01-01T12:00:00.000000Z"


@dataclass
class Call:
    method: str
    path: str
    query: dict[str, list[str]]
    body: Any
    token: str | None


@dataclass
class FakeMaster:
    passwords: dict[str, str] = field(default_factory=lambda: {"determined": "", "admin": ""})
    """User to password as it travels (hashed, or empty)."""
    experiments: dict[int, Json] = field(default_factory=dict)
    trials: dict[int, Json] = field(default_factory=dict)
    checkpoints: dict[str, Json] = field(default_factory=dict)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """Checkpoint uuid to path to content."""
    logs: dict[int, list[str]] = field(default_factory=dict)
    metrics: dict[int, list[Json]] = field(default_factory=dict)
    lists: dict[str, list[Json]] = field(default_factory=dict)
    """Answers of plain lists: workspaces, projects, templates, agents, resourcePools, jobs."""
    calls: list[Call] = field(default_factory=list)
    failures: list[httpx.Response | Exception] = field(default_factory=list)
    """Answered, first to last, before anything else."""
    tokens: set[str] = field(default_factory=set)
    states: dict[int, list[str]] = field(default_factory=dict)
    """States that an experiment passes through, one per look at it."""

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.answer)

    def paths(self, method: str = "") -> list[str]:
        """What was called, without logins."""
        named = (c for c in self.calls if "/auth/" not in c.path)
        return [c.path for c in named if method in ("", c.method)]

    def last(self, method: str, path: str) -> Call:
        return next(c for c in reversed(self.calls) if (c.method, c.path) == (method, path))

    def add_experiment(self, experiment_id: int = 1, *, state: str = "ACTIVE", **given: Any) -> Json:
        searcher = {"name": "single", "metric": "loss", "smaller_is_better": True}
        experiment = {
            "id": experiment_id,
            "name": f"experiment {experiment_id}",
            "state": f"STATE_{state}",
            "config": {"name": f"experiment {experiment_id}", "searcher": searcher},
            "originalConfig": "name: original # with a comment\n",
            "archived": False,
            "labels": [],
            "username": "determined",
            "numTrials": 0,
            "progress": 0.0,
            "startTime": _TIME,
            "jobId": f"job-{experiment_id}",
            "projectId": 1,
            "searcherType": "single",
            "resourcePool": "default",
            **given,
        }
        self.experiments[experiment_id] = experiment
        return experiment

    def add_trial(self, trial_id: int = 1, *, experiment_id: int = 1, state: str = "RUNNING", **given: Any) -> Json:
        trial = {
            "id": trial_id,
            "experimentId": experiment_id,
            "state": f"STATE_{state}",
            "hparams": {"lr": 0.1},
            "restarts": 0,
            "startTime": _TIME,
            "totalBatchesProcessed": 10,
            "taskId": f"{experiment_id}.task",
            **given,
        }
        self.trials[trial_id] = trial
        return trial

    def add_checkpoint(
        self, uuid: str, *, trial_id: int = 1, metric: float | None = None, files: dict[str, bytes] | None = None
    ) -> Json:
        trial = self.trials.get(trial_id) or self.add_trial(trial_id)
        experiment = self.experiments.get(trial["experimentId"]) or self.add_experiment(trial["experimentId"])
        self.files[uuid] = files or {}
        checkpoint = {
            "uuid": uuid,
            "state": "STATE_COMPLETED",
            "reportTime": _TIME,
            "resources": {path: str(len(content)) for path, content in self.files[uuid].items()},
            "metadata": {"steps_completed": 10},
            "training": {
                "trialId": trial_id,
                "experimentId": trial["experimentId"],
                "experimentConfig": experiment["config"],
                "searcherMetric": metric,
                "validationMetrics": {"avgMetrics": {} if metric is None else {"loss": metric}},
            },
        }
        self.checkpoints[uuid] = checkpoint
        return checkpoint

    def answer(self, request: httpx.Request) -> httpx.Response:
        content = request.read()
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or None
        query = {key: request.url.params.get_list(key) for key in request.url.params}
        body = json.loads(content) if content else None
        self.calls.append(Call(request.method, request.url.path, query, body, token))
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return failure
        for method, pattern, handler in _ROUTES:
            match = re.fullmatch(pattern, request.url.path)
            if match and request.method == method:
                if token not in self.tokens and handler not in _OPEN:
                    return _error(401, "Unauthenticated", "No valid token was given.")
                answered = handler(self, self.calls[-1], *match.groups())
                return answered if isinstance(answered, httpx.Response) else httpx.Response(200, json=answered)
        return _error(404, "NotFound", f"This fake has no {request.method} {request.url.path}.")

    def page(self, call: Call, key: str, items: list[Json]) -> Json:
        offset, limit = (int((call.query.get(name) or ["0"])[0]) for name in ("offset", "limit"))
        part = items[offset : offset + limit] if limit else items[offset:]
        return {key: part, "pagination": {"offset": offset, "endIndex": offset + len(part), "total": len(items)}}


def _error(status: int, reason: str, sentence: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"code": 0, "reason": reason, "error": sentence}})


def _lines(results: list[Json]) -> httpx.Response:
    return httpx.Response(200, content="".join(json.dumps({"result": r}) + "\n" for r in results))


def _login(fake: FakeMaster, call: Call) -> Any:
    name = call.body["username"]
    if fake.passwords.get(name) != call.body["password"]:
        return _error(401, "Unauthenticated", "invalid credentials")
    fake.tokens.add(f"token-{name}")
    return {"token": f"token-{name}", "user": {"username": name}}


def _logout(fake: FakeMaster, call: Call) -> Any:
    fake.tokens.discard(call.token or "")
    return {}


def _me(fake: FakeMaster, call: Call) -> Any:
    return {"user": {"username": (call.token or "").removeprefix("token-"), "id": 1}}


def _master(fake: FakeMaster, call: Call) -> Any:
    return {"version": "0.38.1", "clusterId": "fake", "clusterName": "fake", "masterId": "fake"}


def _create(fake: FakeMaster, call: Call) -> Any:
    if call.body.get("validateOnly"):
        return {"config": {"name": "checked"}, "experiment": {"id": 0}}
    new = fake.add_experiment(len(fake.experiments) + 1, state="ACTIVE" if call.body["activate"] else "PAUSED")
    return {"experiment": new, "config": new["config"], "warnings": []}


def _dry_run(fake: FakeMaster, call: Call) -> Any:
    return {"request": {"entrypoint": "python3 train.py", "slots": 1}, "config": {}, "warnings": ["a warning"]}


def _experiments(fake: FakeMaster, call: Call) -> Any:
    users, archived = call.query.get("users"), call.query.get("archived")
    found = [e for e in fake.experiments.values() if not users or e["username"] in users]
    if archived:
        found = [e for e in found if e["archived"] == (archived[0] == "true")]
    return fake.page(call, "experiments", found)


def _experiment(fake: FakeMaster, call: Call, number: str) -> Any:
    experiment = fake.experiments.get(int(number))
    if experiment is None:
        return _error(404, "NotFound", f"experiment not found: {number}")
    if fake.states.get(int(number)):
        experiment["state"] = "STATE_" + fake.states[int(number)].pop(0)
    return {"experiment": experiment, "config": experiment["config"]}


def _patch_experiment(fake: FakeMaster, call: Call, number: str) -> Any:
    fake.experiments[int(number)].update(call.body)
    return {"experiment": fake.experiments[int(number)]}


def _act(fake: FakeMaster, call: Call, number: str, verb: str) -> Any:
    goal = {"pause": "PAUSED", "activate": "ACTIVE", "cancel": "CANCELED", "kill": "CANCELED"}.get(verb)
    experiment = fake.experiments[int(number)]
    if goal:
        experiment["state"] = f"STATE_{goal}"
    if verb in ("archive", "unarchive"):
        experiment["archived"] = verb == "archive"
    return {}


def _delete_experiment(fake: FakeMaster, call: Call, number: str) -> Any:
    fake.experiments.pop(int(number))
    return {}


def _continue(fake: FakeMaster, call: Call) -> Any:
    experiment = fake.experiments[call.body["id"]]
    experiment["state"] = "STATE_ACTIVE"
    return {"experiment": experiment}


def _trials(fake: FakeMaster, call: Call, number: str) -> Any:
    return fake.page(call, "trials", [t for t in fake.trials.values() if t["experimentId"] == int(number)])


def _trial(fake: FakeMaster, call: Call, number: str) -> Any:
    trial = fake.trials.get(int(number))
    return {"trial": trial} if trial else _error(404, "NotFound", f"trial not found: {number}")


def _logs(fake: FakeMaster, call: Call, number: str) -> Any:
    texts = list(enumerate(fake.logs.get(int(number), [])))
    if call.query.get("orderBy") == ["ORDER_BY_DESC"]:
        texts.reverse()
    if call.query.get("limit"):
        texts = texts[: int(call.query["limit"][0])]
    return _lines([{"id": str(n), "message": f"{text}\n", "timestamp": _TIME} for n, text in texts])


def _metrics(fake: FakeMaster, call: Call) -> Any:
    number = int(call.query["trialIds"][0])
    return _lines([{"metrics": [report]} for report in fake.metrics.get(number, [])])


def _workloads(fake: FakeMaster, call: Call, number: str) -> Any:
    return fake.page(call, "workloads", [])


def _checkpoints(fake: FakeMaster, call: Call, kind: str, number: str) -> Any:
    key = "experimentId" if kind == "experiments" else "trialId"
    found = [c for c in fake.checkpoints.values() if c["training"][key] == int(number)]
    if call.query.get("sortByAttr") == ["SORT_BY_SEARCHER_METRIC"]:
        found = sorted((c for c in found if c["training"]["searcherMetric"] is not None), key=_metric)
    return fake.page(call, "checkpoints", found)


def _metric(checkpoint: Json) -> float:
    return float(checkpoint["training"]["searcherMetric"])


def _checkpoint(fake: FakeMaster, call: Call, uuid: str) -> Any:
    found = fake.checkpoints.get(uuid)
    return {"checkpoint": found} if found else _error(404, "NotFound", f"checkpoint not found: {uuid}")


def _archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def _download(fake: FakeMaster, call: Call, uuid: str) -> Any:
    return httpx.Response(200, content=iter([_archive(fake.files[uuid])]))  # a stream, as the real one


def _model_def(fake: FakeMaster, call: Call, number: str) -> Any:
    return {"b64Tgz": base64.b64encode(_archive({"train.py": b"print()"})).decode()}


def _list(fake: FakeMaster, call: Call, *_: str) -> Any:
    keys = {"resource-pools": "resourcePools", "job-queues-v2": "jobs"}
    name = call.path.rsplit("/", 1)[-1]
    key = keys.get(name, name)
    return fake.page(call, key, fake.lists.get(key, []))


def _template(fake: FakeMaster, call: Call, name: str) -> Any:
    for template in fake.lists.get("templates", []):
        if template["name"] == name:
            return {"template": template}
    return _error(404, "NotFound", f"template not found: {name}")


def _by_username(fake: FakeMaster, call: Call, name: str) -> Any:
    return (
        {"user": {"id": 7, "username": name}} if name in fake.passwords else _error(404, "NotFound", "user not found")
    )


def _accept(fake: FakeMaster, call: Call, *_: str) -> Any:
    """Said yes to and only recorded."""
    return {}


def _tasks(fake: FakeMaster, call: Call) -> Any:
    return {"allocationIdToSummary": {task["allocationId"]: task for task in fake.lists.get("tasks", [])}}


def _task(fake: FakeMaster, call: Call, task_id: str) -> Any:
    tasks = [task for task in fake.lists.get("tasks", []) if task["taskId"] == task_id]
    return {"task": {"taskId": task_id, "allocations": [{"state": "STATE_RUNNING", **task} for task in tasks]}}


def _config(fake: FakeMaster, call: Call) -> Any:
    return {"config": {"scheduler": {"type": "priority"}}}


def _master_logs(fake: FakeMaster, call: Call) -> Any:
    return _lines(
        [{"logEntry": {"id": 1, "message": "master is ready", "level": "LOG_LEVEL_INFO", "timestamp": _TIME}}]
    )


def _preview(fake: FakeMaster, call: Call) -> Any:
    trials = [{"count": 4, "unit": {"name": "batches", "value": 100, "maxLength": False}}]
    return {"summary": {"config": call.body["config"], "trials": trials}}


_V1 = "/api/v1"
_ROUTES: list[tuple[str, str, Handler]] = [
    ("POST", f"{_V1}/auth/login", _login),
    ("POST", f"{_V1}/auth/logout", _logout),
    ("GET", f"{_V1}/me", _me),
    ("GET", f"{_V1}/master", _master),
    ("GET", f"{_V1}/master/config", _config),
    ("GET", f"{_V1}/master/logs", _master_logs),
    ("POST", f"{_V1}/experiments", _create),
    ("POST", rf"{_V1}/experiments/dry-run", _dry_run),
    ("GET", f"{_V1}/experiments", _experiments),
    ("POST", f"{_V1}/experiments/continue", _continue),
    ("GET", rf"{_V1}/experiments/(\d+)", _experiment),
    ("PATCH", rf"{_V1}/experiments/(\d+)", _patch_experiment),
    ("DELETE", rf"{_V1}/experiments/(\d+)", _delete_experiment),
    ("GET", rf"{_V1}/experiments/(\d+)/trials", _trials),
    ("GET", rf"{_V1}/(experiments|trials)/(\d+)/checkpoints", _checkpoints),
    ("GET", rf"{_V1}/experiments/(\d+)/model_def", _model_def),
    ("POST", rf"{_V1}/experiments/(\d+)/(\w+)", _act),
    ("GET", rf"{_V1}/trials/metrics/trial_metrics", _metrics),
    ("GET", rf"{_V1}/trials/(\d+)", _trial),
    ("GET", rf"{_V1}/trials/(\d+)/logs", _logs),
    ("GET", rf"{_V1}/tasks/(\d+)/logs", _logs),
    ("GET", rf"{_V1}/trials/(\d+)/workloads", _workloads),
    ("GET", rf"{_V1}/checkpoints/([\w-]+)", _checkpoint),
    ("GET", r"/checkpoints/([\w-]+)", _download),
    ("GET", rf"{_V1}/users/(\w+)/by-username", _by_username),
    ("GET", rf"{_V1}/templates/([\w-]+)", _template),
    ("GET", rf"{_V1}/tasks/([^/]+)", _task),
    ("GET", rf"{_V1}/tasks", _tasks),
    ("POST", rf"{_V1}/preview-hp-search", _preview),
    ("GET", rf"{_V1}/(workspaces/\d+/projects|[\w-]+)", _list),
    *((method, rf"{_V1}/.*", _accept) for method in ("POST", "PUT", "PATCH", "DELETE")),
]
_OPEN = {_login, _master}
