"""Which account of this machine is at the other end of a connection, over real sockets."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from resolute.engine.access.accounts import Whereabouts
from resolute.server.callers import owner_of, whereabouts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/net")


@pytest.fixture(params=["127.0.0.1", "::1"])
def listener(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    try:
        listening = socket.create_server((request.param, 0), family=socket.AF_INET6 if ":" in request.param else 2)
    except OSError:
        pytest.skip("there is no such address here")
    with listening:
        yield listening


def connection(client: tuple[Any, ...] | None, server: tuple[Any, ...]) -> HTTPConnection:
    return HTTPConnection({"type": "http", "client": client and client[:2], "server": server[:2], "headers": []})


def test_our_own_end_is_ours(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()[:2]) as ours:
        client, server = ours.getsockname(), ours.getpeername()

        assert owner_of(client[:2], server[:2]) == os.geteuid()
        assert whereabouts(connection(client, server)) is Whereabouts.OWN_ACCOUNT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can play somebody else")
def test_somebody_elses_end_is_his(listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    code = f"import socket, time; s = socket.create_connection(({host!r}, {port})); time.sleep(60)"
    other = subprocess.Popen(["/usr/bin/python3", "-c", code], user=54321, cwd="/")
    try:
        accepted, client = listener.accept()
        with accepted:
            assert owner_of(client[:2], (host, port)) == 54321
            assert whereabouts(connection(client, (host, port))) is Whereabouts.ON_THIS_MACHINE
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("client", [("127.0.0.1", 0), ("127.0.0.1", 9), ("::1", 9)])
def test_what_is_not_in_the_tables_is_on_this_machine_at_most(client: tuple[str, int]) -> None:
    """The first is what a proxy says."""
    assert whereabouts(connection(client, ("127.0.0.1", 8080))) is Whereabouts.ON_THIS_MACHINE


@pytest.mark.parametrize("client", [None, ("10.0.0.7", 50000), ("testclient", 50000)])
def test_who_is_not_on_loopback_is_elsewhere(client: tuple[str, int] | None) -> None:
    assert whereabouts(connection(client, ("127.0.0.1", 8080))) is Whereabouts.ELSEWHERE
