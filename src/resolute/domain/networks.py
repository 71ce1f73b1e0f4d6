"""From where callers may come, and whose word about others is believed. Pure."""

import ipaddress
from collections.abc import Iterable

from resolute.domain.errors import InvalidInput

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
LOOPBACK: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


def parse_networks(texts: Iterable[str], option: str) -> tuple[Network, ...]:
    """Addresses and networks as an operator writes them. Raises InvalidInput."""
    return tuple(_network(text.strip(), option) for text in texts)


def is_in(address: str, networks: Iterable[Network]) -> bool:
    """An IPv4 address that came through an IPv6 socket is the same address. What is none is in no network."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    found = mapped or parsed
    return any(found.version == network.version and found in network for network in networks)


def _network(text: str, option: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as problem:
        try:
            meant = f" Did you mean {ipaddress.ip_network(text, strict=False)}?"
        except ValueError:
            meant = " Write it like 10.0.0.0/8, 192.168.1.7 or fd00::/8."
        raise InvalidInput(f"{option} {text!r} is no network: {problem}.{meant}") from None
