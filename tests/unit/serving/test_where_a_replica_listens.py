"""The address of a replica that an engine outside has placed: the one from which it reaches its master."""

import pytest

from resolute.domain.errors import InvalidInput
from resolute.serving.replica_report import address_towards_master


@pytest.mark.parametrize("name", ["RESOLUTE_MASTER", "DET_MASTER"])
def test_beside_its_master_it_is_loopback(name: str) -> None:
    assert address_towards_master({name: "http://127.0.0.1:1"}) == "127.0.0.1"


@pytest.mark.parametrize("env", [{}, {"DET_MASTER": "http://"}, {"DET_MASTER": "http://no.such.host.invalid:1"}])
def test_without_a_way_to_a_master_it_must_be_told(env: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match=r"There is no way to the master .* with --host"):
        address_towards_master(env)
