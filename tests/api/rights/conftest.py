"""One world for all tests here, and callers that cost a fraction of a millisecond beyond what the app does."""

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi import FastAPI
from tests.api.rights.world import World, build

from resolute.domain.rights import RightsMode
from resolute.engine.access.accounts import Whereabouts
from resolute.server.app import create_app


@dataclass
class Answer:
    status: int = 0
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Door:
    """The app in one mode, called without a client or a socket between."""

    def __init__(self, app: FastAPI, world: World) -> None:
        self.app = app
        self._world = world
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        # One that runs on keeps the threads in which handlers run.
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._end.wait()))
        self._thread.start()

    def call(self, caller: str, method: str, address: str, body: Any = None) -> Answer:
        return asyncio.run_coroutine_threadsafe(self._call(caller, method, address, body), self._loop).result(60)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        self._loop.close()

    async def _call(self, caller: str, method: str, address: str, body: Any) -> Answer:
        path, _, query = address.partition("?")
        headers = [(b"host", b"127.0.0.1:8080")]
        if caller != "anonymous":
            headers.append((b"authorization", f"Bearer {self._world.tokens[caller]}".encode()))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 8080),
        }
        answer = Answer()
        began, sent = asyncio.Event(), False

        async def receive() -> dict[str, Any]:
            nonlocal sent
            if not sent:
                sent = True
                return {"type": "http.request", "body": _encoded(body)}
            # Streams without an end are left once they have begun.
            await began.wait()
            await asyncio.sleep(0.02)
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = {key.decode(): value.decode() for key, value in message["headers"]}
                began.set()
            else:
                answer.content += message.get("body", b"")

        await self.app(scope, receive, send)
        return answer


def _encoded(body: Any) -> bytes:
    """None: no body. Bytes are sent as they are."""
    if isinstance(body, bytes):
        return body
    return b"" if body is None else json.dumps(body).encode()


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = build(tmp_path_factory.mktemp("rights"))
    yield world
    world.platforms[RightsMode.BASIC].store.close()


def _own_account(_: object) -> Whereabouts:
    return Whereabouts.OWN_ACCOUNT


@pytest.fixture(scope="session")
def doors(world: World) -> Iterator[dict[RightsMode, Door]]:
    doors = {
        mode: Door(create_app(platform, whereabouts=_own_account), world) for mode, platform in world.platforms.items()
    }
    yield doors
    for door in doors.values():
        door.close()
