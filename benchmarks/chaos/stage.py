"""Where a storm happens: a master that may be killed and started again, on a disk that may be full, with a clock that
may jump, over a database and a store that may go away.
"""

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chaos.servers import PostgresServer, S3Server
from resolute.runners.namespaces import Namespace

PASSWORD = "a word for storms"
_READY_WITHIN_S = 180.0
_PATIENCE_S = 240.0
_CLOCK_SOURCE = Path(__file__).with_name("clock.c")


@dataclass(kw_only=True)
class Stage:
    folder: Path
    slots: int = 4
    host: str = "127.0.0.1"
    hosts: Sequence[Namespace] = ()
    environment: dict[str, str] = field(default_factory=dict)
    postgres: PostgresServer | None = None
    s3: S3Server | None = None
    recoveries_s: list[float] = field(default_factory=list)
    """From the start of a master's process to its first answer."""

    def __post_init__(self) -> None:
        self.home = self.folder / "disk" / "home"
        self.output = self.folder / "master.out"
        self.url = ""
        self._port = 0
        self._is_ready = False
        self._stopping = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="keeper", daemon=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._token = ""
        self._clock = self.folder / "clock"
        self.set_clock(0)
        self._clock_library = _built_clock(self.folder)

    # ------------------------------------------------------------------------------------------------------ master

    def start(self) -> None:
        """Keep a master running from now on, whatever becomes of it; returns when the first one answers."""
        self._port = free_port_on(self.host)
        self.url = f"http://{self.host}:{self._port}"
        self._keeper.start()
        deadline = time.monotonic() + _READY_WITHIN_S
        while not self.is_ready:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the master did not come up:\n{self.output.read_text()[-4000:]}")
            time.sleep(0.05)

    @property
    def is_ready(self) -> bool:
        """Has the master that runs now answered?"""
        return self._is_ready and self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def _keep(self) -> None:
        while not self._stopping.is_set():
            began = time.monotonic()
            with self.output.open("ab") as output:
                self._process = subprocess.Popen(self._command(), stdout=output, stderr=output, env=self._environment())
            while self._process.poll() is None and not self._stopping.is_set():
                if not self._is_ready and self._answers():
                    self._is_ready = True
                    self.recoveries_s.append(time.monotonic() - began)
                time.sleep(0.1 if self._is_ready else 0.01)
            self._is_ready = False
            # Its database may be away, or its disk full.
            self._stopping.wait(0.1)

    def _answers(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/info", timeout=5).status_code == 200
        return False

    def close(self) -> None:
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join()
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(20)
            self._process.kill()
        _end_processes_of(self.folder)

    def _command(self) -> list[str]:
        words = [sys.executable, "-m", "resolute.cli.main", "up", "--host", self.host, "--port", str(self._port)]
        words += ["--router-port", "0", "--home", str(self.home), "--slots", str(self.slots)]
        return [*words, "--db", self.postgres.url] if self.postgres else words

    def _environment(self) -> dict[str, str]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "RESOLUTE_INITIAL_PASSWORD": PASSWORD, **self.environment}
        if self.clock_can_jump:
            environment |= {"LD_PRELOAD": str(self._clock_library), "CHAOS_CLOCK": str(self._clock)}
        return environment

    # ------------------------------------------------------------------------------------------------------- calls

    def get(self, path: str, **query: Any) -> Any:
        return self.call("GET", path, params=query)

    def call(self, method: str, path: str, **options: Any) -> Any:
        """Patient: for what happens before and after the storm."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            answer = self.attempt(method, path, **options)
            if answer is not None:
                return answer
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {path}: no good answer within {_PATIENCE_S:.0f} s")
            time.sleep(0.1)

    def attempt(self, method: str, path: str, **options: Any) -> Any:
        """None when it is not known whether it happened, or it is known that it did not."""
        try:
            answer = httpx.request(method, self.url + path, headers=self._headers(), timeout=20, **options)
        except (httpx.HTTPError, KeyError):
            return None
        if answer.status_code == 401:
            self._token = ""  # the clock may have jumped beyond the end of the session
            return None
        if answer.status_code >= 500 or answer.status_code == 429:
            return None
        if answer.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json() if answer.content else {}

    def _headers(self) -> dict[str, str]:
        if not self._token:
            login = {"username": "determined", "password": PASSWORD}
            self._token = str(httpx.post(f"{self.url}/api/v1/auth/login", json=login, timeout=20).json()["token"])
        return {"Authorization": f"Bearer {self._token}"}

    # -------------------------------------------------------------------------------------------------------- clock

    @property
    def clock_can_jump(self) -> bool:
        return self._clock_library is not None

    def set_clock(self, ahead_s: int) -> None:
        """Of the master and all that it started, at once. The file is mapped: it is written over, never replaced."""
        with self._clock.open("r+b" if self._clock.exists() else "wb") as file:
            file.write(struct.pack("<q", ahead_s))


@contextlib.contextmanager
def small_disk(folder: Path, *, size: str = "768m") -> Iterator[bool]:
    """Memory mounted as `folder`, which then can be full. False, and a plain folder, where mounting is not allowed."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    is_mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)


def _built_clock(folder: Path) -> Path | None:
    """None where there is no C compiler: clocks do not jump then."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    library = folder / "clock.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(_CLOCK_SOURCE), "-ldl"], check=True)
    return library


def free_port_on(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _end_processes_of(folder: Path) -> None:
    """Trials and routers outlive their master by design; a storm must not leave them behind."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            facts = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            if str(folder).encode() in facts:
                os.kill(int(entry.name), signal.SIGKILL)
