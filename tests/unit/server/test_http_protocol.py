"""Heads and bodies that are too large or too slow, over real sockets on loopback."""

import asyncio
import json
from typing import Any

import pytest
import uvicorn

from resolute.server.http_protocol import BoundedProtocol


class Impatient(BoundedProtocol):
    head_within_s = 0.2
    body_window_s = 0.2


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


def exchange(*parts: bytes) -> tuple[int, str]:
    """Sends the parts on one connection and reads until it is closed: status and sentence, or body."""

    async def run() -> bytes:
        config = uvicorn.Config(echo, http=Impatient, lifespan="off", log_config=None, ws="none")
        config.load()
        state = uvicorn.server.ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Impatient(config, state, {}), "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            for part in parts:
                writer.write(part)
                await asyncio.sleep(0)
            answer = await asyncio.wait_for(reader.read(), 20)
            writer.close()
        return answer

    answer = asyncio.run(run())
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1]) if head else 0
    return status, json.loads(body)["error"]["error"] if status >= 400 else body.decode()


def test_an_ordinary_request_passes() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"

    assert exchange(head, b"hi") == (200, "hi")


def test_a_long_address_is_refused() -> None:
    status, sentence = exchange(b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")

    assert status == 414
    assert "32 KiB" in sentence


@pytest.mark.parametrize("headers", [b"A: " + b"a" * 70_000 + b"\r\n", b"".join(b"H%d: 1\r\n" % n for n in range(300))])
def test_large_or_many_headers_are_refused(headers: bytes) -> None:
    status, _ = exchange(b"GET / HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n")

    assert status == 431


def test_a_head_without_an_end_is_refused_by_size() -> None:
    status, _ = exchange(b"GET / HTTP/1.1\r\nA: ", *[b"a" * 10_000 for _ in range(8)])

    assert status == 431


def test_half_a_head_is_refused_after_a_while() -> None:
    status, sentence = exchange(b"GET / HTTP/1.1\r\nHost:")

    assert status == 408
    assert "headers did not come" in sentence


def test_half_a_body_is_refused_after_a_while() -> None:
    status, sentence = exchange(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")

    assert status == 408
    assert "body" in sentence


def test_a_connection_that_says_nothing_is_closed() -> None:
    assert exchange() == (0, "")


def test_empty_lines_do_not_keep_a_connection() -> None:
    assert exchange(b"\r\n")[0] == 408


def test_what_is_not_http_is_a_sentence() -> None:
    status, sentence = exchange(b"\x16\x03\x01 hello\r\n\r\n")

    assert status == 400
    assert "speaks HTTP" in sentence


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (b"Transfer-Encoding: gzip, chunked\r\n", "only Transfer-Encoding taken is chunked"),
        (b"Host: y\r\nContent-Length: 2\r\n", "has one Host header"),
        (b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n", "cannot have a body"),
    ],
)
def test_what_two_readers_could_frame_differently_is_refused(head: bytes, sentence: str) -> None:
    status, said = exchange(b"POST / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n", b"hi")

    assert status == 400
    assert sentence in said


def test_an_address_in_the_request_line_is_the_one_in_the_host_header() -> None:
    same = exchange(b"GET http://X:1/p HTTP/1.1\r\nHost: x:1\r\nConnection: close\r\n\r\n")
    other = exchange(b"GET http://evil/p HTTP/1.1\r\nHost: x\r\n\r\n")

    assert same == (200, "")
    assert other[0] == 400
