"""Large answers of a task, whole, at the speed of who reads them, and with no more of them held than a few blocks."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

BLOCK = hashlib.sha512(b"a block").digest() * 16384  # 1 MiB
SIZE_MIB = 256


class Download(BaseHTTPRequestHandler):
    """`/<n>`: n MiB, of a stated length, or in chunks."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        count, is_chunked = int(self.path.split("/")[-2]), self.path.endswith("chunked")
        self.send_response(200)
        if is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(count * len(BLOCK)))
        self.end_headers()
        for _ in range(count):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(BLOCK), BLOCK) if is_chunked else BLOCK)
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        return None


@contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Download)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["sized", "chunked"])
def test_a_download_of_256_mib_arrives_whole(world: Any, form: str) -> None:
    expected = hashlib.sha256()
    for _ in range(SIZE_MIB):
        expected.update(BLOCK)
    got, size = hashlib.sha256(), 0

    with serving() as address:
        task = world.start(address)
        with world.http.stream("GET", f"/proxy/{task}/{SIZE_MIB}/{form}") as answer:
            for chunk in answer.iter_raw():
                got.update(chunk)
                size += len(chunk)

    assert size == SIZE_MIB * len(BLOCK)
    assert got.hexdigest() == expected.hexdigest()


def test_who_asks_for_something_small_is_answered_beside_downloads_that_nobody_reads(world: Any) -> None:
    with serving() as address:
        task = world.start(address)
        with (
            httpx.Client(base_url=world.url, headers=world.http.headers, timeout=20) as slow,
            slow.stream("GET", f"/proxy/{task}/64/sized"),
            slow.stream("GET", f"/proxy/{task}/64/chunked"),
        ):
            beside = world.http.get(f"/proxy/{task}/1/sized")

    assert beside.content == BLOCK
