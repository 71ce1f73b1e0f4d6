"""Every route is walked: none answers without a token unless it is on the short list."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIWebSocketRoute, iter_route_contexts

from resolute.domain.needs import Tasks
from resolute.engine.platform import Platform
from resolute.server.app import create_app, declared_routes
from resolute.server.resource import LazyRoute

PUBLIC = {
    ("GET", "/"),
    ("GET", "/det"),
    ("GET", "/det/{path:path}"),
    ("GET", "/assets/{path:path}"),
    ("GET", "/favicon.ico"),
    ("GET", "/info"),
    ("GET", "/health"),
    ("GET", "/api/v1/master"),
    ("GET", "/api/v1/master/telemetry"),
    ("POST", "/api/v1/auth/login"),
}
ANY_TASK = {
    ("GET", "/api/v1/me"),
    ("GET", "/api/v1/auth/user"),
    ("GET", "/api/v1/checkpoints/{checkpoint_uuid}"),
    ("GET", "/checkpoints/{checkpoint_uuid}"),
    ("POST", "/api/v1/checkpoints"),
    ("PATCH", "/api/v1/checkpoints"),
    ("POST", "/api/v1/runs/start"),
    ("POST", "/api/v1/trial-source-info"),
    ("POST", "/api/v1/task/logs"),
    ("POST", "/task-logs"),
    ("POST", "/api/v1/webhooks/custom"),
    ("POST", "/api/v1/trials/profiler/metrics"),
    ("GET", "/api/v1/models"),
    ("GET", "/api/v1/datasets/{dataset_name}/{version}"),
    ("GET", "/api/v1/datasets/{dataset_name}/{version}/files"),
}
"""What a task's token reaches beyond its own trial, task, allocation and experiment."""


def all_routes(platform: Platform) -> Iterator[tuple[str, str]]:
    for context in iter_route_contexts(create_app(platform).routes):
        for method in context.methods or ():
            yield method, context.path


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path)


def test_the_walk_finds_the_whole_api(platform: Platform) -> None:
    assert len(set(all_routes(platform))) > 180


def test_every_route_needs_a_token_unless_it_is_public(nobody: Any, platform: Platform) -> None:
    open_routes = []
    for method, path in all_routes(platform):
        answer = nobody.client.request(method, filled(path), follow_redirects=False)
        # A log-in that is refused is 401 as well, but it was looked at.
        if answer.status_code != 401 or "invalid credentials" in answer.text:
            open_routes.append((method, path))

    assert set(open_routes) == PUBLIC


def test_tasks_reach_beyond_their_own_things_only_where_it_is_listed_here() -> None:
    declared = {(method, path) for method, path, needs in declared_routes() if needs.tasks is Tasks.ANY}

    assert declared == ANY_TASK


def test_a_task_reaches_only_its_own_things(api: Any, platform: Platform) -> None:
    own = api.running()
    answered = set()
    for method, path in all_routes(platform):
        if (method, path) in PUBLIC:
            continue
        # Trial, task, allocation and experiment "1" of others: 99 is nobody's.
        target = filled(path).replace("/1", "/99")
        answer = own.api.client.request(method, target, headers=own.api.headers)
        if answer.status_code != 403:
            answered.add((method, path))

    assert answered <= ANY_TASK


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Grpc-Metadata-x-user-token": "Bearer wrong"},
        {"Grpc-Metadata-x-allocation-token": "Bearer wrong"},
        {"Cookie": "auth=wrong"},
        {"Authorization": ""},
    ],
)
def test_a_wrong_token_is_refused_wherever_it_is_carried(nobody: Any, headers: dict[str, str]) -> None:
    answer = nobody.client.get("/api/v1/me", headers=headers)

    assert answer.status_code == 401
    assert answer.json()["error"]["reason"] == "Unauthenticated"


@pytest.mark.parametrize("header", ["Authorization", "Grpc-Metadata-x-user-token"])
def test_a_token_works_in_each_header(api: Any, header: str) -> None:
    token = api.headers["Authorization"]

    answer = api.client.get("/api/v1/me", headers={header: token})

    assert answer.json()["user"]["username"] == "determined"


def test_a_token_works_in_the_cookie(api: Any) -> None:
    token = api.headers["Authorization"].removeprefix("Bearer ")

    answer = api.client.get("/api/v1/me", headers={"Cookie": f"auth={token}"})

    assert answer.json()["user"]["username"] == "determined"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""])
def test_an_unknown_host_name_is_refused(nobody: Any, host: str) -> None:
    answer = nobody.client.get("/info", headers={"Host": host})

    assert answer.status_code == 403
    assert "--allowed-host" in answer.json()["error"]["error"]


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1", "10.1.2.3:8080", "[::1]:8080"])
def test_known_names_and_plain_addresses_are_answered(nobody: Any, host: str) -> None:
    assert nobody.client.get("/info", headers={"Host": host}).status_code == 200


def test_a_page_of_another_site_cannot_call(api: Any) -> None:
    headers = {**api.headers, "Origin": "http://evil.example"}

    answer = api.client.post("/api/v1/experiments/1/kill", headers=headers)

    assert answer.status_code == 403
    assert "evil.example" in answer.json()["error"]["error"]


def test_our_own_pages_can_call(api: Any) -> None:
    headers = {**api.headers, "Origin": "http://127.0.0.1:8080"}

    assert api.client.get("/api/v1/me", headers=headers).status_code == 200


def test_routes_are_fastapi_routes_so_that_the_app_wide_check_covers_them(platform: Platform) -> None:
    kinds = {type(context.original_route) for context in iter_route_contexts(create_app(platform).routes)}

    assert kinds == {LazyRoute, APIWebSocketRoute}
