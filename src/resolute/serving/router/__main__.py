"""`python -m resolute.serving.router`: serves what the table file says until SIGTERM. Started by its supervisor."""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import secrets
import signal
import socket
import sys
from pathlib import Path

import msgspec
import uvloop

from resolute.domain.errors import InvalidInput
from resolute.domain.networks import Network, is_in, parse_networks
from resolute.domain.routing import RoutingTable
from resolute.host.process_identity import identity_of
from resolute.host.tls import Certificate
from resolute.serving.http.connection import Connection
from resolute.serving.http.connections import Connections
from resolute.serving.http.limits import limits_of_process
from resolute.serving.router.control import Control
from resolute.serving.router.front import Front
from resolute.serving.router.prober import Prober
from resolute.serving.router.routes import Routes

_LOOK_S = 0.25
"""Between looks at the table file, for when the master's nudge is lost."""
_LEAVE_WITHIN_S = 10.0
_FILES_PER_CLIENT = 2
"""Its connection, and one to a replica."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m resolute.serving.router")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fd", type=int, default=-1, help="of a socket that listens already, in place of an address")
    parser.add_argument("--table", type=Path, required=True, help="JSON that the master writes")
    parser.add_argument("--state", type=Path, required=True, help="JSON that this process writes when it listens")
    parser.add_argument("--tls-cert", type=Path, help="PEM file; it is read again when it changes")
    parser.add_argument("--tls-key", type=Path)
    parser.add_argument("--allow-cidr", action="append", default=[], help="a network of clients; none: anybody")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    try:
        listener = _listener(given.fd, given.host, given.port)
        certificate = Certificate(given.tls_cert, given.tls_key) if given.tls_cert else None
        peers = parse_networks(given.allow_cidr, "--allow-cidr") or None
        uvloop.run(serve(listener, given.table, given.state, certificate, peers))
    except InvalidInput as problem:
        print(f"The router does not start: {problem}", file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"The router cannot listen on {given.host}:{given.port}: {problem.strerror}.", file=sys.stderr)
        return 1
    return 0


def _listener(descriptor: int, host: str, port: int) -> socket.socket:
    if descriptor >= 0:
        return socket.socket(fileno=descriptor)
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=1024)


async def serve(
    listener: socket.socket,
    table: Path,
    state: Path,
    certificate: Certificate | None = None,
    peers: tuple[Network, ...] | None = None,
) -> None:
    loop = asyncio.get_running_loop()
    token = secrets.token_hex(16)
    stopping = asyncio.Event()
    control = Control(token=token, counts=lambda: routes.counts(), reload=lambda: follower.look())
    routes = Routes(forward_token=token, on_demand=control.demand)
    follower, prober = Follower(table, routes), Prober(routes)
    follower.look()
    back = await asyncio.start_server(control.handle, "127.0.0.1", 0)
    connections = Connections(Front(routes), limits_of_process(_FILES_PER_CLIENT))
    tls = None if certificate is None else certificate.context
    front = await loop.create_server(lambda: Guarded(connections, peers), sock=listener, backlog=1024, ssl=tls)
    for kind in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(kind, stopping.set)
    write_state(
        state,
        port=listener.getsockname()[1],
        control=back.sockets[0].getsockname()[1],
        token=token,
        scheme="https" if tls else "http",
    )
    while not stopping.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), _LOOK_S)
        follower.look()
        prober.look()
        if certificate is not None:
            certificate.look()
        connections.sweep()
    front.close()
    await _finish(connections)
    prober.close()
    back.close()


class Guarded(Connection):
    """One from `peers`; anybody else's is closed without a word."""

    def __init__(self, connections: Connections, peers: tuple[Network, ...] | None) -> None:
        super().__init__(connections)
        self._peers = peers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        super().connection_made(transport)
        if self._peers is not None and (not peer or not is_in(str(peer[0]), self._peers)):
            self.abort()


async def _finish(connections: Connections) -> None:
    """Let those who are being answered have their answers."""
    ends_at = connections.now() + _LEAVE_WITHIN_S
    while connections.now() < ends_at and any(each.is_owed for each in connections.open):
        await asyncio.sleep(0.02)
    connections.close_all()


class Follower:
    """Reads the table when it has changed. A file that cannot be read changes nothing: the last one stays in force."""

    def __init__(self, path: Path, routes: Routes) -> None:
        self._path = path
        self._routes = routes
        self._seen: tuple[int, int, int] | None = None

    def look(self) -> None:
        try:
            facts = self._path.stat()
            seen = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
            if seen == self._seen:
                return
            table = msgspec.json.decode(self._path.read_bytes(), type=RoutingTable)
        except FileNotFoundError:
            return
        except (OSError, msgspec.DecodeError) as problem:
            print(f"The table {self._path} cannot be read: {problem}", file=sys.stderr, flush=True)
            return
        self._seen = seen
        self._routes.follow(table)


def write_state(path: Path, *, port: int, control: int, token: str, scheme: str = "http") -> None:
    """For the master, now and after its restart: who this is and how to reach it. Holds a secret."""
    identity = identity_of(os.getpid())
    facts = {
        "pid": identity.pid,
        "started": identity.started,
        "port": port,
        "control_port": control,
        "token": token,
        "scheme": scheme,
    }
    draft = path.with_suffix(f".{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(facts, file)
    os.replace(draft, path)


if __name__ == "__main__":
    sys.exit(main())
