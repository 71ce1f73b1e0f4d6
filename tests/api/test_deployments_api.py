"""Deployments over the API, from Python and from the command line, against the whole app."""

import http.server
import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute.cli.main import run
from resolute.client.client import Client
from resolute.domain.errors import IllegalTransition, InvalidInput
from resolute.engine.deployments.rollouts import Rollouts
from resolute.engine.jobs.allocations import mark_ready, set_proxy_address
from resolute.engine.jobs.fencing import allocation_token, secret_of
from resolute.serving.router.fake import FakeRouter

PATH = "/api/v1/deployments"


class Serve:
    """Turns engine and roll-outs by hand."""

    def __init__(self, api: Any, model: Path) -> None:
        self.api = api
        self.model = str(model)
        self.router = FakeRouter()
        self.rollouts = Rollouts(api.platform, self.router)

    def create(self, name: str = "echo", **fields: Any) -> dict[str, Any]:
        return dict(self.api.post(PATH, {"name": name, "modelUri": self.model, **fields}))

    def settle(self, name: str = "echo") -> dict[str, Any]:
        for _ in range(6):
            self.rollouts.pass_once()
            self.api.tick(1)
            for replica in self._starting():
                set_proxy_address(self.api.platform, replica, "127.0.0.1:4000")
                mark_ready(self.api.platform, replica)
            counts = self.router.counts()
            assert counts is not None
            self.api.platform.traffic.record(counts, self.api.clock())
        return dict(self.api.get(f"{PATH}/{name}")["deployment"])

    def _starting(self) -> list[str]:
        found = self.api.get(PATH)["deployments"]
        replicas = [r for d in found for revision in d["revisions"] for r in revision["replicas"]]
        return [r["allocationId"] for r in replicas if r["state"] == "STATE_STARTING"]


@pytest.fixture
def serve(api: Any, tmp_path: Path) -> Iterator[Serve]:
    model = tmp_path / "model"
    model.mkdir()
    serve = Serve(api, model)
    yield serve
    serve.rollouts.close()


def test_a_deployment_says_all_there_is_to_know(serve: Serve) -> None:
    made = serve.create(scaling={"maxReplicas": 3}, sticky="cookie:seat", serving={"maxBatchSize": 2})

    ready = serve.settle()

    assert made["deployment"]["state"] == "STATE_STARTING"
    assert len(made["apiKey"]) == 40
    assert ready["state"] == "STATE_READY"
    assert ready["url"] == "http://router.test/serving/echo"
    assert ready["host"] == "echo.default.resolute.local"
    assert ready["username"] == "determined"
    assert (ready["scaling"]["maxReplicas"], ready["sticky"]) == (3, "cookie:seat")
    revision = ready["revisions"][0]
    assert (revision["trafficPercent"], revision["replicasReady"], revision["serving"]["maxBatchSize"]) == (100, 1, 2)
    assert revision["replicas"][0]["address"] == "127.0.0.1:4000"


def test_canary_promote_rollback_pin_and_shadow(serve: Serve) -> None:
    serve.create()
    serve.settle()
    source = {"modelUri": serve.model}

    serve.api.post(f"{PATH}/echo/canary", {"percent": 30, **source})
    canary = serve.settle()
    serve.api.post(f"{PATH}/echo/promote")
    promoted = serve.settle()
    serve.api.post(f"{PATH}/echo/rollback")
    back = serve.settle()
    serve.api.post(f"{PATH}/echo/pin", {"revision": 2})
    pinned = serve.settle()
    serve.api.post(f"{PATH}/echo/shadow", {"percent": 10, **source})
    shadowed = serve.settle()
    serve.api.call("DELETE", f"{PATH}/echo/shadow")
    serve.api.post(f"{PATH}/echo/update", source)
    updated = serve.settle()

    shares = {r["number"]: r["trafficPercent"] for r in canary["revisions"]}
    assert shares == {2: 30.0, 1: 70.0}
    assert (canary["canaryRevision"], canary["canaryPercent"]) == (2, 30)
    assert [d["stableRevision"] for d in (promoted, back, pinned, updated)] == [2, 1, 2, 4]
    assert (shadowed["shadowRevision"], shadowed["shadowPercent"]) == (3, 10)
    assert updated["shadowRevision"] is None


