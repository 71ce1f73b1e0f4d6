"""Which account of this machine a caller on loopback is. The kernel knows the owner of every connection's other end.

A caller behind a proxy is nobody we know: its address was written by the proxy, and its port is not there.
"""

import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from starlette.requests import HTTPConnection

from resolute.engine.access.accounts import Whereabouts
from resolute.server.addresses import is_loopback

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LOOKS = 3
"""The kernel's table is read in parts, so a line may be missing while connections come and go."""


def whereabouts(connection: HTTPConnection) -> Whereabouts:
    """Who opens a log-in."""
    if connection.client is None or not is_loopback(connection.client.host):
        return Whereabouts.ELSEWHERE
    if "x-forwarded-for" in connection.headers:
        # A proxy here speaks for somebody, and is not believed about where he is.
        return Whereabouts.ELSEWHERE
    return Whereabouts.OWN_ACCOUNT if is_own_account(connection) else Whereabouts.ON_THIS_MACHINE


def is_own_account(connection: HTTPConnection) -> bool:
    """Whether the caller runs as the same account as this master, or as root. False where that cannot be known."""
    client, server = connection.scope.get("client"), connection.scope.get("server")
    if not client or not server or not client[1] or not is_loopback(client[0]):
        return False
    return owner_of(client, server) in (os.geteuid(), 0)


def owner_of(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """The account that opened the client's end of a connection on this machine; None: it is not in the tables."""
    wanted = (_normal(client[0]), client[1], _normal(server[0]), server[1])
    for _ in range(_LOOKS):
        for ends, uid in _connections():
            if ends == wanted:
                return uid
    return None


def _connections() -> Iterator[tuple[tuple[bytes, int, bytes, int], int]]:
    for table in _TABLES:
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            (here, here_port), (there, there_port) = _end(fields[1]), _end(fields[2])
            yield (here, here_port, there, there_port), int(fields[7])


def _end(text: str) -> tuple[bytes, int]:
    """`0100007F:1F90`: words of an address in this machine's byte order, and a port."""
    address, _, port = text.partition(":")
    words = [int(address[start : start + 8], 16) for start in range(0, len(address), 8)]
    return _unmapped(struct.pack(f"={len(words)}I", *words)), int(port, 16)


def _normal(host: str) -> bytes:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return _unmapped(socket.inet_pton(family, host))
    except OSError:
        return b""


def _unmapped(address: bytes) -> bytes:
    """An IPv4 address inside an IPv6 one is the IPv4 address."""
    return address[12:] if address.startswith(b"\0" * 10 + b"\xff\xff") else address
