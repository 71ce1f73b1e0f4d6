"""What the router adds: the same clients, the same bare model server, with and without the router in between.

    python -m benchmarks.serving.router

Rounds of both alternate, so that whatever else the machine does hits both alike; medians of the rounds are printed.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httptools
import uvloop

from resolute.domain.routing import RoutedDeployment, RoutedReplica, RoutedRevision, RoutingTable
from resolute.serving.router.process import RouterProcess

ROUNDS = 5
_ANSWER = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 24\r\n\r\n{"predictions": [1,2,3]}'


class BareServer(asyncio.Protocol):
    """Answers every request at once: whatever is measured on top of it is the rest."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        self._transport.write(_ANSWER)


async def serve_bare() -> None:
    server = await asyncio.get_running_loop().create_server(BareServer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


def measure(url: str, *, clients: int, requests: int) -> dict[str, Any]:
    words = ["--clients", str(clients), "--requests", str(requests)]
    command = [sys.executable, "-m", "benchmarks.serving.router_load", url, *words]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, Any] = json.loads(result.stdout)
    assert measured["failed"] == 0, measured
    return measured


def compare(direct: str, routed: str, *, clients: int, requests: int) -> dict[str, Any]:
    rounds = [
        (measure(direct, clients=clients, requests=requests), measure(routed, clients=clients, requests=requests))
        for _ in range(ROUNDS)
    ]
    keys = ("p50_ms", "p99_ms", "per_s")
    without = {key: statistics.median(r[0][key] for r in rounds) for key in keys}
    within = {key: statistics.median(r[1][key] for r in rounds) for key in keys}
    return {
        "clients": clients,
        "direct": without,
        "router": within,
        "added_p50_ms": round(within["p50_ms"] - without["p50_ms"], 3),
        "ratio_per_s": round(within["per_s"] / without["per_s"], 2),
    }


def main() -> None:
    bare = subprocess.Popen([sys.executable, "-m", "benchmarks.serving.router", "bare"], stdout=subprocess.PIPE)
    assert bare.stdout is not None
    port = int(bare.stdout.readline())
    with tempfile.TemporaryDirectory() as folder:
        router = RouterProcess(home=Path(folder))
        replica = RoutedReplica(id="bare", address=f"127.0.0.1:{port}")
        revision = RoutedRevision(number=1, replicas=(replica,))
        deployment = RoutedDeployment(id=1, name="echo", split=((1, 100.0),), revisions=(revision,))
        router.publish(RoutingTable(version=1, deployments=(deployment,)))
        router.ensure()
        try:
            path = "/v1/models/echo:predict"
            for clients, requests in ((1, 3000), (32, 10_000)):
                urls = (f"http://127.0.0.1:{port}{path}", f"{router.url}/serving/echo{path}")
                print(json.dumps(compare(*urls, clients=clients, requests=requests)), flush=True)
        finally:
            router.stop()
            bare.kill()
            bare.wait()


if __name__ == "__main__":
    if sys.argv[1:] == ["bare"]:
        uvloop.run(serve_bare())
    else:
        main()
