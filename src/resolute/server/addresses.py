"""Where a caller is: on this machine, or which network the address counts for; and what program it is. Pure."""

import ipaddress

from starlette.requests import HTTPConnection

_IPV6_NETWORK = 64
"""A single IPv6 customer has at least that many bits to choose addresses from, so they count as one caller."""
_LONGEST_AGENT = 200
"""Characters: the longest that browsers send are about as long. What is longer is cut off."""


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client is not None else ""


def user_agent_of(connection: HTTPConnection) -> str:
    """What the caller's program calls itself, fit for a log and a terminal: the caller wrote it, and may lie."""
    given = connection.headers.get("user-agent", "")[:_LONGEST_AGENT]
    return given if given.isascii() and given.isprintable() else "".join(filter(str.isprintable, given))


def network_of(address: str) -> str:
    """What attempts are counted by: the address itself, or the network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
