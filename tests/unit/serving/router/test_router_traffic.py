"""Who answers: splits, sticky clients, shadows, loads, replicas that die or rest, and requests that wait."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from resolute.domain.routing import RoutingTable


async def ask_many(client: Any, count: int, **headers: str) -> Counter[bytes]:
    return Counter([(await client.ask(**headers)).body for _ in range(count)])


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not is_so():
            await asyncio.sleep(0.005)


def test_a_canary_gets_exactly_its_share(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        stable, canary = await lab.model("stable"), await lab.model("canary")
        lab.serve([stable], [canary], split=((2, 30.0), (1, 70.0)))

        seen = await ask_many(await lab.client(), 500)

        assert abs(seen[b"canary"] - 150) <= 2

    in_lab(test)


def test_a_new_table_changes_the_split_at_once_and_counting_goes_on(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        stable, canary = await lab.model("stable"), await lab.model("canary")
        client = await lab.client()
        lab.serve([stable], [canary], split=((2, 50.0), (1, 50.0)))
        await ask_many(client, 10)

        lab.serve([stable], [canary], split=((2, 100.0), (1, 0.0)))
        seen = await ask_many(client, 10)

        assert seen == {b"canary": 10}
        counts = lab.routes.counts().deployments[1].revisions
        assert counts[1].requests + counts[2].requests == 20
        assert lab.routes.counts().version == 2

    in_lab(test)


def test_a_sticky_header_always_reaches_the_same_revision(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        stable, canary = await lab.model("stable"), await lab.model("canary")
        lab.serve([stable], [canary], split=((2, 50.0), (1, 50.0)), sticky="header:X-User")
        client = await lab.client()

        seen = [await ask_many(client, 5, x_user=f"user-{n}") for n in range(40)]

        assert all(len(each) == 1 for each in seen)
        assert len({next(iter(each)) for each in seen}) == 2

    in_lab(test)


def test_a_sticky_cookie_is_given_once_and_followed(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        stable, canary = await lab.model("stable"), await lab.model("canary")
        lab.serve([stable], [canary], split=((2, 50.0), (1, 50.0)), sticky="cookie:seat")
        client = await lab.client()

        first = await client.ask()
        name, _, rest = first.headers["set-cookie"].partition("=")
        value = rest.partition(";")[0]
        again = [await client.ask(cookie=f"other=1; seat={value}") for _ in range(10)]

        assert name == "seat"
        assert {a.body for a in again} == {first.body}
        assert all("set-cookie" not in a.headers for a in again)

    in_lab(test)


def test_a_shadow_gets_copies_and_its_answers_are_dropped(in_lab: Any, answer: Callable[..., bytes]) -> None:
    async def fails(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(answer(b"shadow", 500))
        return True

    async def test(lab: Any) -> None:
        stable, shadow = await lab.model("stable"), await lab.model("shadow", fails)
        lab.serve([stable], [shadow], shadow=2, shadow_percent=50.0)

        seen = await ask_many(await lab.client(), 100)
        await until(lambda: len(shadow.requests) >= 49)

        assert seen == {b"stable": 100}
        assert abs(len(shadow.requests) - 50) <= 1
        await until(lambda: lab.routes.counts().deployments[1].revisions[2].errors >= 49)
        assert lab.routes.counts().deployments[1].revisions[1].errors == 0

    in_lab(test)


def test_a_shadow_that_hangs_does_not_pile_up(in_lab: Any) -> None:
    async def hangs(request: bytes, writer: asyncio.StreamWriter) -> bool:
        await asyncio.Event().wait()
        return False

    async def test(lab: Any) -> None:
        stable, shadow = await lab.model("stable"), await lab.model("shadow", hangs)
        lab.serve([stable], [shadow], shadow=2, shadow_percent=100.0)

        seen = await ask_many(await lab.client(), 100)

        assert seen == {b"stable": 100}
        assert lab.routes.counts().deployments[1].revisions[2].in_flight == 32

    in_lab(test)


def test_the_least_loaded_replica_is_chosen(in_lab: Any, answer: Callable[..., bytes]) -> None:
    go_on = asyncio.Event()

    async def slow(request: bytes, writer: asyncio.StreamWriter) -> bool:
        await go_on.wait()
        writer.write(answer(b"slow"))
        return True

    async def test(lab: Any) -> None:
        busy, free = await lab.model("busy", slow), await lab.model("free")
        lab.serve([busy, free])
        while not busy.requests:
            (await lab.client()).send("/serving/echo/v1", b"{}")
            await until(lambda: lab.routes.counts().deployments[1].asked == len(busy.requests) + len(free.requests))

        seen = await ask_many(await lab.client(), 20)
        go_on.set()

        assert seen[b"free"] == 20

    in_lab(test)


# --------------------------------------------------------------------------------------------------------- dying


def test_a_replica_that_is_gone_costs_nothing(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        gone, there = await lab.model("gone"), await lab.model("there")
        gone.server.close()
        lab.serve([gone, there])

        seen = await ask_many(await lab.client(), 20)

        assert seen == {b"there": 20}
        assert lab.routes.counts().deployments[1].revisions[1].errors == 0

    in_lab(test)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of it"])
def test_a_replica_that_dies_over_a_request_hands_it_to_another(in_lab: Any, sent: bytes) -> None:
    async def dies(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(sent)
        await writer.drain()
        return False

    async def test(lab: Any) -> None:
        dying, there = await lab.model("dying", dies), await lab.model("there")
        lab.serve([dying, there], idempotent=True)

        seen = await ask_many(await lab.client(), 10)

        assert seen == {b"there": 10}
        assert dying.requests

    in_lab(test)


def test_a_request_that_ends_every_server_is_not_sent_for_ever(in_lab: Any) -> None:
    async def dies(request: bytes, writer: asyncio.StreamWriter) -> bool:
        return False

    async def test(lab: Any) -> None:
        models = [await lab.model(f"m{n}", dies) for n in range(5)]
        lab.serve(models, idempotent=True)

        answer = await (await lab.client()).ask()

        assert answer.status == 502
        assert "3 model servers ended" in answer.json["error"]
        assert sum(len(m.requests) for m in models) == 3
        assert lab.routes.counts().deployments[1].revisions[1].errors == 1

    in_lab(test)


def test_an_answer_that_breaks_off_while_streamed_closes_the_connection(in_lab: Any) -> None:
    async def breaks(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n" + b"x" * 600_000)
        await writer.drain()
        return False

    async def test(lab: Any) -> None:
        lab.serve([await lab.model(plan=breaks)])
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")

        head = await client.read(has_body=False)
        with pytest.raises(asyncio.IncompleteReadError):
            await client.reader.readexactly(9_000_000)

        assert head.status == 200
        assert lab.routes.counts().deployments[1].revisions[1].errors == 1

    in_lab(test)


def test_a_crashed_canary_is_stood_in_for_by_the_stable_revision(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        stable, canary = await lab.model("stable"), await lab.model("canary")
        canary.server.close()
        lab.serve([stable], [canary], split=((2, 50.0), (1, 50.0)))

        seen = await ask_many(await lab.client(), 20)

        assert seen == {b"stable": 20}

    in_lab(test)


def test_a_connection_that_the_replica_closed_meanwhile_is_replaced(in_lab: Any, answer: Callable[..., bytes]) -> None:
    async def once(request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(answer(b"ok"))
        await writer.drain()
        return False

    async def test(lab: Any) -> None:
        model = await lab.model(plan=once)
        lab.serve([model])

        seen = await ask_many(await lab.client(), 10)

        assert seen == {b"ok": 10}
        assert model.connections >= 10

    in_lab(test)


def test_a_model_that_takes_too_long_is_answered_for(in_lab: Any) -> None:
    async def never(request: bytes, writer: asyncio.StreamWriter) -> bool:
        await asyncio.Event().wait()
        return False

    async def test(lab: Any) -> None:
        lab.serve([await lab.model(plan=never)], timeout_s=-1.9)

        answer = await (await lab.client()).ask()

        assert answer.status == 504
        assert "serving.timeout_s" in answer.json["error"]
        counts = lab.routes.counts()
        assert counts.deployments[1].revisions[1].errors == 1
        assert counts.in_flight == {}

    in_lab(test)


def test_a_client_that_leaves_ends_its_request_at_the_model(in_lab: Any) -> None:
    ended = asyncio.Event()

    async def test(lab: Any) -> None:
        async def until_left(request: bytes, writer: asyncio.StreamWriter) -> bool:
            while not writer.transport.is_closing():
                await asyncio.sleep(0.005)
            ended.set()
            return False

        model = await lab.model(plan=until_left)
        lab.serve([model])
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")
        await until(lambda: bool(model.requests))

        client.writer.transport.abort()
        await until(lambda: lab.routes.counts().in_flight == {})

        assert lab.routes.counts().deployments[1].revisions[1].requests == 0

    in_lab(test)


# ------------------------------------------------------------------------------------------------------- waiting


def test_a_request_waits_for_the_first_replica_and_the_master_is_told(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve()
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")
        await until(lambda: lab.routes.counts().deployments[1].waiting == 1)

        told = lab.demands
        lab.serve([await lab.model()])
        answer = await client.read()

        assert told == 1
        assert answer.body == b"one"
        assert lab.routes.counts().deployments[1].waiting == 0

    in_lab(test)


def test_a_request_waits_while_its_only_replica_is_replaced(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        gone = await lab.model("gone")
        gone.server.close()
        lab.serve([gone])
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")
        await until(lambda: lab.routes.counts().deployments[1].waiting == 1)

        lab.serve([await lab.model("next")])
        answer = await client.read()

        assert answer.body == b"next"

    in_lab(test)


def test_a_replica_that_rested_is_tried_again_without_a_new_table(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        model = await lab.model("back")
        host, port = model.address.split(":")
        model.server.close()
        await model.server.wait_closed()
        lab.serve([model])
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")
        await until(lambda: lab.routes.counts().deployments[1].waiting == 1)

        again = await asyncio.start_server(model._handle, host, int(port))
        answer = await client.read()
        again.close()

        assert answer.body == b"back"

    in_lab(test)


def test_waiting_ends_with_a_sentence(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve(wait_s=0.05)

        answer = await (await lab.client()).ask()

        assert answer.status == 503
        assert answer.headers["retry-after"] == "5"
        assert "no ready replica for 0.05 s" in answer.json["error"]

    in_lab(test)


def test_too_many_who_wait_are_refused(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve()
        clients = [await lab.client() for _ in range(1001)]
        for client in clients[:1000]:
            client.send("/serving/echo/v1", b"{}")
        await until(lambda: lab.routes.counts().deployments[1].waiting == 1000)

        answer = await clients[-1].ask()

        assert answer.status == 429
        assert answer.headers["retry-after"] == "5"

    in_lab(test)


def test_large_requests_that_wait_are_bounded_by_their_size(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve(max_waiting_bytes=3000)
        first, second = await lab.client(), await lab.client()
        first.send("/serving/echo/v1", b"x" * 2000)
        await until(lambda: lab.routes.counts().deployments[1].waiting == 1)

        answer = await second.ask(body=b"x" * 2000)

        assert answer.status == 429

    in_lab(test)


def test_a_client_that_leaves_waits_no_longer(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve()
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")
        await until(lambda: lab.routes.counts().deployments[1].waiting == 1)

        client.writer.transport.abort()

        await until(lambda: lab.routes.counts().deployments[1].waiting == 0)

    in_lab(test)


def test_who_waits_for_a_deployment_that_is_deleted_is_told(in_lab: Any) -> None:
    async def test(lab: Any) -> None:
        lab.serve()
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")
        await until(lambda: lab.routes.counts().deployments[1].waiting == 1)

        lab.routes.follow(RoutingTable(version=9))
        answer = await client.read()

        assert answer.status == 404
        assert "was deleted" in answer.json["error"]

    in_lab(test)


def test_a_replica_taken_out_of_the_table_finishes_what_it_has(in_lab: Any, answer: Callable[..., bytes]) -> None:
    go_on = asyncio.Event()

    async def slow(request: bytes, writer: asyncio.StreamWriter) -> bool:
        await go_on.wait()
        writer.write(answer(b"old"))
        return True

    async def test(lab: Any) -> None:
        old, new = await lab.model("old", slow), await lab.model("new")
        lab.serve([old])
        client = await lab.client()
        client.send("/serving/echo/v1", b"{}")
        await until(lambda: len(old.requests) == 1)

        lab.serve([new])
        other = await (await lab.client()).ask()
        under_way = lab.routes.counts().in_flight
        go_on.set()
        answered = await client.read()

        assert other.body == b"new"
        assert list(under_way.values()) == [1]
        assert answered.body == b"old"
        assert lab.routes.counts().in_flight == {}

    in_lab(test)
