"""Where a task says that it listens: on the node on which it was started, and nowhere else. Pure."""

from collections.abc import Collection
from ipaddress import ip_address

from resolute.domain.errors import InvalidInput

LAST_PORT = 65535


def address_parts(address: str) -> tuple[str, int]:
    """Host and port of `host:port`; an IPv6 host stands in brackets. Raises InvalidInput."""
    host, _, port = address.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    bare = host[1:-1] if is_bracketed else host
    is_number = port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) <= LAST_PORT
    is_host = (
        is_bracketed if ":" in bare else bool(bare) and all(c.isascii() and (c.isalnum() or c in ".-") for c in bare)
    )
    if not (is_number and is_host) or (is_bracketed and not _is_ip(bare)):
        raise InvalidInput(
            f"{address[:100]!r} is not where a server listens. Send host:port, for example 127.0.0.1:8000."
        )
    return bare, int(port)


def check_address(address: str, *, node_addresses: Collection[str], taken_ports: Collection[int] = ()) -> None:
    """Raises InvalidInput unless it is on the node on which the platform started the task. Loopback is the master's
    own: a task on another machine is not there, but something else may be. `taken_ports` are the platform's, on its
    own machine: whoever is led there would come from this machine, and be trusted as that."""
    host, port = address_parts(address)
    is_here = not node_addresses or any(map(_is_loopback, node_addresses))
    if is_here and port in taken_ports:
        raise InvalidInput(f"Port {port} is the platform's own: no task listens there. Take a free one (port 0).")
    if host in node_addresses or (is_here and _is_loopback(host)):
        return
    places = ", ".join(dict.fromkeys([*(("127.0.0.1",) if is_here else ()), *node_addresses]))
    raise InvalidInput(f"A server at {address!r} is not where its task was started. Listen on one of: {places}.")


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_ip(host) and ip_address(host).is_loopback)


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
