"""Accounts: login, who may change whom, access tokens, settings."""

import hashlib
from typing import Any

import pytest


def hashed(password: str) -> str:
    """What clients that hash send."""
    return hashlib.sha512(("GubPEmmotfiK9TMD6Zdw" + password).encode()).hexdigest()


def test_login_answers_with_token_and_user(nobody: Any) -> None:
    answer = nobody.post("/api/v1/auth/login", {"username": "admin", "password": "", "isHashed": True})

    assert answer["user"]["username"] == "admin"
    assert answer["user"]["admin"] is True
    assert len(answer["token"]) > 30


def test_the_cookie_cannot_be_read_by_scripts_nor_sent_by_other_sites(nobody: Any) -> None:
    answer = nobody.client.post("/api/v1/auth/login", json={"username": "admin", "password": ""})

    cookie = answer.headers["set-cookie"].lower()
    assert "auth=" in cookie
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(("username", "password"), [("admin", "x"), ("ghost", ""), ("ghost", "x"), ("", "")])
def test_every_refused_login_reads_the_same(nobody: Any, username: str, password: str) -> None:
    sentence = nobody.refusal("POST", "/api/v1/auth/login", {"username": username, "password": password}, expect=401)

    assert sentence == "invalid credentials"


def test_logout_ends_the_session_at_once(api: Any) -> None:
    api.get("/api/v1/me")

    api.post("/api/v1/auth/logout")

    api.get("/api/v1/me", expect=401)


def test_sessions_end_after_a_week(api: Any) -> None:
    api.clock.forward(7 * 24 * 3600 + 1)

    api.get("/api/v1/me", expect=401)


def test_a_new_user_logs_in_with_a_hashed_or_a_plain_password(nobody: Any, admin: Any) -> None:
    new = {
        "user": {"username": "ada", "active": True, "admin": False},
        "password": hashed("Secret123"),
        "isHashed": True,
    }

    made = admin.post("/api/v1/users", new)["user"]

    assert (made["username"], made["admin"], made["active"]) == ("ada", False, True)
    assert nobody.login("ada", "Secret123").get("/api/v1/me")["user"]["username"] == "ada"
    nobody.call("POST", "/api/v1/auth/login", {"username": "ada", "password": ""}, expect=401)


@pytest.mark.parametrize("name", ["", " ", "two words", "a/b"])
def test_unusable_names_are_refused(admin: Any, name: str) -> None:
    admin.post("/api/v1/users", {"user": {"username": name}}, expect=400)


def test_a_taken_name_is_refused(admin: Any) -> None:
    admin.post("/api/v1/users", {"user": {"username": "determined"}}, expect=409)


def test_only_administrators_make_users(api: Any) -> None:
    assert "administrators" in api.refusal("POST", "/api/v1/users", {"user": {"username": "x"}}, expect=403)


def test_everybody_changes_their_own_password_which_ends_their_logins(nobody: Any, api: Any) -> None:
    me = api.get("/api/v1/me")["user"]["id"]

    api.call("PATCH", f"/api/v1/users/{me}", {"password": hashed("Fresh1234"), "isHashed": True})

    api.get("/api/v1/me", expect=401)
    nobody.login("determined", "Fresh1234").get("/api/v1/me")


def test_nobody_makes_themselves_administrator(api: Any) -> None:
    me = api.get("/api/v1/me")["user"]["id"]

    api.call("PATCH", f"/api/v1/users/{me}", {"admin": True}, expect=403)


def test_a_deactivated_user_is_out_at_once(api: Any, admin: Any) -> None:
    user_id = api.get("/api/v1/me")["user"]["id"]

    admin.call("PATCH", f"/api/v1/users/{user_id}", {"active": False})

    api.get("/api/v1/me", expect=401)
    api.call("POST", "/api/v1/auth/login", {"username": "determined", "password": ""}, expect=403)


def test_the_last_administrator_stays(admin: Any) -> None:
    me = admin.get("/api/v1/me")["user"]["id"]

    assert "last active administrator" in admin.refusal("PATCH", f"/api/v1/users/{me}", {"admin": False}, expect=400)


def test_several_users_are_switched_at_once(admin: Any) -> None:
    answer = admin.call("PATCH", "/api/v1/users", {"userIds": [2, 99], "activate": False})

    assert answer["results"][0] == {"id": 2, "error": ""}
    assert answer["results"][1]["error"]


def test_users_are_listed_and_found(api: Any) -> None:
    listed = api.get("/api/v1/users")
    found = api.get("/api/v1/users/admin/by-username")["user"]

    assert [user["username"] for user in listed["users"]] == ["admin", "determined"]
    assert listed["pagination"]["total"] == 2
    assert api.get(f"/api/v1/users/{found['id']}")["user"] == found
    assert api.refusal("GET", "/api/v1/users/ghost/by-username", expect=404) == "user not found: ghost"


def test_an_access_token_outlives_logins_until_it_is_revoked(api: Any) -> None:
    made = api.post("/api/v1/tokens", {"description": "ci", "lifespan": "24h"})
    headers = {"Authorization": f"Bearer {made['token']}"}
    api.post("/api/v1/auth/logout")

    with_token = api.client.get("/api/v1/tokens", headers=headers).json()
    body = '{"setRevoked": true}'
    api.client.patch(f"/api/v1/tokens/{made['tokenId']}", content=body, headers=headers)

    assert [(t["description"], t["revoked"]) for t in with_token["tokenInfo"]] == [("ci", False)]
    assert api.client.get("/api/v1/me", headers=headers).status_code == 401


def test_an_access_token_ends_with_its_life(api: Any) -> None:
    made = api.post("/api/v1/tokens", {"lifespan": "1h"})

    api.clock.forward(3601)

    headers = {"Authorization": f"Bearer {made['token']}"}
    assert api.client.get("/api/v1/me", headers=headers).status_code == 401


@pytest.mark.parametrize("lifespan", ["soon", "0h", "9999999h"])
def test_a_strange_lifespan_is_refused(api: Any, lifespan: str) -> None:
    api.post("/api/v1/tokens", {"lifespan": lifespan}, expect=400)


def test_tokens_of_others_are_for_administrators(api: Any, admin: Any) -> None:
    other = admin.get("/api/v1/me")["user"]["id"]
    api.post("/api/v1/tokens", {"description": "mine"})

    api.post("/api/v1/tokens", {"userId": other}, expect=403)

    assert len(admin.get("/api/v1/tokens")["tokenInfo"]) == 1


def test_settings_are_kept_per_user(api: Any, admin: Any) -> None:
    api.post("/api/v1/users/setting", {"settings": [{"storagePath": "lists", "key": "columns", "value": '["a"]'}]})

    mine = api.get("/api/v1/users/setting")["settings"]
    others = admin.get("/api/v1/users/setting")["settings"]
    api.post("/api/v1/users/setting/reset")

    assert mine == [{"key": "columns", "storagePath": "lists", "value": '["a"]'}]
    assert others == []
    assert api.get("/api/v1/users/setting")["settings"] == []


def test_passwords_and_tokens_are_stored_as_hashes_alone(api: Any, admin: Any) -> None:
    admin.post("/api/v1/users", {"user": {"username": "ada"}, "password": "Secret123"})

    with api.platform.store.read() as tx:
        ada = tx.users.by_name("ada")
        sessions = tx.users.sessions()

    assert ada.password_hash.startswith("scrypt$")
    assert "Secret123" not in ada.password_hash
    token = api.headers["Authorization"].removeprefix("Bearer ")
    assert token not in {session.token_hash for session in sessions}
