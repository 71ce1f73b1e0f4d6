"""A replica that does not answer its probes gets no requests, one that hangs is given up, one that recovers returns."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from resolute.domain.replica_health import HUNG_MISSED, MOST_MISSED, Health
from resolute.serving.router.prober import Prober, ask_status

PATH = "/v2/health/ready"


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(8):
        while not is_so():
            await asyncio.sleep(0.005)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, twenty times as fast."""
    for name, seconds in (("PROBE_EVERY_S", 0.05), ("PROBE_WITHIN_S", 0.05)):
        monkeypatch.setattr(f"resolute.serving.router.prober.{name}", seconds)


@asynccontextmanager
async def probing(lab: Any) -> AsyncIterator[Prober]:
    prober = Prober(lab.routes)

    async def look() -> None:
        while True:
            prober.look()
            await asyncio.sleep(0.01)

    looking = asyncio.get_running_loop().create_task(look())
    try:
        yield prober
    finally:
        looking.cancel()
        prober.close()


class Ward:
    """A model server whose health is told from outside."""

    def __init__(self, answer: Callable[..., bytes], name: str) -> None:
        self.status: int | None = 200
        """None: it says nothing at all."""
        self.asked = 0
        self.probed = 0
        self._answer = answer
        self._name = name.encode()

    async def plan(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        is_probe = request.startswith(b"GET " + PATH.encode())
        self.probed += is_probe
        self.asked += not is_probe
        while self.status is None:
            await asyncio.sleep(0.005)
        writer.write(self._answer(self._name, self.status if is_probe else 200))
        return True


async def ask_many(client: Any, count: int) -> Counter[bytes]:
    return Counter([(await client.ask()).body for _ in range(count)])


def sick(lab: Any) -> dict[str, Health]:
    return {name.partition("@")[0]: each.health for name, each in lab.routes.counts().sick.items()}


@pytest.mark.parametrize("status", [503, 500, None])
def test_one_that_is_not_ready_gets_nothing_until_it_is(in_lab: Any, answer: Any, status: int | None) -> None:
    async def test(lab: Any) -> None:
        ill, well = Ward(answer, "ill"), Ward(answer, "well")
        lab.serve([await lab.model("ill", ill.plan), await lab.model("well", well.plan)], health_path=PATH)
        async with probing(lab):
            await until(lambda: ill.probed > 1)
            ill.status = status
            await until(lambda: sick(lab) == {"ill": Health.UNREADY})
            during = await ask_many(await lab.client(), 20)
            ill.status = 200
            await until(lambda: sick(lab) == {})
            after = await ask_many(await lab.client(), 20)

        assert during == {b"well": 20}
        assert after[b"ill"] > 5

    in_lab(test)


def test_one_that_hangs_is_given_up_and_so_is_what_it_had_in_hand(in_lab: Any, answer: Any) -> None:
    async def test(lab: Any) -> None:
        ill, well = Ward(answer, "ill"), Ward(answer, "well")
        group = [await lab.model("ill", ill.plan)]
        lab.serve(group, health_path=PATH, hung_after_s=0.3)
        client, curious = await lab.client(), await lab.client()
        async with probing(lab):
            await until(lambda: ill.probed > 0)
            ill.status = None
            client.send("/serving/echo/v1", b"{}")
            await until(lambda: ill.asked == 1)
            curious.send("/serving/echo/v1", b"", method="GET")
            await until(lambda: ill.asked == 2)
            lab.serve([*group, await lab.model("well", well.plan)], health_path=PATH, hung_after_s=0.3)
            begun, harmless = await client.read(), await curious.read()

            assert sick(lab) == {"ill": Health.HUNG}
            assert (
                "probes in a row failed: no answer within 0.05 s"
                in next(iter(lab.routes.counts().sick.values())).reason
            )
        assert (begun.status, harmless.body) == (502, b"well")
        assert "does not answer any more" in begun.json["error"]
        assert lab.routes.counts().in_flight == {}

    in_lab(test)


@pytest.mark.parametrize("is_concurrent", [True, False])
def test_one_that_answered_in_the_middle_of_a_request_is_not_taken_for_busy(
    in_lab: Any, answer: Any, is_concurrent: bool
) -> None:
    class Server(Ward):
        lock = asyncio.Lock()
        go_on = asyncio.Event()

        async def plan(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
            if is_concurrent and request.startswith(b"GET"):
                return await super().plan(request, writer)
            async with self.lock:
                if not request.startswith(b"GET"):
                    self.asked += 1
                    await self.go_on.wait()
                return await super().plan(request, writer)

    async def test(lab: Any) -> None:
        server = Server(answer, "one")
        lab.serve([await lab.model("one", server.plan)], health_path=PATH, hung_after_s=0.3, busy_s=60.0)
        client = await lab.client()
        async with probing(lab):
            client.send("/serving/echo/v1", b"{}")
            await until(lambda: server.asked == 1)
            (replica,) = lab.routes._replicas.values()
            if is_concurrent:
                await until(lambda: replica.probes.answers_while_busy)
                server.status = None
                assert (await client.read()).status == 502
            else:
                await until(lambda: replica.probes._missed > 12)
                assert sick(lab) == {"one": Health.UNREADY}
                server.go_on.set()
                assert (await client.read()).status == 200
                assert not replica.probes.answers_while_busy

    in_lab(test)


def test_who_comes_while_the_only_one_is_ill_waits_for_it(in_lab: Any, answer: Any) -> None:
    async def test(lab: Any) -> None:
        ill = Ward(answer, "ill")
        lab.serve([await lab.model("ill", ill.plan)], health_path=PATH)
        client = await lab.client()
        async with probing(lab):
            ill.status = 503
            await until(lambda: sick(lab) == {"ill": Health.UNREADY})
            client.send("/serving/echo/v1", b"{}")
            await until(lambda: lab.routes.counts().deployments[1].waiting == 1)
            ill.status = 200

            assert (await client.read()).body == b"ill"

    in_lab(test)


def test_nobody_waits_long_for_one_that_is_there_and_ill(in_lab: Any, answer: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("resolute.serving.router.deployed.LONGEST_WAIT_FOR_SICK_S", 0.1)

    async def test(lab: Any) -> None:
        ill = Ward(answer, "ill")
        ill.status = 503
        lab.serve([await lab.model("ill", ill.plan)], health_path=PATH)
        async with probing(lab):
            await until(lambda: sick(lab) == {"ill": Health.UNREADY})

            got = await (await lab.client()).ask()

        assert (got.status, got.headers["retry-after"]) == (503, "5")
        assert "no ready replica for 0.1 s" in got.json["error"]

    in_lab(test)


def test_a_port_that_nobody_listens_on_is_found_out(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        gone = await lab.model("gone")
        gone.server.close()
        lab.serve([gone], health_path=PATH, hung_after_s=0.0)
        async with probing(lab):
            await until(lambda: sick(lab) == {"gone": Health.HUNG})

        assert HUNG_MISSED > MOST_MISSED

    in_lab(test)


def test_without_a_health_path_nobody_is_asked(in_lab: Any, answer: Any) -> None:
    async def test(lab: Any) -> None:
        ward = Ward(answer, "one")
        lab.serve([await lab.model("one", ward.plan)])
        async with probing(lab) as prober:
            for _ in range(10):
                prober.look()
                await asyncio.sleep(0.01)

        assert ward.probed == 0

    in_lab(test)


def test_one_that_fails_beside_the_others_rests_and_returns(in_lab: Any, answer: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("resolute.domain.replica_health.FIRST_EJECTION_S", 0.2)
    is_broken = True

    async def failing(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(answer(b"broken", 500 if is_broken else 200))
        return True

    async def test(lab: Any) -> None:
        nonlocal is_broken
        lab.serve([await lab.model("broken", failing), await lab.model("well")])
        client = await lab.client()
        await ask_many(client, 40)

        async with probing(lab):
            await until(lambda: sick(lab) == {"broken": Health.EJECTED})
            during = await ask_many(client, 20)
            why = next(iter(lab.routes.counts().sick.values())).reason
            is_broken = False
            await until(lambda: sick(lab) == {})
            after = await ask_many(client, 20)

        assert "20 of its last 20 requests failed" in why
        assert during == {b"well": 20}
        assert after[b"broken"] > 5

    in_lab(test)


@pytest.mark.parametrize(
    "said", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 abc\r\n", b"HTTP/2 200\r\n", b"x" * 100_000, b"\n"]
)
def test_what_speaks_another_language_is_no_model_server(said: bytes) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async def test() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises((ValueError, OSError, asyncio.IncompleteReadError)):
                await ask_status("127.0.0.1", port, PATH)

    asyncio.run(test())
