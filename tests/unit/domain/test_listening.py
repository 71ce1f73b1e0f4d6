"""Where a task may say that it listens: on the node where it was started, and nowhere else."""

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.listening import check_address

HERE, FAR = ("127.0.0.1",), ("10.0.0.7", "fd00::7")


@pytest.mark.parametrize("address", ["127.0.0.1:80", "127.9.9.9:80", "localhost:80", "[::1]:80"])
def test_on_the_masters_own_machine_it_listens_on_loopback(address: str) -> None:
    check_address(address, node_addresses=HERE)
    check_address(address, node_addresses=())


@pytest.mark.parametrize("address", ["10.0.0.7:80", "[fd00::7]:80"])
def test_on_another_machine_it_listens_on_an_address_of_that_one(address: str) -> None:
    check_address(address, node_addresses=FAR)


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "10.0.0.8:80"])
def test_on_another_machine_loopback_is_not_where_it_was_started(address: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"is not where its task was started\. Listen on one of: 10\.0\.0\.7, fd00::7\."
    ):
        check_address(address, node_addresses=FAR)


def test_what_is_on_another_machine_is_refused_here() -> None:
    with pytest.raises(InvalidInput, match=r"Listen on one of: 127\.0\.0\.1\."):
        check_address("10.0.0.7:80", node_addresses=HERE)


def test_no_task_is_reached_where_the_platform_itself_listens() -> None:
    with pytest.raises(InvalidInput, match=r"Port 8080 is the platform's own"):
        check_address("127.0.0.1:8080", node_addresses=HERE, taken_ports={8080})

    check_address("10.0.0.7:8080", node_addresses=FAR, taken_ports={8080})
