"""Every spelling of a master's address ends in one."""

import pytest

from resolute.client.address import canonical, find_master
from resolute.domain.errors import InvalidInput


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("localhost", "http://localhost:8080"),
        ("10.0.0.7:9000", "http://10.0.0.7:9000"),
        ("http://host", "http://host"),
        ("https://host/prefix/", "https://host/prefix"),
        ("HTTP://Host:80/", "http://host:80"),
        ("[::1]:8080", "http://[::1]:8080"),
        (" host ", "http://host:8080"),
    ],
)
def test_an_address_has_one_canonical_form(written: str, meant: str) -> None:
    assert canonical(written) == meant


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("ftp://host", "ftp:// is not supported"),
        ("http://", "names no host"),
        ("http://me:secret@host", "must not hold a user"),
        ("host:99999", "port is not a number"),
        ("http://host/?x=1", "a query"),
    ],
)
def test_what_cannot_be_a_master_is_refused_with_the_reason(written: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        canonical(written)


@pytest.mark.parametrize(
    ("given", "env", "meant"),
    [
        ("a", {"RESOLUTE_MASTER": "b"}, "http://a:8080"),
        (None, {"RESOLUTE_MASTER": "b", "DET_MASTER": "c"}, "http://b:8080"),
        (None, {"DET_MASTER": "c:1"}, "http://c:1"),
        (None, {"DET_MASTER_ADDR": "d"}, "http://d:8080"),
        (None, {}, "http://localhost:8080"),
    ],
)
def test_what_is_given_wins_over_our_variable_over_determineds(
    given: str | None, env: dict[str, str], meant: str
) -> None:
    assert find_master(given, env) == meant