def test_settings_are_changed_key_by_key(serve: Serve) -> None:
    serve.create(scaling={"maxReplicas": 3})

    changes = {"scaling": {"minReplicas": 2}, "guard": {"enabled": False}, "public": True, "sticky": "header:X-User"}
    after = serve.api.call("PATCH", f"{PATH}/echo", changes)["deployment"]

    assert (after["scaling"]["minReplicas"], after["scaling"]["maxReplicas"]) == (2, 3)
    assert (after["guard"]["enabled"], after["public"], after["sticky"]) == (False, True, "header:X-User")


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"name": "Bad Name"}, 400, "name: 'Bad Name' cannot be part of a host name"),
        ({"name": "a"}, 400, "Give exactly one of model, checkpointUuid and modelUri; 0 were given."),
        ({"name": "a", "modelUri": "/nope"}, 400, "there is no '/nope'"),
        ({"name": "a", "model": "nope/1"}, 404, "model not found: nope"),
        ({"name": "a", "modelUri": "/tmp", "scaling": {"minReplicas": -1}}, 400, "scaling.min_replicas: -1"),
        ({"name": "a", "modelUri": "/tmp", "serving": {"slots": 99}}, 400, "serving.slots: 99 slots"),
        ({"name": "a", "modelUri": "/tmp", "sticky": "x"}, 400, "sticky: 'x' is not understood"),
        ({"name": "a", "modelUri": "/tmp", "workspaceId": 77}, 404, "workspace not found: 77"),
        ({}, 400, "name"),
    ],
)
def test_bad_input_creates_nothing(api: Any, body: Any, status: int, sentence: str) -> None:
    refusal = api.refusal("POST", PATH, body, expect=status)

    assert sentence in refusal
    assert api.get(PATH)["deployments"] == []


def test_an_unknown_deployment_is_told_with_those_there_are(serve: Serve) -> None:
    serve.create()

    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/promote"), ("GET", "/stats")):
        assert "There are: echo." in serve.api.refusal(method, f"{PATH}/nope{path}", expect=404)


@pytest.mark.parametrize("percent", [-1, 101])
def test_a_percentage_out_of_range_is_refused(serve: Serve, percent: int) -> None:
    serve.create()
    serve.settle()

    body = {"percent": percent, "modelUri": serve.model}
    assert "from 0 to 100" in serve.api.refusal("POST", f"{PATH}/echo/canary", body, expect=400)


def test_stats_are_points_in_time_of_each_revision(serve: Serve) -> None:
    made = serve.create()["deployment"]
    serve.settle()
    serve.router.answer(made["id"], 1, 40, errors=2, seconds=0.02)
    serve.settle()

    stats = serve.api.get(f"{PATH}/echo/stats", seconds=60)

    assert stats["stepS"] == 1
    assert [(p["revision"], p["requests"], p["errors"]) for p in stats["points"]] == [(1, 40, 2)]
    assert 15 < stats["points"][0]["p95Ms"] < 25
    assert serve.api.get(f"{PATH}/echo/stats", seconds=600)["stepS"] == 10


def test_a_deleted_deployment_is_deleting_until_it_is_gone(serve: Serve) -> None:
    serve.create()
    serve.settle()

    serve.api.call("DELETE", f"{PATH}/echo")
    during = serve.api.get(f"{PATH}/echo")["deployment"]["state"]
    for _ in range(8):
        serve.rollouts.pass_once()
        serve.api.tick(1)
        serve.api.clock.forward(3)
        counts = serve.router.counts()
        assert counts is not None
        serve.api.platform.traffic.record(counts, serve.api.clock())

    assert during == "STATE_DELETING"
    assert serve.api.get(PATH)["deployments"] == []


def test_a_deployment_is_a_job_in_the_queue(serve: Serve) -> None:
    serve.create(serving={"slots": 1, "priority": 20})
    serve.settle()
    (before,) = serve.api.get("/api/v1/job-queues-v2")["jobs"]

    serve.api.post("/api/v1/job-queues", {"updates": [{"jobId": before["full"]["jobId"], "priority": 5}]})

    (after,) = serve.api.get("/api/v1/job-queues")["jobs"]
    job = before["full"]
    assert (job["type"], job["kind"], job["entityId"], job["name"]) == ("TYPE_GENERIC", "DEPLOYMENT", "echo", "echo")
    assert (job["priority"], job["allocatedSlots"], job["isPreemptible"]) == (20, 1, False)
    assert after["priority"] == 5
    assert serve.settle()["revisions"][0]["serving"]["priority"] == 5


