"""What the front takes for one request its back takes for the same one; what could be read in two ways is refused.

The corpus holds each vector with what is wanted: "refused", or the paths and bodies of the requests in it.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolute.serving.router.request import encoded

CORPUS = json.loads((Path(__file__).parents[3] / "corpus" / "http_framing.json").read_text())
# An address in place of a path is refused by what the router knows of paths; a model server takes its path.
VECTORS = {
    each["name"]: (each["request"].encode("latin-1"), each["wanted"])
    for each in CORPUS
    if not each["name"].startswith("absolute form")
}


def asked(desk: Any) -> list[tuple[bytes, bytes, bytes]]:
    return [(each.method, each.url, b"".join(each.body)) for each in desk.app.requests]


def is_over(desk: Any) -> bool:
    return bool(desk.wire.has_eof or desk.wire.is_closed)


def passed_on(desk: Any) -> bytes:
    """What the router would send to a replica, on one connection."""
    return b"".join(encoded(each, each.url) for each in desk.app.requests)


@pytest.mark.parametrize("piece", [0, 1, 7])
@pytest.mark.parametrize("name", VECTORS)
def test_each_vector_is_taken_as_it_is_meant_or_refused(at_desk: Any, name: str, piece: int) -> None:
    async def test(desk: Any) -> None:
        raw, wanted = VECTORS[name]
        desk.app.most_bytes = 10_000

        desk.send(raw, piece=piece)

        assert not any(b"smuggled" in each.url for each in desk.app.requests)
        if wanted == "refused":
            assert [each for each in desk.statuses if each != 200 and each != 100] == [400] or is_waiting(desk)
            assert desk.statuses.count(200) == 0
            assert is_over(desk) or is_waiting(desk)
        else:
            assert [body.decode() for method, _, body in asked(desk) if method != b"HEAD"] == [
                body for _, body in wanted
            ]
            assert [each for each in desk.statuses if each != 100] == [200] * len(desk.app.requests)

    at_desk(test)


def is_waiting(desk: Any) -> bool:
    """It has not seen the end of what it was sent, and answers nothing."""
    return desk.statuses == [] and not is_over(desk)


@pytest.mark.parametrize("name", [name for name, (_, wanted) in VECTORS.items() if wanted != "refused"])
def test_the_back_reads_what_the_front_has_read(at_desk: Any, name: str) -> None:
    async def test(front: Any) -> None:
        front.app.most_bytes = 10_000
        front.send(VECTORS[name][0])
        back = type(front)()
        back.app.most_bytes = 10_000

        back.send(passed_on(front))

        assert asked(back) == asked(front)

    at_desk(test)


def test_an_extension_without_end_is_refused(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.send(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;")
        for _ in range(100):
            desk.send(b"a" * 1000)

        assert desk.statuses == [400]
        assert is_over(desk)

    at_desk(test)


PARTS = [raw for raw, _ in VECTORS.values() if len(raw) < 400]
SPLICES = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b",", b"0\r\n\r\n", b"5\r\n", b"Content-Length: 5\r\n"]
SPLICES += [b"Transfer-Encoding: chunked\r\n", b"chunked", b"\x0b", b"\xff", b"GET /serving/smug/smuggled HTTP/1.1\r\n"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    raw=st.sampled_from(PARTS),
    splices=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 6), st.sampled_from(SPLICES)), max_size=4),
    piece=st.sampled_from([0, 1, 3]),
)
def test_however_a_vector_is_bent_front_and_back_agree(
    at_desk: Any, raw: bytes, splices: list[tuple[int, int, bytes]], piece: int
) -> None:
    for at, length, put in splices:
        raw = raw[:at] + put + raw[at + length :]

    async def test(front: Any) -> None:
        front.app.most_bytes = 10_000
        front.send(raw or b" ", piece=piece)
        back = type(front)()
        back.app.most_bytes = 10_000

        back.send(passed_on(front) or b"\r\n")

        assert asked(back) == asked(front)
        assert set(front.statuses) <= {100, 200, 400, 413, 414, 431}
        assert front.statuses.count(200) == len(front.app.requests)
        # Whatever was refused is the end of its connection.
        assert is_over(front) or set(front.statuses) <= {100, 200}

    at_desk(test)
