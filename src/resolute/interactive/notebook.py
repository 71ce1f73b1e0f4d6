"""JupyterLab inside a task: signed in, in a folder that stays, gone when nothing happens in it any more."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from resolute.interactive.idleness import Idleness
from resolute.interactive.listening import Reception

EXAMPLES = Path(__file__).parent / "examples"
_LOOK_S = 0.1
_IDLE_LOOK_S = 2.0
_GIVE_UP_S = 120.0


def main() -> None:
    request = json.loads(os.environ.pop("RESOLUTE_NOTEBOOK"))
    reception = Reception()
    folder = furnish(_place(Path(request["folder"])), came_along=Path.cwd(), checkpoints=request["checkpoints"])
    port = reception.free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *arguments(reception, port, folder)],
        cwd=folder,
        # Not on the command line, which every user of the machine can read.
        env={**os.environ, "JUPYTER_TOKEN": request["token"]},
    )
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    base = f"http://{f'[{reception.host}]' if ':' in reception.host else reception.host}:{port}{reception.base_path}"
    with httpx.Client(base_url=base, headers={"Authorization": f"token {request['token']}"}, trust_env=False) as http:
        if not _answers(http, server):
            sys.exit(server.wait() or 1)
        reception.is_ready(port)
        print(f"JupyterLab is ready at {base}/; its files are in {folder}", flush=True)
        _watch(server, Idleness(request["idle_timeout_s"]), lambda: is_busy(http, request["idle_type"]))
    sys.exit(server.wait())


def _place(wanted: Path) -> Path:
    """On another machine, or under another account, the master's folder may be out of reach."""
    try:
        wanted.parent.mkdir(parents=True, exist_ok=True)
        if os.access(wanted if wanted.exists() else wanted.parent, os.W_OK):
            return wanted
    except OSError:
        pass
    print("The master's folder cannot be written from here: files of this notebook end with it.", flush=True)
    return Path.cwd()


def furnish(folder: Path, *, came_along: Path, checkpoints: str | None) -> Path:
    """Its files the first time; afterwards they are what their owner made of them."""
    if not folder.exists():
        folder.mkdir(parents=True, mode=0o700)
        shutil.copytree(came_along, folder, dirs_exist_ok=True)
        folder.chmod(0o700)  # copying a folder copies its mode
    if not (folder / "examples").exists():
        shutil.copytree(EXAMPLES, folder / "examples")
    link = folder / "checkpoints"
    if checkpoints and Path(checkpoints).is_dir() and not os.path.lexists(link):
        link.symlink_to(checkpoints)
    return folder


def arguments(reception: Reception, port: int, folder: Path) -> list[str]:
    settings = {
        "ServerApp.ip": reception.host,
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.base_url": f"{reception.base_path}/",
        "ServerApp.root_dir": folder,
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": True,
        # Requests come through the master and name it as the host, as they were sent there. Jupyter goes on comparing
        # that with the origin of the page.
        "ServerApp.allow_remote_access": True,
        "ServerApp.quit_button": False,
        "LabApp.news_url": "",
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "ServerApp.log_level": "WARN",
    }
    return [f"--{name}={value}" for name, value in settings.items()]


def is_busy(http: httpx.Client, idle_type: str) -> bool:
    """As `notebook_idle_type` counts it. A server that does not answer is busy."""
    try:
        kernels = http.get("/api/kernels").raise_for_status().json()
        if idle_type == "kernel_connections":
            return any(kernel["connections"] for kernel in kernels)
        if idle_type == "activity":
            return any(kernel["execution_state"] == "busy" for kernel in kernels)
        return bool(kernels) or bool(http.get("/api/terminals").raise_for_status().json())
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return True


def _answers(http: httpx.Client, server: "subprocess.Popen[Any]") -> bool:
    """False: it ended, or does not answer."""
    ends_at = time.monotonic() + _GIVE_UP_S
    while server.poll() is None and time.monotonic() < ends_at:
        try:
            if http.get("/api/status").is_success:
                return True
        except httpx.HTTPError:
            time.sleep(_LOOK_S)
    return False


def _watch(server: "subprocess.Popen[Any]", idleness: Idleness, is_busy: Callable[[], bool]) -> None:
    while server.poll() is None:
        time.sleep(_IDLE_LOOK_S if idleness.timeout_s is None else min(_IDLE_LOOK_S, idleness.timeout_s / 2))
        if idleness.timeout_s is None:
            continue
        if is_busy():
            idleness.active()
        elif idleness.is_too_long:
            print(f"Nothing has run here for {idleness.timeout_s:g} s (idle_timeout): the notebook ends.", flush=True)
            server.terminate()
            return


if __name__ == "__main__":
    main()