def test_a_priority_out_of_range_is_refused(serve: Serve) -> None:
    body = {"name": "echo", "modelUri": serve.model, "serving": {"priority": 100}}

    sentence = serve.api.refusal("POST", PATH, body, expect=400)

    assert "serving.priority: 100 is out of range; it must be at most 99" in sentence


def test_the_replicas_log_is_read_like_any_task(serve: Serve) -> None:
    serve.create()
    task = serve.settle()["revisions"][0]["replicas"][0]["taskId"]

    lines = serve.api.lines(f"/api/v1/tasks/{task}/logs")
    message = serve.api.get(f"/api/v1/tasks/{task}")["task"]

    assert any("started on" in line["message"] for line in lines)
    assert message["taskType"] == "TASK_TYPE_GENERIC"
    assert message["allocations"][0]["isReady"] is True
    assert serve.api.get("/api/v1/tasks")["allocationIdToSummary"]


def test_changes_are_events(serve: Serve) -> None:
    seen: list[str] = []
    serve.api.platform.bus.subscribe("deployment/echo", lambda: seen.append("echo"))
    serve.api.platform.bus.subscribe("deployments", lambda: seen.append("all"))

    serve.create()

    assert {"echo", "all"} <= set(seen)


# ---------------------------------------------------------------------------------------- through the master


@pytest.fixture
def behind(serve: Serve) -> Iterator[list[dict[str, Any]]]:
    """A router that writes down what it is sent and echoes the body."""
    seen: list[dict[str, Any]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)) or self._chunks()
            seen.append({"path": self.path, "body": body, **{k.lower(): v for k, v in self.headers.items()}})
            self.send_response(201)
            self.send_header("content-length", str(len(body)))
            self.send_header("x-resolute-revision", "1")
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def _chunks(self) -> bytes:
            content = b""
            while size := int(self.rfile.readline(), 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return content

        def log_message(self, *_: Any) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    serve.router.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield seen
    server.shutdown()
    thread.join()
    server.server_close()


def test_requests_go_through_the_master_as_they_are(serve: Serve, behind: list[dict[str, Any]]) -> None:
    serve.create()
    serve.settle()
    headers = {**serve.api.headers, "Content-Type": "application/octet-stream", "Cookie": "auth=secret"}

    answer = serve.api.client.post("/serving/echo/v2/models/echo/infer?x=1", content=b"\x00\x01", headers=headers)

    assert (answer.status_code, answer.content) == (201, b"\x00\x01")
    assert answer.headers["x-resolute-revision"] == "1"
    assert behind[0]["path"] == "/serving/echo/v2/models/echo/infer?x=1"
    assert behind[0]["content-type"] == "application/octet-stream"
    assert behind[0]["x-resolute-forwarded"].startswith("1.")
    assert "authorization" not in behind[0]
    assert "cookie" not in behind[0]


def test_the_master_asks_for_a_token_or_the_key_unless_it_is_public(serve: Serve, behind: list[dict[str, Any]]) -> None:
    key = serve.create()["apiKey"]
    serve.create("open", public=True)
    serve.settle()
    post = serve.api.client.post

    anonymous = post("/serving/echo/v1", json={})
    unknown = post("/serving/nope/v1", json={})
    wrong = post("/serving/echo/v1", json={}, headers={"Authorization": "Bearer wrong"})
    with_key = post("/serving/echo/v1", json={}, headers={"Authorization": f"Bearer {key}"})
    public = post("/serving/open/v1", json={})
    missing = post("/serving/nope/v1", json={}, headers=serve.api.headers)

    assert [a.status_code for a in (anonymous, unknown, wrong, with_key, public, missing)] == [
        401,
        401,
        401,
        201,
        201,
        404,
    ]


def post_as_it_is(serve: Serve, raw: str) -> int:
    """The status of an anonymous request whose path no client has tidied."""
    statuses: list[int] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": urllib.parse.unquote(raw),
        "raw_path": raw.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8080")],
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 8080),
        "state": {},
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    portal = serve.api.client.portal
    portal.call(serve.api.client.app, scope, receive, send)
    return statuses[0]


@pytest.mark.parametrize(
    "path",
    [
        "open/../echo/v1",
        "open/x/../../echo/v1",
        "open/../../serving/echo/v1",
        "open/%2e%2e/echo/v1",
        "open/.%2E/echo/v1",
        "open%2f..%2fecho/v1",
        "open/..%5cecho/v1",
        "open//v1",
        "op%65n/v1",
    ],
)
def test_a_public_deployment_is_no_way_to_another(serve: Serve, behind: list[dict[str, Any]], path: str) -> None:
    serve.create()
    serve.create("open", public=True)
    serve.settle()

    status = post_as_it_is(serve, f"/serving/{path}")

    assert status == 400
    assert not behind


