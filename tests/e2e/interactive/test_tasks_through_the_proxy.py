"""A TensorBoard and a notebook as their users meet them: through the master, with the master's own sign-in."""

import json
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect


def page_of(tasks: Any, path: str) -> httpx.Response:
    answer: httpx.Response = tasks.master.http.get(f"{tasks.master.url}{path}")
    return answer


def test_a_tensorboard_shows_the_curves_of_an_experiment(tasks: Any, board: dict[str, Any]) -> None:
    address = board["serviceAddress"]
    page = page_of(tasks, address)
    runs: dict[str, Any] = {}
    ends_at = time.monotonic() + 30
    while not runs and time.monotonic() < ends_at:
        runs = page_of(tasks, f"{address}data/plugin/scalars/tags").json()
        time.sleep(0.1)
    (run,) = (name for name, tags in runs.items() if tags)
    tag = "validation/validation_loss"
    curve = tasks.master.http.get(
        f"{tasks.master.url}{address}data/plugin/scalars/scalars", params={"run": run, "tag": tag}
    ).json()

    assert address == f"/proxy/{board['id']}/"
    assert "<title>TensorBoard</title>" in page.text
    assert run.startswith(f"experiment_{tasks.experiment}/trial_")
    assert [(step, round(value, 3)) for _, step, value in curve] == [(n, round(1 / n, 3)) for n in range(1, 6)]


def test_every_file_that_the_page_of_a_tensorboard_names_comes_through(tasks: Any, board: dict[str, Any]) -> None:
    page = page_of(tasks, board["serviceAddress"]).text

    names = re.findall(r'<script[^>]* src="([^"]+)"', page)
    answers = [page_of(tasks, board["serviceAddress"] + name.removeprefix("./")) for name in names]

    assert names
    assert [answer.status_code for answer in answers] == [200] * len(names)


def test_a_kernel_works_for_its_owner_without_a_log_in(tasks: Any, notebook: dict[str, Any]) -> None:
    with Browser(tasks.master.url, notebook) as browser, browser.kernel() as kernel:
        said = kernel.run(
            "from resolute.client import Client\n"
            f"print(Client().get_experiment({tasks.experiment}).state, Client().username)"
        )

    assert "<title>JupyterLab</title>" in browser.page
    assert said == "COMPLETED determined\n"


def test_kernels_and_files_are_still_there_after_the_master_was_killed(tasks: Any, notebook: dict[str, Any]) -> None:
    with Browser(tasks.master.url, notebook) as browser, browser.kernel() as kernel:
        kernel.run("kept = 41")
        browser.write("notes.txt", "before the end")

        tasks.master.kill()
        tasks.master.start()
    shown = tasks.ready("notebook", notebook["id"])
    with Browser(tasks.master.url, shown) as again, again.kernel(kernel.id) as kernel:
        said = kernel.run("print(kept + 1)")
        notes = again.http.get(f"{again.base}api/contents/notes.txt").json()["content"]

    assert said == "42\n"
    assert notes == "before the end"


def test_who_is_not_signed_in_is_not_let_in_even_with_the_key(tasks: Any, notebook: dict[str, Any]) -> None:
    answer = httpx.get(f"{tasks.master.url}{notebook['serviceAddress']}")

    assert answer.status_code == 401


class Kernel:
    def __init__(self, kernel_id: str, socket: ClientConnection) -> None:
        self.id = kernel_id
        self._socket = socket

    def run(self, code: str) -> str:
        """What it prints, and the error it ends with."""
        message_id = uuid.uuid4().hex
        header = {"msg_id": message_id, "msg_type": "execute_request", "username": "", "session": "1", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self._socket.send(json.dumps(message))
        said = ""
        while True:
            got = json.loads(self._socket.recv(timeout=60))
            if got["parent_header"].get("msg_id") != message_id:
                continue
            if got["msg_type"] == "stream":
                said += got["content"]["text"]
            elif got["msg_type"] == "error":
                said += "\n".join(got["content"]["traceback"])
            elif got["msg_type"] == "status" and got["content"]["execution_state"] == "idle":
                return said


class Browser:
    """What one does: keeps cookies, says which page asks, and repeats Jupyter's XSRF cookie in a header."""

    def __init__(self, master: str, notebook: dict[str, Any]) -> None:
        self.master = master
        self.base = f"{master}/proxy/{notebook['id']}/"
        self.entrance = f"{master}{notebook['serviceAddress']}"
        self.http = httpx.Client(timeout=60, follow_redirects=True)
        self.http.post(f"{master}/api/v1/auth/login", json={"username": "determined", "password": ""})

    def __enter__(self) -> "Browser":
        self.page = self.http.get(self.entrance, headers={"Accept": "text/html"}).raise_for_status().text
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def write(self, name: str, text: str) -> None:
        body = {"type": "file", "format": "text", "content": text}
        self.http.put(f"{self.base}api/contents/{name}", json=body, headers=self._own()).raise_for_status()

    @contextmanager
    def kernel(self, kernel_id: str = "") -> Iterator[Kernel]:
        if not kernel_id:
            made = self.http.post(f"{self.base}api/kernels", json={"name": "python3"}, headers=self._own())
            kernel_id = made.raise_for_status().json()["id"]
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.http.cookies.jar)
        where = f"{self.base.replace('http', 'ws', 1)}api/kernels/{kernel_id}/channels"
        with connect(where, origin=self.master, additional_headers={"Cookie": cookies}) as socket:  # type: ignore[arg-type]
            yield Kernel(kernel_id, socket)

    def _own(self) -> dict[str, str]:
        return {"Origin": self.master, "Referer": f"{self.base}lab", "X-XSRFToken": self.http.cookies.get("_xsrf", "")}
