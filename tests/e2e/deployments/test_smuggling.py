"""Every framing vector against real fronts - the router, and the master before it - with a real server behind them.

What a client hides in a request never becomes a request of its own: the server behind sees what the front has seen.
"""

import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

CORPUS = json.loads((Path(__file__).parents[2] / "corpus" / "http_framing.json").read_text())
_SILENT_S = 1.0
"""Some vectors end before the message does: the front waits for more, and rightly says nothing."""


@pytest.fixture
def smug(deployer: Any) -> Any:
    deployer.create("smug", public=True)
    return deployer.until_ready("smug")


def talk(address: tuple[str, int], raw: bytes) -> tuple[bytes, bool]:
    """What comes back, and whether the connection was closed."""
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(raw)
        client.settimeout(_SILENT_S)
        received = b""
        try:
            while block := client.recv(1 << 16):
                received += block
        except TimeoutError:
            return received, False
        except ConnectionResetError:
            return received, True
        return received, True


def seen_behind(received: bytes) -> list[list[Any]]:
    """Path and size of what the model server was asked: it says so in its answers."""
    found = re.findall(rb'\{"revision": 1, "path": "/([^"]*)", "pid": \d+, "bytes": (\d+)\}', received)
    return [[path.decode(), int(size)] for path, size in found]


# Read alike by everybody, and refused for what it asks: such a connection may stay open.
CLEAR = ("absolute form", "absolute form, another host", "no host", "a host with a path")


def fault(front: str, each: dict[str, Any], received: bytes, is_closed: bool) -> str:
    """Empty when it is right."""
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received) if status != b"100"]
    seen = seen_behind(received)
    if b"smuggled" in b"".join(path.encode() for path, _ in seen):
        return f"the hidden request was answered: {received[:300]!r}"
    if front == "master" and each["name"] == "absolute form":
        # Every server must take it; what is sent on is the path alone.
        return "" if seen == [["a", 5]] else f"{statuses}, {seen}"
    if each["wanted"] == "refused":
        is_ended = is_closed or each["name"] in CLEAR
        is_refused = statuses[-1:] and 400 <= statuses[-1] < 500 and is_ended and not seen
        return "" if is_refused or not statuses else f"{statuses}, {'closed' if is_closed else 'open'}, {seen}"
    wanted = [[path, len(body)] for path, body in each["wanted"]]
    return "" if seen == wanted else f"{seen} behind, where {wanted} was sent; {received[:300]!r}"


@pytest.mark.parametrize("front", ["router", "master"])
def test_no_vector_is_read_in_two_ways(deployer: Any, smug: dict[str, Any], front: str) -> None:
    url = urlsplit(smug["url"] if front == "router" else deployer.master.url)
    address = (str(url.hostname), int(url.port or 80))

    with ThreadPoolExecutor(16) as pool:
        answers = pool.map(lambda each: talk(address, each["request"].encode("latin-1")), CORPUS)
        found = {each["name"]: fault(front, each, *answer) for each, answer in zip(CORPUS, answers, strict=True)}

    assert {name: why for name, why in found.items() if why} == {}
    assert deployer.get("smug")["state"] == "STATE_READY"
