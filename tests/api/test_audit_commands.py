"""`resolute audit` and the SDK behind it, typed against the real app in memory."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute.cli.main import run
from resolute.client.client import Client
from resolute.domain.change import Action, Actor, Via
from resolute.engine.unit_of_work import flow

Audit = Callable[..., Any]


@pytest.fixture
def transport(admin: Any) -> httpx.MockTransport:
    """To the app in memory, as if over the network."""

    def forward(request: httpx.Request) -> httpx.Response:
        headers = dict(request.headers)
        answer = admin.client.request(request.method, str(request.url), content=request.read(), headers=headers)
        # The content is unpacked by now.
        kept = [(name, value) for name, value in answer.headers.items() if name != "content-encoding"]
        return httpx.Response(answer.status_code, headers=kept, content=answer.content)

    return httpx.MockTransport(forward)


@pytest.fixture(autouse=True)
def settings(admin: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RESOLUTE_MASTER", "http://127.0.0.1:8080")
    monkeypatch.setenv("RESOLUTE_TOKEN", admin.headers["Authorization"].removeprefix("Bearer "))


@pytest.fixture
def resolute(transport: httpx.MockTransport, capsys: pytest.CaptureFixture[str]) -> Audit:
    def invoke(*arguments: str) -> str:
        code = run(arguments, transport=transport)
        captured = capsys.readouterr()
        return captured.out if code == 0 else f"{code}: {captured.err}"

    return invoke


@pytest.fixture
def experiment_id(api: Any) -> int:
    """Made by `determined`, and paused."""
    made = int(api.create())
    api.post(f"/api/v1/experiments/{made}/pause")
    return made


def test_a_table_says_who_did_what_and_from_where(resolute: Audit, experiment_id: int) -> None:
    table = resolute("audit", "list", "--thing", f"experiment/{experiment_id}")

    newest = table.splitlines()[1]
    for part in ("determined", "127.0.0.1, session", "MOVED", f"experiment/{experiment_id}", "ACTIVE to PAUSED"):
        assert part in newest
    assert "CREATED" in table.splitlines()[2]


def test_the_command_line_says_that_it_is_one(resolute: Audit, client: Client) -> None:
    resolute("workspace", "create", "by-command")
    client.workspaces.create("by-script")

    script, command = json.loads(resolute("audit", "list", "--thing", "workspace", "--user", "admin", "--json"))

    assert command["userAgent"].startswith("resolute-cli/")
    assert script["userAgent"].startswith("resolute-sdk/")


def test_changed_fields_are_shown_with_old_and_new_value(resolute: Audit, api: Any, experiment_id: int) -> None:
    api.call("PATCH", f"/api/v1/experiments/{experiment_id}", {"id": experiment_id, "name": "better", "notes": "x"})

    table = resolute("audit", "list", "--action", "changed")

    assert "name: digits to better" in table
    assert "notes changed" in table


@pytest.mark.parametrize(
    ("since", "is_found"), [("2026-01-01T11:59:59+00:00", True), ("2026-01-01T12:00:01+00:00", False), ("1d", False)]
)
def test_times_are_given_as_such_or_as_how_long_ago(
    resolute: Audit, experiment_id: int, since: str, is_found: bool
) -> None:
    found = json.loads(resolute("audit", "list", "--since", since, "--json"))

    assert bool(found) is is_found


@pytest.mark.parametrize("time", ["yesterday", "999999w", "2026-13-01"])
def test_what_is_no_time_is_said_with_what_is_one(resolute: Audit, time: str) -> None:
    message = resolute("audit", "list", "--until", time)

    assert message.startswith("1: ")
    assert f"--until '{time}' is no time. Give a time (2026-01-31" in message


def test_others_than_administrators_read_who_may(resolute: Audit, api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESOLUTE_TOKEN", api.headers["Authorization"].removeprefix("Bearer "))

    assert "only administrators" in resolute("audit", "list")


@pytest.fixture
def client(transport: httpx.MockTransport) -> Client:
    return Client(transport=transport)


def test_the_sdk_reads_on_over_pages(client: Client, admin: Any) -> None:
    ada = Actor(user_id=7, name="ada", via=Via.SESSION)
    with flow(replace(admin.platform, actor=ada)) as current:
        for number in range(450):
            current.record(Action.CHANGED, "lamp", number)

    things = [int(entry["thingId"]) for entry in client.audit.entries(kind="lamp", limit=401)]

    assert things == list(range(449, 48, -1))
    assert len(list(client.audit.entries(actor="ada", action="CHANGED"))) == 450
    assert list(client.audit.entries(since=datetime(2030, 1, 1, tzinfo=UTC))) == []
