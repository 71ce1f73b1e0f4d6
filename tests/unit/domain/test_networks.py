"""From where callers may come."""

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.networks import LOOPBACK, is_in, parse_networks


@pytest.mark.parametrize(
    ("address", "networks", "is_inside"),
    [
        ("10.1.2.3", ["10.0.0.0/8"], True),
        ("11.1.2.3", ["10.0.0.0/8"], False),
        ("::ffff:10.1.2.3", ["10.0.0.0/8"], True),
        ("fd00::1", ["10.0.0.0/8", "fd00::/8"], True),
        ("10.1.2.3", ["fd00::/8"], False),
        ("192.168.1.7", ["192.168.1.7"], True),
        ("", ["0.0.0.0/0"], False),
        ("somewhere", ["0.0.0.0/0", "::/0"], False),
    ],
)
def test_an_address_is_in_a_network_of_its_own_kind(address: str, networks: list[str], is_inside: bool) -> None:
    assert is_in(address, parse_networks(networks, "--allow-cidr")) is is_inside


def test_this_machine_is_loopback() -> None:
    assert all(is_in(address, LOOPBACK) for address in ("127.0.0.1", "127.9.9.9", "::1"))


@pytest.mark.parametrize(
    ("text", "remedy"),
    [("10.0.0.1/8", "Did you mean 10.0.0.0/8?"), ("office", "Write it like 10.0.0.0/8"), ("", "Write it like")],
)
def test_what_is_no_network_is_refused_with_what_was_meant(text: str, remedy: str) -> None:
    with pytest.raises(InvalidInput, match="--allow-cidr") as refused:
        parse_networks([text], "--allow-cidr")

    assert remedy in str(refused.value)