def test_a_name_in_two_namespaces_means_one_deployment(serve: Serve, behind: list[dict[str, Any]]) -> None:
    serve.create()
    serve.create(namespace="other", public=True)
    serve.settle()

    answer = serve.api.client.post("/serving/echo/v1", json={})

    assert answer.status_code == 401
    assert not behind


@pytest.mark.parametrize(
    "path", ["metrics", "v2/repository/index", "v2/repository/models/open/unload", "v2/%72epository"]
)
def test_callers_cannot_load_unload_or_count(serve: Serve, behind: list[dict[str, Any]], path: str) -> None:
    serve.create("open", public=True)
    serve.settle("open")

    answer = serve.api.client.post(f"/serving/open/{path}", json={})

    assert answer.status_code == 404
    assert not behind


def test_a_router_that_is_away_is_told_as_such(serve: Serve) -> None:
    serve.create()
    before = serve.api.refusal("POST", "/serving/echo/v1", {}, expect=503)
    serve.router.url = "http://127.0.0.1:9"
    serve.settle()
    after = serve.api.refusal("POST", "/serving/echo/v1", {}, expect=503)

    assert "not up yet" in before
    assert "The router does not answer" in after


# ------------------------------------------------------------------------------------ where a replica listens


def own_headers(serve: Serve, allocation_id: str) -> dict[str, str]:
    with serve.api.platform.store.read() as tx:
        token = allocation_token(secret_of(tx), allocation_id)
    return {"Grpc-Metadata-x-allocation-token": f"Bearer {token}"}


def test_no_user_may_say_where_a_replica_listens(serve: Serve) -> None:
    serve.create()
    replica = serve.settle()["revisions"][0]["replicas"][0]
    path = f"/api/v1/allocations/{replica['allocationId']}/proxy_address"

    refused = serve.api.refusal("POST", path, {"proxyAddress": "127.0.0.1:5000"}, expect=403)

    assert "Only a running task may call POST" in refused
    assert serve.settle()["revisions"][0]["replicas"][0]["address"] == "127.0.0.1:4000"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost",
        "x",
        "127.0.0.1:0",
        "127.0.0.1:99999",
        "127.0.0.1:80\r\nX: y",
        "169.254.169.254:80",
        "10.9.8.7:80",
        "a b:80",
        "::1:80",
        "127.0.0.1:٨٠",
    ],
)
def test_a_replica_listens_where_it_was_started(serve: Serve, address: str) -> None:
    serve.create()
    replica = serve.settle()["revisions"][0]["replicas"][0]["allocationId"]
    path = f"/api/v1/allocations/{replica}/proxy_address"

    bad = serve.api.client.post(path, json={"proxyAddress": address}, headers=own_headers(serve, replica))
    good = serve.api.client.post(path, json={"proxyAddress": "[::1]:5000"}, headers=own_headers(serve, replica))

    assert (bad.status_code, good.status_code) == (400, 200)
    assert serve.settle()["revisions"][0]["replicas"][0]["address"] == "[::1]:5000"


# ------------------------------------------------------------------------------------- Python and command line


