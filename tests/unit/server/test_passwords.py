"""Passwords: what is stored, what matches, and which names of this machine are answered to."""

import pytest

from resolute.engine.access.accounts import client_form, hash_password, verify_password
from resolute.server.addresses import is_loopback
from resolute.server.gate import Gate


def test_a_password_matches_itself_alone() -> None:
    stored = hash_password(client_form("Secret123", is_hashed=False))

    assert verify_password(stored, client_form("Secret123", is_hashed=False))
    assert not verify_password(stored, client_form("secret123", is_hashed=False))
    assert not verify_password(stored, "")


def test_a_hashed_and_a_plain_password_are_the_same_one() -> None:
    plain = client_form("Secret123", is_hashed=False)

    assert client_form(plain, is_hashed=True) == plain
    assert len(plain) == 128


def test_the_same_password_is_stored_differently_each_time() -> None:
    assert hash_password("a") != hash_password("a")


def test_the_empty_password_is_stored_as_it_is() -> None:
    assert hash_password("") == ""


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.9.9.9", True), ("0.0.0.0", False), ("::", False)],
)
def test_what_counts_as_this_machine_alone(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("localhost:8080", True),
        ("LOCALHOST", True),
        ("lab.example:8080", True),
        ("192.168.1.5", True),
        ("[fe80::1]:8080", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
    ],
)
def test_names_are_known_or_refused(header: str, expected: bool) -> None:
    gate = Gate(lambda scope, receive, send: None, hosts=["Lab.Example"])  # type: ignore[arg-type, return-value]

    assert gate.is_known(header) is expected
