"""A stream that is open shows nothing more once its caller may not see it; notices tell of nothing foreign."""

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.api.rights.world import NOON, World

from resolute.domain.log import LogLine
from resolute.domain.rights import RightsMode, RoleName
from resolute.engine.access import accounts, rights
from resolute.engine.access.accounts import UserChanges


class Listener:
    """One open stream of somebody, read in a thread of its own."""

    def __init__(self, app: Any, token: str, address: str) -> None:
        self._app, self._token = app, token
        self._path, _, self._query = address.partition("?")
        self.content = b""
        self.has_ended = False
        self._changed = threading.Condition()
        self._gone: asyncio.Event
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=lambda: asyncio.run(self._read()))

    def open(self) -> "Listener":
        self._thread.start()
        return self

    def wait(self, is_so: Callable[["Listener"], bool]) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: is_so(self), 10)

    def close(self) -> None:
        if not self.has_ended:
            self._loop.call_soon_threadsafe(self._gone.set)
        self._thread.join()

    async def _read(self) -> None:
        self._gone, self._loop = asyncio.Event(), asyncio.get_running_loop()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "GET",
            "path": self._path,
            "raw_path": self._path.encode(),
            "query_string": self._query.encode(),
            "headers": [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {self._token}".encode())],
            "client": ("127.0.0.1", 5),
        }

        async def receive() -> dict[str, Any]:
            await self._gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            with self._changed:
                self.content += message.get("body", b"")
                self._changed.notify_all()

        await self._app(scope, receive, send)
        with self._changed:
            self.has_ended = True
            self._changed.notify_all()


@pytest.fixture
def listen(world: World, doors: dict[RightsMode, Any]) -> Any:
    opened: list[Listener] = []

    def start(caller: str, address: str) -> Listener:
        opened.append(Listener(doors[RightsMode.ROLES].app, world.tokens[caller], address).open())
        return opened[-1]

    yield start
    for each in opened:
        each.close()
    world.restore()


def _log(world: World, text: str) -> None:
    line = LogLine(timestamp_us=int(NOON.timestamp() * 1e6), text=text)
    world.platforms[RightsMode.ROLES].logs.append(world.places["own"].ids["task_id"], [line])


def _take_all_roles(world: World, name: str) -> None:
    platform = world.platforms[RightsMode.ROLES]
    with platform.store.read() as tx:
        held = [each.id for each in tx.rights.assignments() if each.user_id == world.users[name]]
    for assignment_id in held:
        rights.remove_assignment(platform, assignment_id)


def _deactivate(world: World, name: str) -> None:
    platform = world.platforms[RightsMode.ROLES]
    with platform.store.read() as tx:
        admin = tx.users.by_name("admin")
    assert admin is not None
    accounts.change_user(platform, world.users[name], UserChanges(is_active=False), by=admin)


@pytest.mark.parametrize(
    ("end", "said"), [(_take_all_roles, "Your rights have changed meanwhile"), (_deactivate, "expired or revoked")]
)
def test_a_followed_log_ends_before_its_next_line_when_its_reader_may_no_longer_see_it(
    world: World, listen: Any, end: Callable[[World, str], None], said: str
) -> None:
    following = listen("viewer", f"/api/v1/trials/{world.places['own'].ids['trial_id']}/logs?follow=true")
    _log(world, f"before {said}")
    assert following.wait(lambda log: f"before {said}".encode() in log.content)

    end(world, "viewer")
    _log(world, f"after {said}")

    assert following.wait(lambda log: log.has_ended)
    assert f"after {said}".encode() not in following.content
    assert said in json.loads(following.content.splitlines()[-1])["error"]["message"]


def test_a_followed_log_goes_on_when_the_rights_of_somebody_else_change(world: World, listen: Any) -> None:
    following = listen("viewer", f"/api/v1/trials/{world.places['own'].ids['trial_id']}/logs?follow=true")
    _log(world, "at first")
    assert following.wait(lambda log: b"at first" in log.content)

    _take_all_roles(world, "editor")
    _log(world, "later")

    assert following.wait(lambda log: b"later" in log.content)


def test_notices_end_when_their_listener_has_lost_his_role(world: World, listen: Any) -> None:
    experiment_id = world.places["own"].ids["experiment_id"]
    platform = world.platforms[RightsMode.ROLES]
    events = listen("viewer", f"/api/v1/events?topics=experiment/{experiment_id}")
    assert events.wait(lambda each: b"listening" in each.content)
    platform.bus.publish(f"experiment/{experiment_id}")
    assert events.wait(lambda each: b"data:" in each.content)
    told = len(events.content)

    _take_all_roles(world, "viewer")
    platform.bus.publish(f"experiment/{experiment_id}")

    assert events.wait(lambda each: each.has_ended)
    assert len(events.content) == told


@pytest.mark.parametrize("topic", ["experiment/{experiment_id}", "trial/{trial_id}", "task/{task_id}"])
def test_nobody_is_told_of_what_he_may_not_see(world: World, doors: dict[RightsMode, Any], topic: str) -> None:
    foreign = topic.format(**world.places["foreign"].ids)

    answer = doors[RightsMode.ROLES].call("viewer", "GET", f"/api/v1/events?topics=experiments,{foreign}")

    assert answer.status == 404


def test_a_role_that_is_won_is_felt_at_once(world: World, doors: dict[RightsMode, Any], listen: Any) -> None:
    platform, foreign = world.platforms[RightsMode.ROLES], world.places["foreign"].ids
    path = f"/api/v1/experiments/{foreign['experiment_id']}"
    before = doors[RightsMode.ROLES].call("viewer", "GET", path)

    rights.assign_role(platform, RoleName.VIEWER, user_id=world.users["viewer"], workspace_id=foreign["workspace_id"])

    assert (before.status, doors[RightsMode.ROLES].call("viewer", "GET", path).status) == (404, 200)
