"""A master on a real port, and real servers behind it that are the tasks."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn

from resolute.domain.rights import Permission
from resolute.domain.task import TaskType
from resolute.engine.jobs.allocations import mark_ready, set_proxy_address
from resolute.engine.jobs.kinds import KINDS
from resolute.engine.jobs.task_kind import Speaks, TaskKind
from resolute.engine.jobs.tasks import TaskRequest, submit_task
from resolute.engine.loop import tick
from resolute.engine.platform import Platform
from resolute.server.app import create_app
from resolute.server.http_protocol import BoundedProtocol


class _Server(uvicorn.Server):
    """Lets go of its own connections when it stops, as the master's does."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if isinstance(self.config.app, Exchangeable):
            await self.config.app.inner.state.server.close()


class Served:
    """An ASGI app on a free port of loopback."""

    def __init__(self, app: Any, **options: Any) -> None:
        self.app = app
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1, **options)
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self.listener]}, daemon=True)
        self._thread.start()
        ends_at = time.monotonic() + 20
        while not self._server.started and time.monotonic() < ends_at:
            time.sleep(0.005)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self.listener.close()


@dataclass
class Exchangeable:
    """An app that a test may wrap while it is served."""

    inner: Any
    current: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await (self.current or self.inner)(scope, receive, send)


@dataclass
class Seen:
    """What reached a task."""

    method: str
    path: bytes
    query: bytes
    headers: list[tuple[str, str]]
    body: bytes = b""

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]


@dataclass
class TaskServer:
    """A task that remembers what it was asked, and answers as it was told to."""

    seen: list[Seen] = field(default_factory=list)
    status: int = 200
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    respond: Callable[[Any, Any, Any], Any] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]
        seen = Seen(scope.get("method", "WEBSOCKET"), scope["raw_path"], scope["query_string"], headers)
        self.seen.append(seen)
        if self.respond is not None:
            await self.respond(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await _echo(scope, receive, send)
            return
        more = True
        while more:
            message = await receive()
            seen.body += message.get("body", b"")
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": b"hello from the task"})


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    chosen = scope["subprotocols"][0] if scope["subprotocols"] else None
    await send({"type": "websocket.accept", "subprotocol": chosen})
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return
        if message.get("text") == "bye":
            await send({"type": "websocket.close", "code": 4001, "reason": "as you wish"})
            return
        await send({"type": "websocket.send", "text": message.get("text"), "bytes": message.get("bytes")})


@dataclass
class World:
    """A master with one user signed in, and tasks that he has started."""

    platform: Platform
    served: Served
    clock: Any
    http: httpx.Client
    token: str = ""

    @property
    def url(self) -> str:
        return f"http://{self.served.address}"

    def login(self, username: str = "determined") -> str:
        body = {"username": username, "password": ""}
        answer = httpx.post(f"{self.url}/api/v1/auth/login", json=body)
        return str(answer.json()["token"])

    def start(self, address: str, type: TaskType = TaskType.NOTEBOOK, *, is_ready: bool = True) -> str:
        with self.platform.store.read() as tx:
            user = tx.users.by_name("determined")
            workspace = tx.workspaces.all()[0]
        assert user is not None
        request = TaskRequest(type=type, name="one that listens", workspace_id=workspace.id)
        task = submit_task(self.platform, request, user=user)
        self.listens(task.id, address, is_ready=is_ready)
        return task.id

    def listens(self, task_id: str, address: str, *, is_ready: bool = True) -> None:
        """It is placed, and says where it is."""
        self.tick()
        allocation = self.allocation(task_id)
        if address:
            set_proxy_address(self.platform, allocation, address)
        if is_ready:
            mark_ready(self.platform, allocation)

    def allocation(self, task_id: str) -> str:
        with self.platform.store.read() as tx:
            return str(tx.allocations.of_task(task_id)[-1].id)

    def tick(self) -> None:
        for _ in range(2):
            self.clock.forward(0.1)
            tick(self.platform, since=self.clock.now)


def _gang(platform: Platform, launch: Any) -> Any:
    return launch.gang(entrypoint=("serve",))


@pytest.fixture
def kinds() -> Iterator[None]:
    before = dict(KINDS)
    KINDS[TaskType.NOTEBOOK] = TaskKind(type=TaskType.NOTEBOOK, gang=_gang, listens=True)
    KINDS[TaskType.TENSORBOARD] = TaskKind(
        type=TaskType.TENSORBOARD, gang=_gang, listens=True, enter=Permission.VIEW_NSC
    )
    KINDS[TaskType.SHELL] = TaskKind(type=TaskType.SHELL, gang=_gang, listens=True, speaks=Speaks.SSH)
    KINDS[TaskType.COMMAND] = TaskKind(type=TaskType.COMMAND, gang=_gang)
    yield
    KINDS.clear()
    KINDS.update(before)


@pytest.fixture
def world(platform: Platform, clock: Any, app_options: dict[str, Any], kinds: None) -> Iterator[World]:
    app = create_app(platform, **app_options)
    served = Served(
        Exchangeable(app),
        forwarded_allow_ips=[],
        http=BoundedProtocol,
        ws="none",
        access_log=False,
        server_header=False,
    )
    with httpx.Client(base_url=f"http://{served.address}", timeout=20) as http:
        world = World(platform, served, clock, http)
        world.token = world.login()
        http.headers["Authorization"] = f"Bearer {world.token}"
        yield world
    served.stop()


@pytest.fixture
def behind() -> Iterator[TaskServer]:
    server = TaskServer()
    server.served = Served(server, ws="websockets-sansio", server_header=False, date_header=False)  # type: ignore[attr-defined]
    yield server
    server.served.stop()  # type: ignore[attr-defined]


@pytest.fixture
def task(world: World, behind: Any) -> str:
    """The id of a notebook that is `behind`."""
    return world.start(behind.served.address)
