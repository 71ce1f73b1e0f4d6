"""A router in the test's own event loop, with model servers that do as they are told."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvloop

from resolute.domain.routing import RoutedDeployment, RoutedReplica, RoutedRevision, RoutingTable
from resolute.serving.http.connection import Connection
from resolute.serving.http.connections import Connections
from resolute.serving.router.front import Front
from resolute.serving.router.routes import Routes


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Model:
    """A model server. `plan` says what to do with each request; by default it echoes."""

    name: str
    plan: Callable[[bytes, asyncio.StreamWriter], Awaitable[bool]] | None = None
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    address: str = ""
    server: asyncio.Server | None = None

    async def start(self) -> "Model":
        self.server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        host, port = self.server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        return self

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                request = await read_request(reader)
                self.requests.append(request)
                if self.plan is not None and not await self.plan(request, writer):
                    break
                if self.plan is None:
                    writer.write(answer_of(self.name.encode()))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return head + (await reader.readexactly(int(length)) if length else b"")


def answer_of(body: bytes, status: int = 200, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Client:
    """One connection to the router."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(
        self, path: str = "/serving/echo/v1", body: bytes = b"{}", *, method: str = "POST", **headers: str
    ) -> Answer:
        self.send(path, body, method=method, **headers)
        return await self.read(has_body=method != "HEAD")

    def send(self, path: str, body: bytes, *, method: str = "POST", **headers: str) -> None:
        lines = {"host": "127.0.0.1", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if "transfer-encoding" not in lines:
            lines.setdefault("content-length", str(len(body)))
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items())])
        self.writer.write(head.encode() + b"\r\n\r\n" + body)

    async def read(self, *, has_body: bool = True) -> Answer:
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 5)).decode()
        first, *lines = head.rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = b""
        if has_body and "content-length" in headers:
            body = await self.reader.readexactly(int(headers["content-length"]))
        elif has_body:
            body = await self.reader.read()
        return Answer(int(first.split()[1]), headers, body)

    async def is_closed(self) -> bool:
        return await asyncio.wait_for(self.reader.read(1), 5) == b""


class Lab:
    """The router, and everything around it, for one test."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.demands = 0
        self.version = 0
        self.routes = Routes(forward_token="from-the-master", on_demand=self._demand)
        self.port = 0

    def _demand(self) -> None:
        self.demands += 1

    async def start(self) -> "Lab":
        self.connections = Connections(Front(self.routes))
        server = await asyncio.get_running_loop().create_server(lambda: Connection(self.connections), "127.0.0.1", 0)
        self._stack.callback(server.close)
        self.port = server.sockets[0].getsockname()[1]
        return self

    async def model(self, name: str = "one", plan: Any = None) -> Model:
        model = await Model(name, plan).start()
        assert model.server is not None
        self._stack.callback(model.server.close)
        return model

    async def client(self) -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self._stack.callback(client.writer.close)
        return client

    def serve(self, *groups: list[Model], requires_key: bool = False, **fields: Any) -> None:
        """Revisions 1, 2, ... with these model servers; all traffic to the first unless `split` says otherwise."""
        own = {"timeout_s": 60.0, "health_path": "", "hung_after_s": 10.0, "busy_s": 0.0, "idempotent": False}
        own = {name: fields.pop(name, default) for name, default in own.items()}
        revisions = tuple(
            RoutedRevision(
                number=number,
                replicas=tuple(RoutedReplica(id=f"{m.name}@{m.address}", address=m.address) for m in group),
                **own,
            )
            for number, group in enumerate(groups, 1)
        )
        known = {"id": 1, "name": "echo", "split": ((1, 100.0),) if groups else (), "revisions": revisions, **fields}
        self.version += 1
        table = RoutingTable(version=self.version, requires_key=requires_key, deployments=(RoutedDeployment(**known),))
        self.routes.follow(table)


@pytest.fixture
def in_lab() -> Callable[[Callable[[Lab], Coroutine[Any, Any, None]]], None]:
    """Runs a coroutine with a lab of its own, and closes everything it opened."""

    def run(test: Callable[[Lab], Coroutine[Any, Any, None]]) -> None:
        async def whole() -> None:
            async with AsyncExitStack() as stack:
                await test(await Lab(stack).start())
            await asyncio.sleep(0)

        uvloop.run(whole())

    return run


@pytest.fixture
def answer() -> Callable[..., bytes]:
    return answer_of
