"""`python -m resolute.serving.router.supervisor`: keeps one router running, whoever else is there.

It holds the listening socket, so that clients who come while a router is being replaced wait a moment instead of being
refused. It knows nothing of deployments: what it imports must not be able to break. Killed alone, it leaves its router
to serve; `--adopt` makes a new one look after that router, and bind the port when it has ended.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from resolute.host.process_identity import ProcessIdentity, identity_of

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0
_GOOD_LIFE_S = 10.0
_LOOK_S = 0.05
_LEAVE_WITHIN_S = 15.0
_BACKLOG = 1024


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m resolute.serving.router.supervisor")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True, help="JSON that the router writes")
    parser.add_argument("--own-state", type=Path, required=True, help="JSON that this process writes")
    parser.add_argument("--tls-cert", default="", help="what the router is given")
    parser.add_argument("--tls-key", default="", help="what the router is given")
    parser.add_argument("--allow-cidr", action="append", default=[], help="what the router is given")
    parser.add_argument("--adopt", default="", help="PID:STARTED of a router that runs already")
    given = parser.parse_args()
    guards = ["--tls-cert", given.tls_cert, "--tls-key", given.tls_key] if given.tls_cert else []
    for network in given.allow_cidr:
        guards += ["--allow-cidr", network]
    supervisor = Supervisor(given.table, given.state, guards)
    signal.signal(signal.SIGTERM, lambda *_: supervisor.stop())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    write_own_state(given.own_state)
    if given.adopt:
        pid, _, started = given.adopt.partition(":")
        supervisor.adopt(ProcessIdentity(int(pid), started))
    try:
        supervisor.listen(given.host, given.port)
    except OSError as problem:
        print(f"The router cannot listen on {given.host}:{given.port}: {problem.strerror}.", file=sys.stderr)
        return 1
    supervisor.run()
    return 0


def write_own_state(path: Path) -> None:
    identity = identity_of(os.getpid())
    draft = path.with_suffix(f".{identity.pid}")
    draft.write_text(json.dumps({"pid": identity.pid, "started": identity.started}))
    os.replace(draft, path)


class Supervisor:
    def __init__(self, table: Path, state: Path, guards: Sequence[str] = ()) -> None:
        self._arguments = ["--table", str(table), "--state", str(state), *guards]
        self._listener: socket.socket | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._adopted: ProcessIdentity | None = None
        self._is_stopping = False

    def adopt(self, router: ProcessIdentity) -> None:
        """Until it has ended."""
        self._adopted = router
        while router.is_alive:
            time.sleep(_LOOK_S)
        self._adopted = None

    def listen(self, host: str, port: int) -> None:
        if self._is_stopping:
            return
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)

    def run(self) -> None:
        """One router after the other, until `stop`."""
        pause_s = _FIRST_PAUSE_S
        while not self._is_stopping and self._listener is not None:
            started = time.monotonic()
            code = self._one(self._listener)
            if self._is_stopping:
                return
            print(f"The router ended ({code}); another one starts.", file=sys.stderr, flush=True)
            pause_s = _FIRST_PAUSE_S if time.monotonic() - started > _GOOD_LIFE_S else pause_s
            time.sleep(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, pause_s * 2)

    def stop(self) -> None:
        """From a signal: the router answers what it has, and both leave."""
        self._is_stopping = True
        if self._listener is not None:
            # Nobody may queue up here for a router that will not come.
            self._listener.close()
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()
        if self._adopted is not None and self._adopted.is_alive:
            os.kill(self._adopted.pid, signal.SIGTERM)

    def _one(self, listener: socket.socket) -> int:
        command = [sys.executable, "-m", "resolute.serving.router", "--fd", str(listener.fileno()), *self._arguments]
        self._child = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[listener.fileno()])
        if self._is_stopping:
            self._child.terminate()
        return self._child.wait()


if __name__ == "__main__":
    sys.exit(main())
