"""A master in a thread, for tests of what runs in a task. It answers a trial's part of the API and keeps every call.

It keeps no database and checks no token's rights; it can be told to be away, to ask for a stop, or to refuse a run.
"""

import json
import ssl
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "fake-token"


@dataclass
class FakeTaskMaster(AbstractContextManager["FakeTaskMaster"]):
    """Use as a context manager; `env(...)` is what a trial's process would get."""

    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    """(method, path without query, decoded body), in order of arrival."""
    checkpoints: dict[str, dict[str, Any]] = field(default_factory=dict)
    status: int = 200
    """Anything else is answered to every call: 503 plays an outage, 409 a run that was replaced."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is answered to a path without its query, before anything else."""
    refusals: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Status and sentence with which calls to a path are refused."""
    tls: ssl.SSLContext | None = None
    """Speaks HTTPS with this certificate."""

    def __post_init__(self) -> None:
        self.connections = 0
        self._stop = threading.Event()
        self._polled = threading.Event()
        self._server = _QuietServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        if self.tls is not None:
            self._server.socket = self.tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> "FakeTaskMaster":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        scheme = "https" if self.tls is not None else "http"
        return f"{scheme}://127.0.0.1:{self._server.server_port}"

    def env(self, storage: Path, *, config: dict[str, Any] | None = None, **overrides: str) -> dict[str, str]:
        defaults = {
            "checkpoint_storage": {"type": "shared_fs", "host_path": str(storage)},
            "searcher": {"name": "single", "metric": "", "max_length": {"batches": 100}},
        }
        env = {
            "DET_MASTER": self.url,
            "DET_SESSION_TOKEN": TOKEN,
            "DET_TRIAL_ID": "7",
            "DET_EXPERIMENT_ID": "3",
            "DET_ALLOCATION_ID": "3.abc.1",
            "DET_TASK_ID": "3.abc",
            "DET_TRIAL_RUN_ID": "1",
            "DET_TRIAL_SEED": "11",
            "DET_SLOT_IDS": "[0]",
            "DET_AGENT_ID": "local",
            "DET_HPARAMS": "{}",
            "DET_STEPS_COMPLETED": "0",
            "DET_EXPERIMENT_CONFIG": json.dumps({**defaults, **(config or {})}),
        }
        return {**env, **overrides}

    def ask_to_stop(self) -> None:
        self._stop.set()

    def wait_for_a_poll(self) -> None:
        """Until somebody waits to be asked to stop."""
        assert self._polled.wait(10.0), "nobody asked"

    def reports(self, group: str | None = None) -> list[dict[str, Any]]:
        batches = [body["reports"] for _, path, body in self.calls if path.endswith("/metrics/batch")]
        return [report for batch in batches for report in batch if group in (None, report["group"])]

    def paths(self) -> list[str]:
        return [path for _, path, _ in self.calls]

    def answer(self, method: str, target: str, body: Any) -> tuple[int, dict[str, Any]]:
        parts = urlsplit(target)
        if self.status != 200:
            code, reason = (10, "Aborted") if self.status == 409 else (14, "Unavailable")
            return self.status, {"error": {"code": code, "reason": reason, "error": "the fake master refuses"}}
        if parts.path.endswith("/signals/preemption"):
            self._polled.set()
            timeout_s = float(parse_qs(parts.query).get("timeout_seconds", ["0"])[0])
            return 200, {"preempt": self._stop.wait(timeout_s)}
        self.calls.append((method, parts.path, body))
        if parts.path in self.refusals:
            status, sentence = self.refusals[parts.path]
            return status, {"error": {"code": 0, "reason": "", "error": sentence}}
        if parts.path in self.answers:
            return 200, self.answers[parts.path]
        if parts.path == "/api/v1/checkpoints" and method == "POST":
            self.checkpoints[body["uuid"]] = body
        elif parts.path.startswith("/api/v1/checkpoints/"):
            return self._one_checkpoint(parts.path.rsplit("/", 1)[1])
        elif parts.path.endswith("/checkpoints"):
            return 200, {"checkpoints": list(self.checkpoints.values()), "pagination": {}}
        elif parts.path.endswith("best_searcher_validation_metric"):
            return 404, {"error": {"code": 5, "reason": "NotFound", "error": "no validation yet"}}
        return 200, {}

    def _one_checkpoint(self, uuid: str) -> tuple[int, dict[str, Any]]:
        if uuid not in self.checkpoints:
            return 404, {"error": {"code": 5, "reason": "NotFound", "error": f"checkpoint not found: {uuid}"}}
        return 200, {"checkpoint": self.checkpoints[uuid]}


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # Clients that hang up are part of what is played here.


def _handler(master: FakeTaskMaster) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            master.connections += 1

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if self.headers.get("Grpc-Metadata-x-allocation-token") != f"Bearer {TOKEN}":
                status, answer = 401, {"error": {"code": 16, "reason": "Unauthenticated", "error": "no token"}}
            else:
                status, answer = master.answer(self.command, self.path, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _serve

        def log_message(self, *args: Any) -> None:
            pass

    return Handler
