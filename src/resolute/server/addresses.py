"""Where a caller is: on this machine, or which network the address counts for; and what program it is. Where callers
reach us. Pure."""

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from resolute.domain.errors import InvalidInput

_IPV6_NETWORK = 64
"""A single IPv6 customer has at least that many bits to choose addresses from, so they count as one caller."""
_LONGEST_AGENT = 200
"""Characters: the longest that browsers send are about as long. What is longer is cut off."""


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def advertised_url(text: str) -> str:
    """As tasks are given it, without a slash at the end. Raises InvalidInput for what nobody could call."""
    try:
        parsed = urlsplit(text)
        is_usable = parsed.scheme in ("http", "https") and bool(parsed.hostname) and parsed.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or parsed.query or parsed.fragment or parsed.username or not text.isprintable() or " " in text:
        raise InvalidInput(
            f"--advertise {text!r} is no address of a master. Write it like http://10.0.0.5:8080 or "
            "https://train.example.org."
        )
    return text.rstrip("/")


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
