"""A master that speaks TLS, with the certificate that it has made for itself."""

import os
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.e2e.conftest import LiveMaster

from resolute.host.self_signed import self_signed

JUDGE = Path(__file__).parents[3] / ".venv-judge/bin/det"
SCRIPT = """
import resolute

with resolute.init() as run:
    run.report("validation", 1, {"loss": 1.0, "batches": 1})
    with run.checkpoint.store(steps=1) as (folder, _):
        (folder / "weights").write_text("1")
"""
CONFIG = """
name: over-tls
entrypoint: python3 train.py
searcher: {name: single, metric: loss, max_length: {batches: 1}}
max_restarts: 0
"""


@pytest.fixture
def master(tmp_path: Path, end_processes_of: Callable[[Path], None]) -> Iterator[LiveMaster]:
    master = LiveMaster(tmp_path / "home", "--slots", "1", "--tls", "self-signed", "--allow-cidr", "10.0.0.0/8")
    master.start()
    trusting = ssl.create_default_context(cafile=str(master.home / "tls" / "cert.pem"))
    master.http = httpx.Client(timeout=60, verify=trusting, trust_env=False)
    yield master
    master.close()
    end_processes_of(tmp_path)


def det(master: LiveMaster, cert: str, *arguments: str, host: str = "127.0.0.1") -> str:
    """The official client, which reads requests' own variables too."""
    others = ("DET_", "RESOLUTE_", "REQUESTS_", "CURL_", "SSL_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    env |= {"DET_MASTER_CERT_FILE": cert, "HOME": str(master.home.parent), "XDG_CONFIG_HOME": str(master.home.parent)}
    command = [str(JUDGE), "-m", f"https://{host}:{urlsplit(master.url).port}", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shown(master: LiveMaster) -> str:
    return ssl.get_server_certificate(("127.0.0.1", urlsplit(master.url).port or 0))


def test_trials_clients_and_a_new_certificate(master: LiveMaster, tmp_path: Path) -> None:
    assert master.url.startswith("https://")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(SCRIPT)
    cert = master.home / "tls" / "cert.pem"

    assert master.wait(master.create(CONFIG, tmp_path / "code")) == "STATE_COMPLETED"

    if JUDGE.exists():
        assert "over-tls" in det(master, str(cert), "experiment", "list")
        assert "over-tls" in det(master, "noverify", "experiment", "list", host="localhost")

    before = shown(master)
    new_cert, new_key = self_signed(tmp_path / "new", ("127.0.0.1", "localhost"))
    shutil.copy(new_key, master.home / "tls" / "key.pem")
    shutil.copy(new_cert, cert)
    ends_at = time.monotonic() + 60
    while shown(master) == before and time.monotonic() < ends_at:
        time.sleep(0.1)
    assert shown(master) == new_cert.read_text()
