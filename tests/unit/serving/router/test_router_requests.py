"""How the router reads requests, finds their deployment, and hands answers back."""

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from resolute.domain.data_path import forward_proof


def test_a_request_goes_to_the_model_without_its_prefix(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])

        answer = await (await lab.client()).ask("/serving/echo/v1/models/echo:predict?a=1", b'{"x": 1}')

        assert (answer.status, answer.body) == (200, b"one")
        assert answer.headers["x-resolute-revision"] == "1"
        assert model.requests[0].startswith(b"POST /v1/models/echo:predict?a=1 HTTP/1.1\r\n")
        assert model.requests[0].endswith(b'\r\n\r\n{"x": 1}')

    in_lab(test)


@pytest.mark.parametrize("host", ["echo.default.example.com", "echo.default.svc.cluster.local:8080", "ECHO.Default.x"])
def test_a_host_name_finds_the_deployment_under_any_path(in_lab: Any, host: str) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])

        answer = await (await lab.client()).ask("/v2/health/ready", host=host)

        assert answer.status == 200
        assert model.requests[0].startswith(b"POST /v2/health/ready ")

    in_lab(test)


@pytest.mark.parametrize(("path", "passed"), [("/serving/echo", b"/"), ("/serving/echo?q=1", b"/?q=1")])
def test_a_bare_name_asks_for_the_root(in_lab: Any, path: str, passed: bytes) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])

        await (await lab.client()).ask(path)

        assert model.requests[0].startswith(b"POST " + passed + b" HTTP/1.1")

    in_lab(test)


@pytest.mark.parametrize("path", ["/serving/nope/v1", "/v1/models/echo:predict"])
def test_an_unknown_deployment_is_answered_with_the_names_there_are(in_lab: Any, path: str) -> None:
    async def test(lab: Any) -> None:
        lab.serve([await lab.model()])

        answer = await (await lab.client()).ask(path)

        assert answer.status == 404
        assert "There are: echo." in answer.json["error"]

    in_lab(test)


def test_the_router_itself_says_that_it_lives(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        answer = await (await lab.client()).ask("/healthz", b"", method="GET")

        assert (answer.status, answer.json) == (200, {"status": "alive"})

    in_lab(test)


def test_connections_are_kept_on_both_sides(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])
        client = await lab.client()

        answers = [await client.ask() for _ in range(20)]

        assert [a.status for a in answers] == [200] * 20
        assert model.connections == 1

    in_lab(test)


def test_requests_sent_at_once_are_answered_in_their_order(in_lab: Any, answer: Callable[..., bytes]) -> None:
    async def echo(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(answer(request.partition(b"\r\n\r\n")[2]))
        return True

    async def test(lab: Any) -> None:
        lab.serve([await lab.model(plan=echo)])
        client = await lab.client()

        for number in range(30):
            client.send("/serving/echo/v1", str(number).encode())
        bodies = [int((await client.read()).body) for _ in range(30)]

        assert bodies == list(range(30))

    in_lab(test)


def test_a_body_in_chunks_arrives_with_its_length(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])

        body = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
        answer = await (await lab.client()).ask(body=body, transfer_encoding="chunked")

        assert answer.status == 200
        assert model.requests[0].endswith(b"content-length: 11\r\n\r\nhello world")

    in_lab(test)


