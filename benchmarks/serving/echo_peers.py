"""The peers of the echo benchmark: how each is started with a model that answers with what it was asked.

Every peer has a Python of its own, named in an environment variable; one that is not named is left out, and the table
says so. All run one server process with their defaults otherwise, as ours does.
"""

import json
import os
import shutil
import socket
import subprocess
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

KSERVE = """
import sys
from kserve import InferOutput, InferResponse, Model, ModelServer

class Echo(Model):
    def __init__(self):
        super().__init__("m")
        self.ready = True

    async def predict(self, payload, headers=None, response_headers=None):
        if isinstance(payload, dict):
            return {"predictions": payload["instances"]}
        outputs = [InferOutput(name=i.name, shape=i.shape, datatype=i.datatype, data=i.data) for i in payload.inputs]
        return InferResponse(response_id=payload.id, model_name="m", infer_outputs=outputs)

ModelServer(http_port=int(sys.argv[1]), enable_grpc=False).start([Echo()])
"""

MLSERVER = """
from mlserver import MLModel
from mlserver.types import InferenceResponse, ResponseOutput

class Echo(MLModel):
    async def load(self):
        return True

    async def predict(self, payload):
        outputs = [ResponseOutput(name=i.name, shape=i.shape, datatype=i.datatype, data=i.data) for i in payload.inputs]
        return InferenceResponse(model_name=self.name, id=payload.id, outputs=outputs)
"""

LITSERVE = """
import sys
import litserve as ls

class Echo(ls.LitAPI):
    def setup(self, device):
        pass

    def decode_request(self, request):
        return request["instances"]

    def predict(self, x):
        return x

    def encode_response(self, output):
        return {"predictions": output}

if __name__ == "__main__":
    server = ls.LitServer(Echo(api_path="/predict"), accelerator="cpu", workers_per_device=1)
    server.run(port=int(sys.argv[1]), generate_client_file=False, num_api_servers=1, log_level="error")
"""

TORCHSERVE = """
def handle(data, context):
    return None if data is None else [row.get("body") or row.get("data") for row in data]
"""


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    variable: str
    """Names its Python."""
    v1_path: str = ""
    """Empty: it does not speak V1."""
    v2_path: str = ""

    @property
    def python(self) -> str:
        return os.environ.get(self.variable, "")


PEERS = (
    Peer("kserve 0.21", "RESOLUTE_KSERVE_PYTHON", "/v1/models/m:predict", "/v2/models/m/infer"),
    Peer("MLServer", "RESOLUTE_MLSERVER_PYTHON", v2_path="/v2/models/m/infer"),
    Peer("LitServe", "RESOLUTE_LITSERVE_PYTHON", v1_path="/predict"),
    Peer("TorchServe 0.12", "RESOLUTE_TORCHSERVE_PYTHON", v1_path="/predictions/m"),
)


@contextmanager
def running(peer: Peer, folder: Path) -> Iterator[tuple[int, int]]:
    """The port that it will listen on, and its process."""
    port = free_port()
    command, env = _command(peer, folder, port)
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=env, start_new_session=True)
    try:
        yield port, process.pid
    finally:
        _end(peer, process, folder)
        log.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, request: bytes, log: Path, *, timeout_s: float = 60) -> None:
    """Until `request` is answered with 200: some say that they are ready before their model is."""
    ends_at = time.monotonic() + timeout_s
    while time.monotonic() < ends_at:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                connection.sendall(request)
                if connection.recv(100).split(b" ")[1:2] == [b"200"]:
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"nothing at port {port} after {timeout_s} s:\n{log.read_text(errors='replace')[-2000:]}")


def _command(peer: Peer, folder: Path, port: int) -> tuple[list[str], dict[str, str]]:
    env = {**os.environ, "PATH": f"{Path(peer.python).parent}{os.pathsep}{os.environ['PATH']}"}
    if peer.name.startswith("MLServer"):
        return _mlserver(peer, folder, port), env
    if peer.name.startswith("TorchServe"):
        return _torchserve(peer, folder, port), env
    script = folder / "peer.py"
    script.write_text(KSERVE if peer.name.startswith("kserve") else LITSERVE)
    return [peer.python, str(script), str(port)], env


def _mlserver(peer: Peer, folder: Path, port: int) -> list[str]:
    (folder / "echo_model.py").write_text(MLSERVER)
    settings = {"http_port": port, "grpc_port": free_port(), "metrics_port": free_port(), "debug": False}
    # Its worker processes do not start with the uvloop of today: the model runs in the server itself.
    settings["parallel_workers"] = 0
    (folder / "settings.json").write_text(json.dumps(settings))
    (folder / "model-settings.json").write_text(json.dumps({"name": "m", "implementation": "echo_model.Echo"}))
    return [str(Path(peer.python).with_name("mlserver")), "start", str(folder)]


def _torchserve(peer: Peer, folder: Path, port: int) -> list[str]:
    store = folder / "store"
    store.mkdir()
    manifest = {
        "runtime": "python",
        "model": {"modelName": "m", "serializedFile": "w.pt", "handler": "h.py", "modelVersion": "1.0"},
    }
    with zipfile.ZipFile(store / "m.mar", "w") as archive:
        archive.writestr("h.py", TORCHSERVE)
        archive.writestr("w.pt", b"")
        archive.writestr("MAR-INF/MANIFEST.json", json.dumps(manifest))
    addresses = {"inference_address": port, "management_address": free_port(), "metrics_address": free_port()}
    lines = [f"{key}=http://127.0.0.1:{value}" for key, value in addresses.items()]
    lines += [f"grpc_inference_port={free_port()}", f"grpc_management_port={free_port()}"]
    (folder / "config.properties").write_text("\n".join([*lines, "default_workers_per_model=1"]) + "\n")
    binary = Path(peer.python).with_name("torchserve")
    return [
        str(binary),
        "--start",
        "--foreground",
        "--model-store",
        str(store),
        "--models",
        "m=m.mar",
        "--ts-config",
        str(folder / "config.properties"),
        "--disable-token-auth",
    ]


def _end(peer: Peer, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """It and all it started: they share the session that it was started in."""
    for number in (15, 9):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
    shutil.rmtree(folder / "store", ignore_errors=True)
