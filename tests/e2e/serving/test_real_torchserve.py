"""The real TorchServe beside ours: what it hands to handlers, what it makes of our archives, and we of its archiver's.

`RESOLUTE_TORCHSERVE` is the path of its `torchserve` (PyPI: torchserve, torch-model-archiver and captum, beside
torch and torchvision; Java 17 on PATH).
"""

import base64
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from PIL import Image

CORPUS = Path(__file__).parents[2] / "corpus"
TORCHSERVE = os.environ.get("RESOLUTE_TORCHSERVE")
_LIMIT_S = 180
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(TORCHSERVE is None, reason="RESOLUTE_TORCHSERVE does not name a torchserve to compare with"),
]
NET = """
import torch
from torch import nn

class Grey(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 2, 3)
        self.head = nn.Linear(2 * 26 * 26, 10)

    def forward(self, x):
        return torch.log_softmax(self.head(torch.relu(self.first(x)).flatten(1)), dim=1)
"""
HANDLER = """
from torchvision import transforms
from ts.torch_handler.image_classifier import ImageClassifier

class Digits(ImageClassifier):
    image_processing = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])

    def postprocess(self, data):
        return data.argmax(1).tolist()
"""
CONFIG = """
inference_address=http://127.0.0.1:{0}
management_address=http://127.0.0.1:{1}
metrics_address=http://127.0.0.1:{2}
grpc_inference_port={3}
grpc_management_port={4}
default_workers_per_model=1
disable_token_authorization=true
"""


class Servers:
    """Both, with the same archives."""

    def __init__(self, theirs: httpx.Client, ours: dict[str, httpx.Client]) -> None:
        self.theirs = theirs
        self.ours = ours


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("torchserve")
    _make_parts(folder)
    (folder / "store").mkdir()
    _archive([str(Path(str(TORCHSERVE)).with_name("torch-model-archiver"))], folder, "recorder", "digits")
    _archive([sys.executable, "-m", "resolute.cli.main", "model", "package"], folder, "packaged")
    started: list[subprocess.Popen[bytes]] = []
    try:
        theirs = _start_theirs(folder, started)
        ours = {name: _start_ours(folder, name, started) for name in ("recorder", "digits")}
        yield Servers(theirs, ours)
        for client in (theirs, *ours.values()):
            client.close()
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            process.wait(_LIMIT_S)


def _make_parts(folder: Path) -> None:
    torch.manual_seed(0)
    scope: dict[str, Any] = {}
    exec(NET, scope)
    torch.save(scope["Grey"]().state_dict(), folder / "weights.pth")
    (folder / "net.py").write_text(NET)
    (folder / "digits.py").write_text(HANDLER)
    (folder / "recorder.py").write_text((CORPUS / "torchserve_recorder.py").read_text())


def _archive(command: list[str], folder: Path, *names: str) -> None:
    for name in names:
        handler = folder / ("recorder.py" if name == "recorder" else "digits.py")
        parts = ["--model-name", name, "--version", "1.0", "--handler", str(handler)]
        if name != "recorder":
            parts += ["--model-file", str(folder / "net.py"), "--serialized-file", str(folder / "weights.pth")]
        subprocess.run([*command, *parts, "--export-path", str(folder / "store")], check=True, capture_output=True)


def _start_theirs(folder: Path, started: list["subprocess.Popen[bytes]"]) -> httpx.Client:
    ports = [_free_port() for _ in range(5)]
    (folder / "config.properties").write_text(CONFIG.format(*ports))
    command = [str(TORCHSERVE), "--start", "--foreground", "--ncs", "--model-store", str(folder / "store")]
    command += ["--ts-config", str(folder / "config.properties"), "--models", "all"]
    # Its folder of temporary files holds the process id of the one that runs: one for each.
    own = {"PATH": f"{Path(str(TORCHSERVE)).parent}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(folder)}
    env = {**os.environ, **own}
    with (folder / "theirs.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=env, start_new_session=True)
    started.append(process)
    client = httpx.Client(base_url=f"http://127.0.0.1:{ports[0]}", timeout=_LIMIT_S)
    _until(lambda: client.get("/ping").json() == {"status": "Healthy"}, folder / "theirs.log")
    return client


def _start_ours(folder: Path, name: str, started: list["subprocess.Popen[bytes]"]) -> httpx.Client:
    port = _free_port()
    command = [sys.executable, "-m", "resolute.serving.replica", "--source", str(folder / f"store/{name}.mar")]
    with (folder / f"{name}.log").open("wb") as log:
        words = [*command, "--name", name, "--port", str(port)]
        started.append(subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True))
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=_LIMIT_S)
    _until(lambda: client.get("/v2/health/ready").status_code == 200, folder / f"{name}.log")
    return client


def _until(is_so: Any, log: Path) -> None:
    ends_at = time.monotonic() + _LIMIT_S
    while time.monotonic() < ends_at:
        try:
            if is_so():
                return
        except (httpx.TransportError, ValueError):
            pass
        time.sleep(0.2)
    raise AssertionError(log.read_text()[-4000:])


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _digit(mode: str = "L") -> bytes:
    target = io.BytesIO()
    Image.frombytes("L", (28, 28), bytes(index % 251 for index in range(784))).convert(mode).save(target, "PNG")
    return target.getvalue()


ROWS = json.loads((CORPUS / "torchserve_requests.json").read_text())


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_the_corpus_is_what_both_hand_to_a_handler(servers: Servers, row: dict[str, Any]) -> None:
    headers = {"X-Own": "Yes"} | ({"Content-Type": row["content_type"]} if row["content_type"] else {})
    asked = {"content": row["body"].encode("latin-1"), "headers": headers}

    for client in (servers.theirs, servers.ours["recorder"]):
        given = client.post(f"/{row['path']}/recorder", **asked).json()

        assert given["row"] == row["row"]
        assert given["own"] == "Yes"
        names = {name.lower(): value for name, value in given["headers"].items()}
        assert {name.lower(): names[name.lower()] for name in row["headers"]} == {
            name.lower(): value for name, value in row["headers"].items()
        }


def test_an_archive_of_the_real_archiver_answers_the_same_from_both(servers: Servers) -> None:
    wanted = servers.theirs.post("/predictions/digits", content=_digit())

    found = servers.ours["digits"].post("/predictions/digits", content=_digit())

    assert (found.status_code, found.text) == (wanted.status_code, wanted.text)
    instances = {"instances": [{"data": base64.b64encode(_digit()).decode()}]}
    answer = servers.ours["digits"].post("/v1/models/digits:predict", json=instances).json()
    assert answer == {"predictions": [int(wanted.text)]}


def test_real_torchserve_serves_an_archive_of_ours(servers: Servers) -> None:
    assert (
        servers.theirs.post("/predictions/packaged", content=_digit()).text
        == servers.theirs.post("/predictions/digits", content=_digit()).text
    )
