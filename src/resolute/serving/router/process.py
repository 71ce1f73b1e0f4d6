"""The master's side of the router: starts it, finds it again after a restart, hands it tables, reads its counts."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from resolute.domain.errors import Unavailable
from resolute.domain.routing import RouterCounts, RoutingTable
from resolute.host.process_identity import ProcessIdentity

_START_WITHIN_S = 20.0
_LEAVE_WITHIN_S = 15.0


class RouterProcess:
    """`engine.rollouts.Router`. `port` 0: any free one; a port that is taken is left to who has it."""

    def __init__(self, *, home: Path, host: str = "127.0.0.1", port: int = 0) -> None:
        self._folder = home / "router"
        self._host = host
        self._port = port
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where clients reach it; empty before it was ever started."""
        state = self._state()
        if state is None:
            return ""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)
        return f"http://[{host}]:{state['port']}" if ":" in host else f"http://{host}:{state['port']}"

    @property
    def forward_token(self) -> str:
        state = self._state()
        return str(state["token"]) if state else ""

    def ensure(self) -> None:
        """Make it run. Raises Unavailable when it does not come up."""
        with self._lock:
            if self._is_running(self._state()):
                return
            last = self._state()
            port = int(last["port"]) if last else self._port
            for wanted in dict.fromkeys((port, 0)):
                if self._start(wanted):
                    return
        raise Unavailable(f"The router does not start; see {self._folder / 'router.log'}.")

    def publish(self, table: RoutingTable) -> None:
        """Hand it a table: atomically, and seen by it when this returns if it is running."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._folder / "table.json.new"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(table))
        os.replace(draft, self._table)
        self._ask("POST", "/reload", timeout_s=2.0)

    def published(self) -> RoutingTable | None:
        """What an earlier master has handed it."""
        try:
            return msgspec.json.decode(self._table.read_bytes(), type=RoutingTable)
        except (OSError, msgspec.DecodeError):
            return None

    def counts(self, wait_s: float = 0.0) -> RouterCounts | None:
        """None when it does not answer."""
        content = self._ask("GET", f"/counts?wait_s={wait_s}", timeout_s=wait_s + 2.0)
        return None if content is None else msgspec.json.decode(content, type=RouterCounts)

    def restart(self) -> None:
        """End it whatever it does, and make another one run at its port. Raises Unavailable."""
        self.stop()
        self.ensure()

    def stop(self) -> None:
        """End it; what it is answering is answered first."""
        state = self._state()
        if state is None or not self._is_running(state):
            return
        for kind, within_s in ((signal.SIGTERM, _LEAVE_WITHIN_S), (signal.SIGKILL, 5.0)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(state["pid"]), kind)
            ends_at = time.monotonic() + within_s
            while self._is_running(state) and time.monotonic() < ends_at:
                time.sleep(0.01)
            if not self._is_running(state):
                return

    # ------------------------------------------------------------------------------------------------ process

    @property
    def _table(self) -> Path:
        return self._folder / "table.json"

    def _state(self) -> dict[str, Any] | None:
        try:
            return dict(json.loads((self._folder / "router.json").read_text()))
        except (OSError, ValueError):
            return None

    def _is_running(self, state: dict[str, Any] | None) -> bool:
        if self._child is not None:
            self._child.poll()
        return state is not None and ProcessIdentity(int(state["pid"]), str(state["started"])).is_alive

    def _start(self, port: int) -> bool:
        self._folder.mkdir(parents=True, exist_ok=True)
        state = self._folder / "router.json"
        arguments = ["--host", self._host, "--port", str(port), "--table", str(self._table), "--state", str(state)]
        with (self._folder / "router.log").open("ab") as output:
            # A session of its own: it lives on when the master's terminal or the master itself is gone.
            self._child = subprocess.Popen(
                [sys.executable, "-m", "resolute.serving.router", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        ends_at = time.monotonic() + _START_WITHIN_S
        while time.monotonic() < ends_at and self._child.poll() is None:
            known = self._state()
            if known is not None and known["pid"] == self._child.pid:
                return True
            time.sleep(0.01)
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        return False

    def _ask(self, method: str, path: str, *, timeout_s: float) -> bytes | None:
        state = self._state()
        if state is None:
            return None
        connection = http.client.HTTPConnection("127.0.0.1", int(state["control_port"]), timeout=timeout_s)
        try:
            connection.request(method, path, headers={"Authorization": f"Bearer {state['token']}"})
            answer = connection.getresponse()
            content = answer.read()
            return content if answer.status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