def test_who_waits_for_leave_to_send_gets_it(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve([await lab.model()])
        client = await lab.client()
        client.send("/serving/echo/v1", b"", expect="100-continue", content_length="2")

        go_on = await client.read(has_body=False)
        client.writer.write(b"{}")
        answer = await client.read()

        assert (go_on.status, answer.status) == (100, 200)

    in_lab(test)


def test_an_answer_to_head_has_no_body_to_wait_for(in_lab: Any, answer: Callable[..., bytes]) -> None:
    async def head(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        return True

    async def test(lab: Any) -> None:
        lab.serve([await lab.model(plan=head)])
        client = await lab.client()

        first = await client.ask(body=b"", method="HEAD")
        second = await client.ask(body=b"", method="HEAD")

        assert (first.status, second.status) == (200, 200)

    in_lab(test)


@pytest.mark.parametrize("closing", ["close", "Close"])
def test_a_client_that_wants_to_close_is_closed(in_lab: Any, closing: str) -> None:
    async def test(lab: Any) -> None:
        lab.serve([await lab.model()])
        client = await lab.client()

        answer = await client.ask(connection=closing)

        assert answer.status == 200
        assert await client.is_closed()

    in_lab(test)


def test_a_large_answer_is_streamed(in_lab: Any, answer: Callable[..., bytes]) -> None:
    async def large(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(answer(b"x" * 5_000_000))
        return True

    async def test(lab: Any) -> None:
        lab.serve([await lab.model(plan=large)])

        got = await (await lab.client()).ask()

        assert len(got.body) == 5_000_000

    in_lab(test)


def test_an_answer_without_a_length_ends_with_its_connection(in_lab: Any) -> None:
    async def endless(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil the end")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        return False

    async def test(lab: Any) -> None:
        lab.serve([await lab.model(plan=endless)])

        got = await (await lab.client()).ask()

        assert got.body == b"until the end"

    in_lab(test)


def test_an_answer_in_chunks_goes_through(in_lab: Any) -> None:
    async def chunks(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        return True

    async def test(lab: Any) -> None:
        lab.serve([await lab.model(plan=chunks)])
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")

        head = await client.read(has_body=False)
        rest = await client.reader.readexactly(13)

        assert head.headers["transfer-encoding"] == "chunked"
        assert rest == b"3\r\nabc\r\n0\r\n\r\n"

    in_lab(test)


def test_a_body_beyond_the_limit_is_refused_before_it_is_sent(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model], max_body_bytes=1000)
        client = await lab.client()
        client.send("/serving/echo/v1", b"", content_length="1000000000")

        answer = await client.read()

        assert answer.status == 413
        assert "takes 1000 (serving.max_body_bytes)" in answer.json["error"]
        assert await client.is_closed()
        assert model.requests == []

    in_lab(test)


def test_a_body_in_chunks_beyond_the_limit_is_refused_on_the_way(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve([await lab.model()], max_body_bytes=1000)
        client = await lab.client()
        client.send("/serving/echo/v1", b"7d0\r\n" + b"x" * 2000 + b"\r\n", transfer_encoding="chunked")

        assert (await client.read()).status == 413

    in_lab(test)


@pytest.mark.parametrize("rubbish", [b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00", b"POST / HTTP/9.9\r\n\r\n"])
def test_what_is_not_http_is_refused_with_a_sentence(in_lab: Any, rubbish: bytes) -> None:
    async def test(lab: Any) -> None:
        client = await lab.client()
        client.writer.write(rubbish)

        answer = await client.read()

        assert answer.status == 400
        assert "not HTTP/1.1" in answer.json["error"]
        assert await client.is_closed()

    in_lab(test)


def test_headers_without_end_are_refused(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        client = await lab.client()
        client.writer.write(b"GET / HTTP/1.1\r\n" + b"x: " + b"y" * 70_000 + b"\r\nz: 1\r\n\r\n")

        assert (await client.read()).status == 431

    in_lab(test)


def test_credentials_and_connection_headers_do_not_reach_the_model(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])

        await (await lab.client()).ask(authorization="Bearer secret", te="trailers", x_own="kept")

        assert b"secret" not in model.requests[0]
        assert b"trailers" not in model.requests[0]
        assert b"x-own: kept" in model.requests[0]

    in_lab(test)


# ----------------------------------------------------------------------------------------------------------- keys

KEY = "k" * 40


def test_a_key_is_asked_for_when_the_table_says_so(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve([await lab.model()], requires_key=True, key_hash=hashlib.sha256(KEY.encode()).hexdigest())
        client = await lab.client()

        without = await client.ask()
        wrong = await client.ask(authorization="Bearer wrong")
        right = await client.ask(authorization=f"Bearer {KEY}")
        forwarded = await client.ask(x_resolute_forwarded=forward_proof("from-the-master", 1))
        forged = await client.ask(x_resolute_forwarded="1.from-somebody")
        other = await client.ask(x_resolute_forwarded=forward_proof("from-the-master", 2))

        assert [a.status for a in (without, wrong, right, forwarded, forged, other)] == [401, 401, 200, 200, 401, 403]
        assert "Authorization: Bearer <key>" in without.json["error"]

    in_lab(test)


def test_a_public_deployment_needs_no_key_and_names_are_not_told_to_strangers(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve([await lab.model()], requires_key=True, public=True)
        client = await lab.client()

        public = await client.ask()
        unknown = await client.ask("/serving/nope")

        assert public.status == 200
        assert "There are:" not in unknown.json["error"]

    in_lab(test)


def test_stale_connections_to_a_dead_server_cost_a_request_one_try_together(
    in_lab: Any, answer: Callable[..., bytes]
) -> None:
    known: set[asyncio.StreamWriter] = set()
    everybody_is_there = asyncio.Barrier(6)
    is_restarted = False

    async def plan(request: bytes, writer: asyncio.StreamWriter) -> bool:
        if is_restarted and writer in known:
            return False
        known.add(writer)
        if not is_restarted:
            await everybody_is_there.wait()
        writer.write(answer(b"{}"))
        return True

    async def test(lab: Any) -> None:
        nonlocal is_restarted
        lab.serve([await lab.model(plan=plan)], idempotent=True)
        clients = [await lab.client() for _ in range(6)]
        await asyncio.gather(*(client.ask() for client in clients))
        is_restarted = True

        asked = await clients[0].ask()

        assert asked.status == 200

    in_lab(test)


@pytest.mark.parametrize(
    "path",
    [
        "/serving/echo/../echo/v1",
        "/serving/echo/%2e%2e/v1",
        "/serving/echo/a%2Fb",
        "/serving/echo//v1",
        "/serving/echo/a\\b",
        "http://x/v2/repository/index",
        "*",
    ],
)
def test_a_path_that_readers_may_take_differently_is_refused(in_lab: Any, path: str) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])

        answer = await (await lab.client()).ask(path, host="echo.default.x", method="OPTIONS")

        assert answer.status == 400
        assert not model.requests

    in_lab(test)


@pytest.mark.parametrize("path", ["/metrics", "/v2/repository/models/echo/unload", "/v2/repositor%79/index"])
def test_what_is_for_the_platform_is_not_on_the_data_path(in_lab: Any, path: str) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])
        client = await lab.client()

        by_name = await client.ask(f"/serving/echo{path}")
        by_host = await client.ask(path, host="echo.default.x")

        assert (by_name.status, by_host.status) == (404, 404)
        assert not model.requests

    in_lab(test)
