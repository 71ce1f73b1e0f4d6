"""Who may log in, how often, and under which names."""

import json
from dataclasses import replace
from typing import Any

import pytest

from resolute.engine.platform import Platform

LOGIN = "/api/v1/auth/login"


@pytest.fixture
def on_network(admin: Any) -> Any:
    """The master listens beyond loopback; `admin` still has a token."""
    config = replace(admin.platform.config, is_local=False)
    object.__setattr__(admin.platform, "config", config)
    return admin


def attempt(api: Any, username: str, password: str = "") -> int:
    return int(api.client.post(LOGIN, json={"username": username, "password": password}).status_code)


def test_beyond_loopback_an_empty_password_opens_nothing(on_network: Any) -> None:
    on_network.post("/api/v1/users", {"user": {"username": "nopw", "active": True}})

    assert [attempt(on_network, name) for name in ("nopw", "admin", "determined")] == [401, 401, 401]


def test_a_remote_user_never_logs_in_with_a_password(admin: Any) -> None:
    admin.post("/api/v1/users", {"user": {"username": "sso", "admin": True, "active": True, "remote": True}})

    assert attempt(admin, "sso") == 401


def test_beyond_loopback_a_password_cannot_be_emptied(on_network: Any) -> None:
    sentence = on_network.refusal("PATCH", "/api/v1/users/1", {"password": ""}, expect=400)

    assert "Choose a password" in sentence


@pytest.mark.parametrize("name", ["", "jo e", "a/b", "nul\x00", "a" * 129, "\u200badmin", "\ud800"])
def test_a_name_is_checked_however_it_is_given(admin: Any, name: str) -> None:
    admin.refusal("POST", "/api/v1/users", {"user": {"username": name}}, expect=400)
    admin.refusal("PATCH", "/api/v1/users/2", {"username": name}, expect=400)


@pytest.mark.parametrize("name", ["ADMIN", "Admin", "\uff41dmin", "\u0430dmin"])
def test_names_that_look_the_same_are_taken(admin: Any, name: str) -> None:
    admin.refusal("POST", "/api/v1/users", {"user": {"username": name}}, expect=409)
    admin.refusal("PATCH", "/api/v1/users/2", {"username": name}, expect=409)


def test_the_case_of_ones_own_name_may_change(admin: Any) -> None:
    assert admin.call("PATCH", "/api/v1/users/2", {"username": "Determined"})["user"]["username"] == "Determined"


def test_guessing_has_to_wait(nobody: Any) -> None:
    for _ in range(10):
        assert attempt(nobody, "admin", "wrong") == 401

    answer = nobody.client.post(LOGIN, json={"username": "admin", "password": "wrong"})

    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) <= 300
    assert "Try again in" in answer.json()["error"]["error"]


@pytest.mark.parametrize("field", ["username", "password"])
def test_half_characters_are_refused_at_the_door(nobody: Any, field: str) -> None:
    body = {"username": "admin", "password": "x", field: "\ud800"}

    answer = nobody.client.post(LOGIN, content=json.dumps(body))

    assert answer.status_code == 400


@pytest.mark.parametrize("lifespan", ["99999999999999999999h", "\u00b2h", "999999999h", "0h"])
def test_a_token_cannot_live_for_a_time_that_is_none(admin: Any, lifespan: str) -> None:
    admin.refusal("POST", "/api/v1/tokens", {"lifespan": lifespan}, expect=400)


def test_the_platform_is_local_unless_told(platform: Platform) -> None:
    assert platform.config.is_local


@pytest.mark.parametrize(("scheme", "is_secure"), [("http", False), ("https", True)])
def test_under_tls_the_cookie_never_travels_in_the_clear(nobody: Any, scheme: str, is_secure: bool) -> None:
    answer = nobody.client.post(f"{scheme}://127.0.0.1:8080{LOGIN}", json={"username": "admin", "password": ""})

    cookie = answer.headers["set-cookie"]
    assert ("Secure" in cookie) is is_secure
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
