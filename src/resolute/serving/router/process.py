"""The master's side of the router: starts its supervisor, finds both again, hands it tables, reads its counts."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.domain.listening import address_parts
from resolute.domain.replica_health import PROBE_WITHIN_S
from resolute.domain.routing import RouterCounts, RoutingTable
from resolute.host.process_identity import NOBODY, ProcessIdentity, identity_of

_START_WITHIN_S = 20.0
_LEAVE_WITHIN_S = 15.0
_KILLED_WITHIN_S = 5.0


class RouterProcess:
    """`engine.rollouts.Router`. `port` 0: any free one; a port that is taken is left to who has it."""

    def __init__(
        self,
        *,
        home: Path,
        host: str = "127.0.0.1",
        port: int = 0,
        certificate: tuple[Path, Path] | None = None,
        allowed: Sequence[str] = (),
    ) -> None:
        """`certificate` and its key: TLS, as the master speaks it. `allowed`: networks of clients; none: anybody."""
        self._scheme = "http" if certificate is None else "https"
        self._guards = [
            *(() if certificate is None else ("--tls-cert", str(certificate[0]), "--tls-key", str(certificate[1]))),
            *chain.from_iterable(("--allow-cidr", network) for network in allowed),
        ]
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
        name = f"[{host}]" if ":" in host else host
        return f"{state.get('scheme', 'http')}://{name}:{state['port']}"

    @property
    def forward_token(self) -> str:
        state = self._state()
        return str(state["token"]) if state else ""

    def ensure(self) -> None:
        """Make it run, and its supervisor. Raises Unavailable when it does not come up."""
        with self._lock:
            router, supervisor = self._identity(self._state()), self._identity(self._supervisor_state())
            if router.is_alive and supervisor.is_alive:
                return
            if router.is_alive:
                self._settles(self._supervise(self._port, router))
                return
            if supervisor.is_alive:
                if self._comes_up(supervisor):
                    return
                end(supervisor, signal.SIGKILL, within_s=_KILLED_WITHIN_S)
            last = self._state()
            port = int(last["port"]) if last else self._port
            for wanted in dict.fromkeys((port, 0)):
                if self._comes_up(self._supervise(wanted)):
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

    def probe(self, address: str, path: str) -> str:
        """Why a replica cannot answer; empty when it can."""
        try:
            host, port = address_parts(address)
            connection = http.client.HTTPConnection(host, port, timeout=PROBE_WITHIN_S)
            with contextlib.closing(connection):
                connection.request("GET", path, headers={"User-Agent": "resolute-master", "Connection": "close"})
                status = connection.getresponse().status
        except TimeoutError:
            return f"no answer within {PROBE_WITHIN_S:g} s"
        except (OSError, http.client.HTTPException, ValueError, InvalidInput) as problem:
            return str(problem) or type(problem).__name__
        return f"it was answered {status}" if status >= 500 else ""

    def restart(self) -> None:
        """End it whatever it does; its supervisor makes another one run. Raises Unavailable when none comes up."""
        router = self._identity(self._state())
        if not end(router, signal.SIGTERM, within_s=_LEAVE_WITHIN_S):
            end(router, signal.SIGKILL, within_s=_KILLED_WITHIN_S)
        self.ensure()

    def stop(self) -> None:
        """End it and its supervisor; what it is answering is answered first."""
        both = [self._identity(self._supervisor_state()), self._identity(self._state())]
        for kind, within_s in ((signal.SIGTERM, _LEAVE_WITHIN_S), (signal.SIGKILL, _KILLED_WITHIN_S)):
            ended = [end(each, kind, within_s=within_s) for each in both]
            if all(ended):
                break
        self._reap()

    # ------------------------------------------------------------------------------------------------ process

    @property
    def _table(self) -> Path:
        return self._folder / "table.json"

    def _state(self) -> dict[str, Any] | None:
        return _read(self._folder / "router.json")

    def _supervisor_state(self) -> dict[str, Any] | None:
        return _read(self._folder / "supervisor.json")

    def _identity(self, state: dict[str, Any] | None) -> ProcessIdentity:
        self._reap()
        return NOBODY if state is None else ProcessIdentity(int(state["pid"]), str(state["started"]))

    def _reap(self) -> None:
        if self._child is not None:
            self._child.poll()

    def _supervise(self, port: int, router: ProcessIdentity = NOBODY) -> ProcessIdentity:
        """Start a supervisor; with `router` for one that runs, and listens, already."""
        self._folder.mkdir(parents=True, exist_ok=True)
        arguments = {
            "--host": self._host,
            "--port": str(self._state_port() if router.is_alive else port),
            "--table": str(self._table),
            "--state": str(self._folder / "router.json"),
            "--own-state": str(self._folder / "supervisor.json"),
        }
        if router.is_alive:
            arguments["--adopt"] = f"{router.pid}:{router.started}"
        if self._child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(_KILLED_WITHIN_S)
        with (self._folder / "router.log").open("ab") as output:
            # A session of its own: it lives on when the master's terminal or the master itself is gone.
            self._child = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "resolute.serving.router.supervisor",
                    *chain.from_iterable(arguments.items()),
                    *self._guards,
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return identity_of(self._child.pid)

    def _state_port(self) -> int:
        state = self._state()
        return int(state["port"]) if state else self._port

    def _settles(self, supervisor: ProcessIdentity) -> bool:
        """Whether it is known by its file, so that it can be found and ended."""
        ends_at = time.monotonic() + _START_WITHIN_S
        while supervisor.is_alive and time.monotonic() < ends_at:
            if self._identity(self._supervisor_state()) == supervisor:
                return True
            time.sleep(0.01)
        return False

    def _comes_up(self, supervisor: ProcessIdentity) -> bool:
        """Whether a router runs before its supervisor ends, or takes too long."""
        ends_at = time.monotonic() + _START_WITHIN_S
        while time.monotonic() < ends_at:
            self._reap()
            if self._identity(self._state()).is_alive:
                return True
            if not supervisor.is_alive:
                break
            time.sleep(0.01)
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


def end(process: ProcessIdentity, kind: signal.Signals, *, within_s: float) -> bool:
    """Whether it has ended `within_s` after the signal."""
    ends_at = time.monotonic() + within_s
    if process.is_alive:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, kind)
    while process.is_alive:
        if time.monotonic() > ends_at:
            return False
        time.sleep(0.01)
    return True


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(path.read_text()))
    except (OSError, ValueError):
        return None
