"""A model server of a test's own: says which revision it is, fails or dawdles when told to, dies when asked.

Speaks as ours does: binds a free port, tells the master where, and that it is ready.
"""

import asyncio
import json
import os
import signal
import sys
import urllib.request


def tell_master(what: str, body: dict[str, str]) -> None:
    url = f"{os.environ['RESOLUTE_MASTER']}/api/v1/allocations/{os.environ['RESOLUTE_ALLOCATION_ID']}/{what}"
    request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST")
    request.add_header("Grpc-Metadata-x-allocation-token", f"Bearer {os.environ['DET_SESSION_TOKEN']}")
    urllib.request.urlopen(request, timeout=10).read()


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            if os.environ.get("MUTE"):
                await asyncio.Event().wait()
            status, content = answer(first.split()[1], body)
            if first.split()[1] != "/v2/health/ready":
                await asyncio.sleep(float(os.environ.get("DELAY_S", "0")))
            head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
            writer.write(head.encode() + (b"" if first.startswith("HEAD ") else content))
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def answer(path: str, body: bytes) -> tuple[int, bytes]:
    if path == "/die":
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get("FAILS") and path != "/v2/health/ready":
        return 500, b'{"error": "told to fail"}'
    content = {"revision": int(os.environ["RESOLUTE_REVISION"]), "path": path, "pid": os.getpid()}
    return 200, json.dumps({**content, "bytes": len(body)}).encode()


async def main() -> None:
    if os.environ.get("NEVER_READY"):
        print("ValueError: weights of another shape", file=sys.stderr)
        sys.exit(4)
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await asyncio.to_thread(tell_master, "proxy_address", {"proxyAddress": f"127.0.0.1:{port}"})
    await asyncio.to_thread(tell_master, "ready", {})
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    await stopping.wait()


asyncio.run(main())
