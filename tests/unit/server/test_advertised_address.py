"""Which addresses of the master can be handed to tasks."""

import pytest

from resolute.domain.errors import InvalidInput
from resolute.server.addresses import advertised_url


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("http://10.0.0.5:8080", "http://10.0.0.5:8080"),
        ("https://train.example.org/", "https://train.example.org"),
        ("http://[fd00::5]:8080", "http://[fd00::5]:8080"),
        ("https://example.org/resolute/", "https://example.org/resolute"),
    ],
)
def test_an_address_is_told_as_it_was_given_without_a_slash_at_its_end(given: str, told: str) -> None:
    assert advertised_url(given) == told


@pytest.mark.parametrize(
    "given",
    [
        "10.0.0.5:8080",
        "train.example.org",
        "ftp://host",
        "http://",
        "http://:8080",
        "http://h:99999",
        "http://h:0",
        "http://a b",
        "http://[",
        "http://h?x=1",
        "http://h#x",
        "http://user@h",
        "http://h\n",
    ],
)
def test_what_nobody_could_call_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput, match=r"--advertise .* is no address of a master\. Write it like http://"):
        advertised_url(given)
