"""What a replica may have begun is not done twice, unless that does no harm: every fault with every request."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import pytest

Plan = Callable[[bytes, asyncio.StreamWriter], Awaitable[bool]]
HALF = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of it"


async def says_nothing(request: bytes, writer: asyncio.StreamWriter) -> bool:
    return False


async def says_half(request: bytes, writer: asyncio.StreamWriter) -> bool:
    writer.write(HALF)
    await writer.drain()
    return False


async def says_nonsense(request: bytes, writer: asyncio.StreamWriter) -> bool:
    writer.write(b"nonsense\r\n\r\n")
    await writer.drain()
    return False


async def hangs(request: bytes, writer: asyncio.StreamWriter) -> bool:
    await asyncio.Event().wait()
    return False


PLANS: dict[str, Plan] = {"nothing": says_nothing, "half": says_half, "nonsense": says_nonsense, "hangs": hangs}
NOT_BEGUN = ("refused", "closed while idle")
FAULTS = (*NOT_BEGUN, *PLANS)


async def one_with(lab: Any, fault: str, answer: Callable[..., bytes]) -> Any:
    """A model server that has answered once, and meets the next request with this fault."""
    is_first = True

    async def plan(request: bytes, writer: asyncio.StreamWriter) -> bool:
        nonlocal is_first
        if is_first:
            is_first = False
            writer.write(answer(b"{}"))
            await writer.drain()
            return fault != "closed while idle"
        return await PLANS[fault](request, writer) if fault in PLANS else False

    model = await lab.model("faulty", plan)
    lab.serve([model])
    await (await lab.client()).ask()
    if fault in NOT_BEGUN:
        model.server.close()
    model.requests.clear()
    return model


@pytest.mark.parametrize(
    ("fault", "method", "is_idempotent"),
    list(product(FAULTS, ("GET", "HEAD", "OPTIONS", "POST", "PUT"), (False, True))),
)
def test_a_request_is_sent_again_only_where_that_is_safe(
    in_lab: Any, answer: Callable[..., bytes], fault: str, method: str, is_idempotent: bool
) -> None:
    async def test(lab: Any) -> None:
        faulty, there = await one_with(lab, fault, answer), await lab.model("there")
        options = {"idempotent": is_idempotent}
        lab.serve([faulty], **options)
        client = await lab.client()
        client.send("/serving/echo/v1", b"", method=method)
        if fault in PLANS:
            async with asyncio.timeout(5):
                while not faulty.requests:
                    await asyncio.sleep(0.001)
        lab.serve([faulty, there], **options)
        if fault == "hangs":
            for replica in lab.routes._replicas.values():
                replica.abandon()

        got = await client.read(has_body=method != "HEAD")

        is_safe = fault in NOT_BEGUN or is_idempotent or method in ("GET", "HEAD", "OPTIONS")
        assert got.status == (200 if is_safe else 502)
        # Somebody who may not be asked twice is asked once, by whomever.
        assert is_safe or len(faulty.requests) + len(there.requests) == 1
        assert len(faulty.requests) <= 3
        if not is_safe:
            assert "may have begun this request" in got.json["error"]

    in_lab(test)


def test_what_was_not_sent_again_counts_as_an_error_of_its_revision(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve([await lab.model(plan=says_nothing)])

        await (await lab.client()).ask()

        counts = lab.routes.counts().deployments[1].revisions[1]
        assert (counts.requests, counts.errors, counts.in_flight) == (1, 1, 0)

    in_lab(test)


def test_a_connection_that_was_idle_for_long_is_not_trusted(in_lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model()
        lab.serve([model])
        client = await lab.client()
        await client.ask()
        await client.ask()
        was = model.connections
        monkeypatch.setattr("resolute.serving.router.upstream._MOST_IDLE_S", 0.0)

        answer = await client.ask()

        assert (was, answer.status, model.connections) == (1, 200, 2)

    in_lab(test)