def transport_to(api: Any) -> httpx.MockTransport:
    """The SDK's requests go straight into the app."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        given = api.client.request(request.method, path, content=request.content, headers=dict(request.headers))
        return httpx.Response(given.status_code, content=given.content, headers={"content-type": "application/json"})

    return httpx.MockTransport(answer)


@pytest.fixture
def client(serve: Serve, tmp_path: Path) -> Iterator[Client]:
    env = {"RESOLUTE_MASTER": "http://127.0.0.1:8080", "XDG_CONFIG_HOME": str(tmp_path / "config")}
    with_app = Client(env=env, transport=transport_to(serve.api))
    yield with_app
    with_app.close()


def test_the_life_of_a_deployment_in_python(serve: Serve, client: Client) -> None:
    made = client.deployments.create("echo", model_uri=serve.model, scaling={"max_replicas": 2})
    serve.settle()
    made.wait()
    made.canary(30, model_uri=serve.model)
    serve.settle()
    made.wait()
    made.promote()
    serve.settle()
    promoted = made.reload().data["stableRevision"]
    made.rollback()
    serve.settle()
    made.scale(max_replicas=4)

    assert len(made.api_key) == 40
    assert promoted == 2
    assert made.reload().data["stableRevision"] == 1
    assert made.data["scaling"]["maxReplicas"] == 4
    assert [d.name for d in client.deployments.all()] == ["echo"]
    assert any("started on" in line["message"] for line in made.logs())
    made.pin(2)
    made.shadow(10, model_uri=serve.model)
    made.stop_shadow()
    made.update(model_uri=serve.model)
    assert made.stats()["stepS"] == 1
    made.delete()
    assert client.deployments.get("echo").state == "DELETING"


def test_waiting_ends_with_the_reason_of_a_failure(serve: Serve, client: Client) -> None:
    made = client.deployments.create("echo", model_uri=serve.model)
    serve.settle()
    made.update(model_uri=serve.model)
    made.rollback()

    with pytest.raises(IllegalTransition, match="Revision 2 of echo is RETIRED: rolled back"):
        made.wait()


def test_predictions_come_through_the_master(serve: Serve, client: Client, behind: list[dict[str, Any]]) -> None:
    made = client.deployments.create("echo", model_uri=serve.model)
    serve.settle()

    predictions = made.predict([[1, 2]], predictions=["echoed"])

    assert predictions == ["echoed"]
    assert behind[0]["path"] == "/serving/echo/v1/models/echo:predict"
    assert json.loads(behind[0]["body"])["instances"] == [[1, 2]]


@pytest.fixture
def resolute(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RESOLUTE_MASTER", "http://127.0.0.1:8080")

    def invoke(*arguments: str) -> tuple[int, str]:
        code = run(arguments, transport=transport_to(serve.api))
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return invoke


def test_the_life_of_a_deployment_on_the_command_line(serve: Serve, resolute: Callable[..., tuple[int, str]]) -> None:
    code, out = resolute("deploy", "create", "echo", "--model-uri", serve.model, "--set", "max_batch_size=2")
    assert (code, "Its key, shown once:" in out) == (0, True)
    serve.settle()
    assert resolute("deploy", "canary", "echo", "--percent", "30", "--model-uri", serve.model)[0] == 0
    serve.settle()

    listed = resolute("deploy", "list")[1]
    described = resolute("deploy", "describe", "echo")[1]
    as_json = json.loads(resolute("deploy", "describe", "echo", "--json")[1])

    assert [word in listed for word in ("NAME", "READY", "PREV", "LATEST", "URL", "2 at 30 %")] == [True] * 6
    assert "REVISION" in described
    assert as_json["revisions"][1]["serving"]["maxBatchSize"] == 2
    for words in (
        ("promote", "echo"),
        ("rollback", "echo"),
        ("pin", "echo", "2"),
        ("scale", "echo", "--max-replicas", "2"),
        ("shadow", "echo", "--model-uri", serve.model),
        ("shadow", "echo", "--stop"),
        ("update", "echo", "--model-uri", serve.model),
        ("logs", "echo"),
    ):
        code, out = resolute("deploy", *words)
        assert code == 0, (words, out)
        serve.settle()
    assert resolute("deploy", "delete", "echo", "--yes")[0] == 0


def test_a_file_can_say_it_all(serve: Serve, resolute: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    file = tmp_path / "deployment.yaml"
    file.write_text(f"name: plates\nmodel_uri: {serve.model}\nscaling: {{max_replicas: 3}}\npublic: true\n")

    code, out = resolute("deploy", "create", "-f", str(file), "--min-replicas", "2", "--json")

    made = json.loads(out)
    assert code == 0
    assert (made["name"], made["public"]) == ("plates", True)
    assert (made["scaling"]["minReplicas"], made["scaling"]["maxReplicas"]) == (2, 3)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("create", "--model", "a/1"), "Name the deployment"),
        (("create", "x", "-f", "/nope.yaml"), "cannot be read"),
        (("create", "x", "--model-uri", "/tmp", "--set", "oops"), "'oops' is not KEY=VALUE"),
        (("scale", "echo"), "Say what to change"),
        (("promote", "nope"), "deployment not found: nope"),
    ],
)
def test_the_command_line_says_what_is_wrong(
    resolute: Callable[..., tuple[int, str]], words: tuple[str, ...], sentence: str
) -> None:
    code, out = resolute("deploy", *words)

    assert code == 1
    assert sentence in out
    assert "Traceback" not in out


def test_errors_of_the_sdk_are_those_of_the_platform(client: Client) -> None:
    with pytest.raises(InvalidInput, match="host name"):
        client.deployments.create("Bad Name", model_uri="/tmp")
