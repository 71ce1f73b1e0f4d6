"""Model servers as real processes: what they promise while starting, serving, breaking and leaving."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from resolute.serving.grpc.messages import SERVICE, methods

MODELS = Path(__file__).parent / "models"
_LIMIT_S = 30


class Replica:
    """One started `python -m resolute.serving.replica`, and how to talk to it."""

    def __init__(
        self, folder: Path, *options: str, env: dict[str, str] | None = None, command: list[str] | None = None
    ) -> None:
        self.folder = folder
        self.log = folder / "replica.log"
        ready = folder / "ready.json"
        command = command or [sys.executable, "-m", "resolute.serving.replica"]
        command += [
            "--source",
            str(folder),
            "--name",
            "toy",
            "--load",
            "toy_models:load",
            "--ready-file",
            str(ready),
            *options,
        ]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": str(MODELS), **(env or {})}
            )
        until(lambda: ready.exists() or self.process.poll() is not None, self)
        assert ready.exists(), self.log.read_text()
        self.ports = json.loads(ready.read_text())
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.ports['port']}", timeout=_LIMIT_S)

    def ready(self) -> "Replica":
        until(lambda: self.http.get("/v2/health/ready").status_code == 200, self)
        return self

    def predict(self, *instances: Any) -> httpx.Response:
        return self.http.post("/v1/models/toy:predict", json={"instances": list(instances)})

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(timeout=_LIMIT_S)
        finally:
            self.http.close()
            self.process.kill()


def until(is_done: Callable[[], bool], replica: Replica) -> None:
    ends_at = time.monotonic() + _LIMIT_S
    while not is_done():
        assert time.monotonic() < ends_at, replica.log.read_text()
        time.sleep(0.02)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Replica]]:
    started: list[Replica] = []

    def make(*options: str, env: dict[str, str] | None = None) -> Replica:
        started.append(Replica(tmp_path, *options, env=env))
        return started[-1]

    yield make
    for replica in started:
        replica.stop()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    """For tests that leave it as it was."""
    replica = Replica(tmp_path_factory.mktemp("toy"), "--grpc-port", "0", "--version", "3").ready()
    yield replica
    assert replica.stop() == 0


def test_it_listens_before_the_model_is_there_and_is_ready_when_it_is(
    tmp_path: Path, start: Callable[..., Replica]
) -> None:
    (tmp_path / "wait").touch()

    replica = start()

    assert replica.ports["pid"] == replica.process.pid
    assert replica.http.get("/v2/health/live").status_code == 200
    assert replica.http.get("/v2/health/ready").status_code == 503
    assert "it is being loaded" in replica.http.get("/v1/models/toy").json()["error"]
    assert replica.predict(1).status_code == 503
    (tmp_path / "wait").unlink()
    replica.ready()
    assert replica.predict(1, 2.5).json() == {"predictions": [2, 5.0]}


def test_bad_input_is_answered_with_a_sentence_and_the_server_goes_on(shared: Replica) -> None:
    answer = shared.predict(1, "picture")

    assert (answer.status_code, answer.json()) == (400, {"error": "Instance 1 is 'picture'; send a number."})
    assert shared.predict(4).json() == {"predictions": [8]}


def test_a_body_of_a_gigabyte_is_refused_before_it_is_sent(shared: Replica) -> None:
    connection = HTTPConnection("127.0.0.1", shared.ports["port"], timeout=_LIMIT_S)
    connection.putrequest("POST", "/v1/models/toy:predict")
    connection.putheader("Content-Length", str(1 << 30))
    connection.endheaders()

    answer = connection.getresponse()

    assert answer.status == 413
    assert b"1,073,741,824 bytes or more; this server takes at most 67,108,864 bytes" in answer.read()
    connection.close()


def test_concurrent_requests_share_batches_and_one_bad_one_fails_alone(shared: Replica) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: shared.predict("bad" if number == 5 else number), range(16)))

    assert [answer.status_code for answer in answers] == [400 if number == 5 else 200 for number in range(16)]
    assert [answer.json()["predictions"] for answer in answers if answer.status_code == 200] == [
        [number * 2] for number in range(16) if number != 5
    ]


def test_each_request_leaves_a_line_without_its_content(shared: Replica) -> None:
    shared.predict("secret-content")

    def lines() -> list[dict[str, Any]]:
        return [json.loads(line) for line in shared.log.read_text().splitlines() if line.startswith("{")]

    until(lambda: any(line["code"] == 400 for line in lines()), shared)
    line = next(line for line in lines() if line["code"] == 400)
    assert set(line) == {"time", "model", "method", "path", "code", "ms", "batch", "bytes", "sent"}
    assert "secret-content" not in shared.log.read_text()


def test_metrics_can_be_scraped(shared: Replica) -> None:
    shared.predict(1)

    text = shared.http.get("/metrics").text

    assert 'resolute_requests_total{code="200",kind="predict",model="toy"}' in text
    assert 'resolute_worker_restarts_total{model="toy"} 0.0' in text


def call(channel: grpc.Channel, method: str, /, **fields: Any) -> Any:
    request, answer = methods()[method]
    send = channel.unary_unary(
        f"/{SERVICE}/{method}", request_serializer=request.SerializeToString, response_deserializer=answer.FromString
    )
    return send(request(**fields), timeout=_LIMIT_S)


def test_grpc_shares_the_model_with_http(shared: Replica) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{shared.ports['grpc_port']}") as channel:
        tensor = {"name": "x", "datatype": "FP32", "shape": [2], "contents": {"fp32_contents": [1.5, 2]}}

        answer = call(channel, "ModelInfer", model_name="toy", model_version="3", id="7", inputs=[tensor])

        assert (answer.model_version, answer.id) == ("3", "7")
        assert list(answer.outputs[0].contents.fp32_contents) == [3.0, 4.0]
        assert call(channel, "ServerReady").ready
        assert call(channel, "ModelReady", name="toy").ready
        assert call(channel, "ServerMetadata").name == "resolute"
        assert call(channel, "ModelMetadata", name="toy").inputs[0].shape == [-1]


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"model_name": "no"}, grpc.StatusCode.NOT_FOUND, "there is: toy"),
        ({"model_name": "toy"}, grpc.StatusCode.INVALID_ARGUMENT, "no inputs"),
        ({"model_name": "toy", "model_version": "9"}, grpc.StatusCode.NOT_FOUND, "there is: 3"),
    ],
)
def test_grpc_refuses_with_the_codes_of_grpc(
    shared: Replica, fields: dict[str, str], code: grpc.StatusCode, words: str
) -> None:
    address = f"127.0.0.1:{shared.ports['grpc_port']}"

    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as refusal:
        call(channel, "ModelInfer", **fields)

    assert refusal.value.code() == code  # type: ignore[attr-defined]
    assert words in refusal.value.details()  # type: ignore[attr-defined]


def test_a_model_process_that_dies_costs_its_request_and_is_replaced(start: Callable[..., Replica]) -> None:
    replica = start().ready()
    first = replica.predict("pid").json()["predictions"][0]

    answer = replica.predict("die")

    assert answer.status_code == 503
    assert "The model process ended (exit code 7)" in answer.json()["error"]
    replica.ready()
    assert replica.predict("pid").json()["predictions"][0] != first
    assert 'resolute_worker_restarts_total{model="toy"} 1.0' in replica.http.get("/metrics").text


def test_a_model_that_hangs_is_given_up_and_replaced(start: Callable[..., Replica]) -> None:
    replica = start("--timeout-s", "0.5").ready()

    answer = replica.predict("hang")

    assert (answer.status_code, answer.json()["error"]) == (504, "The model did not answer in 0.5 s.")
    until(lambda: replica.predict(1).status_code == 200, replica)
    assert "it did not answer in 0.5 s" in replica.log.read_text()


def test_what_cannot_be_loaded_keeps_saying_why(tmp_path: Path, start: Callable[..., Replica]) -> None:
    (tmp_path / "refuse").touch()

    replica = start()

    until(lambda: "holds no model" in replica.http.get("/v1/models/toy").text, replica)
    assert replica.http.get("/v2/health/ready").status_code == 503
    assert "has weights but no detector.json" in replica.log.read_text()


def test_with_fail_fast_it_leaves_at_once_and_its_last_line_says_why(
    tmp_path: Path, start: Callable[..., Replica]
) -> None:
    (tmp_path / "refuse").touch()

    replica = start("--fail-fast")

    assert replica.process.wait(timeout=_LIMIT_S) == 3
    assert replica.log.read_text().splitlines()[-1].endswith("has weights but no detector.json.")


def test_a_load_that_broke_is_tried_again(tmp_path: Path, start: Callable[..., Replica]) -> None:
    (tmp_path / "break").touch()
    replica = start()
    until(lambda: "not enough memory" in replica.http.get("/v1/models/toy").text, replica)

    (tmp_path / "break").unlink()

    replica.ready()


def test_too_many_at_once_are_sent_away_with_a_time_to_come_back(start: Callable[..., Replica]) -> None:
    replica = start("--max-queue", "1", "--max-batch-size", "1").ready()

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: replica.predict({"sleep_s": 0.3}), range(6)))

    codes = sorted(answer.status_code for answer in answers)
    assert set(codes) == {200, 429}
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert "requests are waiting already" in refused.json()["error"]


def test_two_workers_are_two_processes_at_once(start: Callable[..., Replica]) -> None:
    replica = start("--workers", "2", "--max-batch-size", "1").ready()
    until(lambda: 'resolute_workers_ready{model="toy"} 2.0' in replica.http.get("/metrics").text, replica)

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: replica.predict({"sleep_s": 0.3}), range(2)))

    assert len({answer.json()["predictions"][0] for answer in answers}) == 2


def test_told_to_leave_it_finishes_what_it_began_and_exits_with_0(start: Callable[..., Replica]) -> None:
    replica = start().ready()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(replica.predict, {"sleep_s": 3.0})
        until(lambda: "resolute_in_flight 1.0" in httpx.get(f"{replica.http.base_url}/metrics").text, replica)
        replica.process.send_signal(signal.SIGTERM)
        answer = running.result()

    assert answer.status_code == 200
    assert answer.headers["connection"] == "close"
    assert replica.process.wait(timeout=_LIMIT_S) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{replica.http.base_url}/v2/health/live")


def test_a_killed_server_leaves_no_model_process_behind(start: Callable[..., Replica]) -> None:
    replica = start().ready()
    child = replica.predict("pid").json()["predictions"][0]

    replica.process.kill()
    replica.process.wait()

    until(lambda: not Path(f"/proc/{child}").exists() or "zombie" in _status(child), replica)


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return "zombie"


def test_a_warm_server_forks_its_first_model_process_and_starts_afresh_after_a_crash(tmp_path: Path) -> None:
    warm = "import sys, types; sys.modules['torch'] = types.ModuleType('torch');"
    code = f"{warm} from resolute.serving.replica import main; sys.exit(main(sys.argv[1:]))"

    replica = Replica(tmp_path, command=[sys.executable, "-c", code]).ready()
    first = replica.predict("pid").json()["predictions"][0]
    commands = [_command_line(first)]
    replica.predict("die")
    replica.ready()
    second = replica.predict("pid").json()["predictions"][0]
    commands.append(_command_line(second))

    assert ["worker_start" in command for command in commands] == [False, True]
    assert replica.stop() == 0
    assert not Path(f"/proc/{second}").exists()


def _command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode()


def test_the_server_itself_never_loads_what_models_need() -> None:
    code = "import sys, resolute.serving.replica, resolute.serving.grpc.server; print('torch' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--options", "{"], "--options is not JSON"),
        (["--options", "[1]"], "must be a JSON object"),
        (["--workers", "0"], "workers is 0; at least one"),
        (["--max-batch-size", "0"], "max_batch_size is 0; it must be at least 1"),
        (["--port", "99999"], "port is 99999; ports go from 0"),
        (["--load", "nothing"], "write module:function"),
        (["--name", "a/b"], "cannot be called 'a/b'"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_it_listens(options: list[str], words: str) -> None:
    command = [sys.executable, "-m", "resolute.serving.replica", "--source", ".", "--name", "toy", *options]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT_S)

    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


class FakeMaster(BaseHTTPRequestHandler):
    """Away for the first request, then takes notes."""

    notes: list[tuple[str, str, Any]] = []  # noqa: RUF012
    is_away = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if type(self).is_away:
            type(self).is_away = False
            self.send_error(503)
            return
        self.notes.append((self.path, self.headers["Grpc-Metadata-x-allocation-token"], body))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: pytest shows what matters."""


def test_under_a_master_it_reports_its_address_and_then_that_it_is_ready(start: Callable[..., Replica]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeMaster) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        master = f"http://127.0.0.1:{server.server_port}"

        replica = start(env={"RESOLUTE_MASTER": master, "RESOLUTE_ALLOCATION_ID": "7.1", "DET_SESSION_TOKEN": "t0ken"})
        until(lambda: len(FakeMaster.notes) == 2, replica)
        server.shutdown()

    address = f"127.0.0.1:{replica.ports['port']}"
    assert FakeMaster.notes == [
        ("/api/v1/allocations/7.1/proxy_address", "Bearer t0ken", {"proxyAddress": address}),
        ("/api/v1/allocations/7.1/ready", "Bearer t0ken", {}),
    ]


def test_resolute_serve_shows_how_to_ask_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "resolute.cli.main", "serve", str(tmp_path), "--name", "toy", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(MODELS)}

    with subprocess.Popen(
        [*command, "--load", "toy_models:load"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        process.terminate()
        code = process.wait(timeout=_LIMIT_S)

    assert line.startswith("Try: curl http://127.0.0.1:")
    assert "/v1/models/toy:predict" in line
    assert code == 0
