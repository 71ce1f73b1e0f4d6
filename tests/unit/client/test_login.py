"""Logging in: which token is used, what is remembered, what is forgotten."""

import json
import stat
from pathlib import Path

import pytest

from resolute.client import Client
from resolute.client.credentials import TokenStore, default_path
from resolute.client.fake import FakeMaster
from resolute.client.identity import hashed
from resolute.domain.errors import Unauthenticated, Unavailable

URL = "http://fake:8080"


def test_the_password_travels_as_a_salted_hash_and_the_empty_one_as_it_is() -> None:
    assert hashed("") == ""
    assert len(hashed("secret")) == 128
    assert "secret" not in hashed("secret")


def test_without_anything_the_default_user_logs_in_silently_and_once(client: Client, master: FakeMaster) -> None:
    client.users.me()
    client.users.me()

    logins = [c for c in master.calls if c.path == "/api/v1/auth/login"]
    assert [c.body["username"] for c in logins] == ["determined"]


def test_a_login_is_remembered_for_the_next_client(client: Client, master: FakeMaster, env: dict[str, str]) -> None:
    master.passwords["ada"] = hashed("Secret123")
    client.log_in("ada", "Secret123")

    later = Client(env=env, transport=master.transport())

    assert later.username == "ada"
    assert later.users.me()["username"] == "ada"


def test_a_wrong_password_is_told_with_the_masters_words_and_nothing_is_stored(
    client: Client, env: dict[str, str]
) -> None:
    with pytest.raises(Unauthenticated, match="invalid credentials"):
        client.log_in("admin", "wrong")

    assert not default_path(env).exists()


def test_when_the_default_user_is_refused_the_way_to_log_in_is_named(master: FakeMaster, env: dict[str, str]) -> None:
    master.passwords["determined"] = hashed("changed")
    client = Client(env=env, transport=master.transport())

    with pytest.raises(Unauthenticated, match="resolute user login determined"):
        client.users.me()


def test_an_expired_token_is_thrown_away_and_replaced_once(
    client: Client, master: FakeMaster, env: dict[str, str]
) -> None:
    TokenStore(default_path(env)).remember(URL, "determined", "expired", is_active=False)

    me = client.users.me()

    assert me["username"] == "determined"
    assert TokenStore(default_path(env)).token(URL, "determined") == "token-determined"


def test_a_token_in_the_environment_is_used_and_never_stored(master: FakeMaster, env: dict[str, str]) -> None:
    master.tokens.add("given")
    client = Client(env={**env, "RESOLUTE_TOKEN": "given"}, transport=master.transport())

    client.users.me()

    assert master.calls[-1].token == "given"
    assert not default_path(env).exists()


def test_a_refused_token_of_the_environment_is_named(master: FakeMaster, env: dict[str, str]) -> None:
    client = Client(env={**env, "RESOLUTE_TOKEN": "stale"}, transport=master.transport())

    with pytest.raises(Unauthenticated, match="RESOLUTE_TOKEN"):
        client.users.me()


def test_the_user_of_the_environment_logs_in_with_its_password(master: FakeMaster, env: dict[str, str]) -> None:
    master.passwords["bob"] = hashed("Passw0rd")
    client = Client(env={**env, "DET_USER": "bob", "DET_PASS": "Passw0rd"}, transport=master.transport())

    assert client.users.me()["username"] == "bob"


def test_logging_out_ends_the_session_here_and_there(client: Client, master: FakeMaster, env: dict[str, str]) -> None:
    client.log_in("admin")

    name = client.log_out()

    assert name == "admin"
    assert master.tokens == set()
    assert TokenStore(default_path(env)).active_user(URL) is None


class TestTokenStore:
    def test_only_the_owner_can_read_it(self, tmp_path: Path) -> None:
        store = TokenStore(tmp_path / "deep" / "auth.json")

        store.remember(URL, "ada", "t", is_active=True)

        assert stat.S_IMODE(store.path.stat().st_mode) == 0o600

    def test_its_form_is_that_of_version_2(self, tmp_path: Path) -> None:
        store = TokenStore(tmp_path / "auth.json")

        store.remember(URL, "ada", "t", is_active=True)

        expected = {"version": 2, "masters": {URL: {"active_user": "ada", "tokens": {"ada": "t"}}}}
        assert json.loads(store.path.read_text()) == expected

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"masters": 3}'])
    def test_a_damaged_file_counts_as_empty(self, tmp_path: Path, content: str) -> None:
        store = TokenStore(tmp_path / "auth.json")
        store.path.write_text(content)

        assert store.token(URL, "ada") is None
        store.remember(URL, "ada", "t", is_active=False)
        assert store.token(URL, "ada") == "t"

    def test_masters_do_not_mix(self, tmp_path: Path) -> None:
        store = TokenStore(tmp_path / "auth.json")
        store.remember(URL, "ada", "one", is_active=True)
        store.remember("http://other:1", "ada", "two", is_active=True)

        store.forget(URL, "ada")

        assert store.token(URL, "ada") is None
        assert store.token("http://other:1", "ada") == "two"

    def test_a_place_that_cannot_be_written_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        store = TokenStore(tmp_path / "file" / "auth.json")

        with pytest.raises(Unavailable, match=r"could not be saved to .*auth\.json"):
            store.remember(URL, "ada", "t", is_active=True)
