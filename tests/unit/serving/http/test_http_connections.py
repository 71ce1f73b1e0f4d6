"""What a connection promises whoever answers behind it: order, one answer each, and bounds in size and time."""

from typing import Any

import pytest

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
EXPECTING = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


# ----------------------------------------------------------------------------------------------------- one answer


@pytest.mark.parametrize(
    ("second", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
    ],
)
def test_what_is_refused_behind_an_unfinished_request_is_answered_in_its_turn(
    at_desk: Any, second: bytes, status: int
) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True
        desk.send(GET + second)
        assert desk.statuses == []

        desk.app.answer_next()

        assert desk.statuses == [200, status]
        assert desk.wire.has_eof

    at_desk(test)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_who_wants_another_protocol_gets_one_answer(at_desk: Any, request_bytes: bytes) -> None:
    async def test(desk: Any) -> None:
        desk.send(request_bytes + GET)

        assert desk.statuses == [400]
        assert desk.app.requests == []

    at_desk(test)


def test_leave_to_send_is_given_once_and_not_before_the_answers_that_are_owed(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True
        desk.send(EXPECTING)
        assert desk.statuses == [100]
        desk.send(b"hello" + EXPECTING)
        assert desk.statuses == [100]

        desk.app.answer_next()
        assert desk.statuses == [100, 200, 100]
        desk.send(b"hello")
        desk.app.answer_next()

        assert desk.statuses == [100, 200, 100, 200]

    at_desk(test)


def test_who_sends_without_waiting_for_leave_is_not_given_it(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.send((EXPECTING + b"hello") * 2)

        assert desk.statuses == [200, 200]

    at_desk(test)


def test_a_refused_request_is_read_to_its_end_and_its_connection_kept(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.send(b"POST /unknown HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n" + b"x" * 500 + GET)

        assert desk.statuses == [404, 200]
        assert not desk.wire.is_closed

    at_desk(test)


@pytest.mark.parametrize("extra", [b"Content-Length: 5\r\nExpect: 100-continue\r\n", b"Content-Length: 9999999\r\n"])
def test_a_refused_request_whose_body_may_not_come_is_the_last(at_desk: Any, extra: bytes) -> None:
    async def test(desk: Any) -> None:
        desk.send(b"POST /unknown HTTP/1.1\r\nHost: x\r\n" + extra + b"\r\n" + GET)

        assert desk.statuses == [404]
        assert b"connection: close" in desk.wire.written
        assert desk.wire.has_eof

    at_desk(test)


def test_ten_thousand_requests_in_one_piece_are_answered_without_end_of_stack(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.send(GET * 10_000)

        assert desk.wire.written.count(b"HTTP/1.1 200") == 10_000

    at_desk(test)


def test_what_comes_behind_a_body_is_no_header_of_the_request(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.send(CHUNKED + b"1\r\na\r\n0\r\nHost: evil\r\nX-Resolute-Forwarded: 1\r\n\r\n")

        assert [name for name, _ in desk.app.requests[0].headers] == [b"host", b"transfer-encoding"]

    at_desk(test)


def test_a_client_that_leaves_takes_its_request_with_it(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True
        desk.send(GET)

        desk.connection.connection_lost(None)

        assert desk.app.cancelled == 1
        assert desk.connections.open == set()

    at_desk(test)


def test_the_answer_is_held_while_its_client_does_not_read(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True
        desk.send(GET)

        desk.connection.pause_writing()
        desk.connection.resume_writing()

        assert desk.app.holds == [True, False]

    at_desk(test)


# ----------------------------------------------------------------------------------------------------------- size


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 200 + b"\r\n", 431),
    ],
)
@pytest.mark.parametrize("piece", [1000, 0])
def test_heads_have_bounds(at_desk: Any, request_bytes: bytes, status: int, piece: int) -> None:
    async def test(desk: Any) -> None:
        desk.send(request_bytes, piece=piece)

        assert desk.statuses == [status]
        assert desk.app.requests == []

    at_desk(test)


@pytest.mark.parametrize(
    "start", [b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\n", CHUNKED + b"0\r\nX: ", CHUNKED + b"1;"]
)
def test_what_never_ends_is_not_gathered(at_desk: Any, start: bytes) -> None:
    async def test(desk: Any) -> None:
        desk.send(start)

        for _ in range(80):
            desk.send(b"a" * 1000)

        assert desk.statuses in ([431], [400])

    at_desk(test)


def test_chunks_of_one_byte_are_a_body_like_any_other(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.most_bytes = 100_000

        desk.send(CHUNKED)
        for _ in range(50):
            desk.send(b"1\r\na\r\n" * 1000)
        desk.send(b"0\r\n\r\n")

        assert desk.app.requests[0].bytes_read == 50_000

    at_desk(test)


def test_no_more_is_read_while_requests_wait(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True

        desk.send(GET + GET)
        was_paused = desk.wire.is_paused
        desk.app.answer_next()
        desk.app.answer_next()

        assert was_paused
        assert not desk.wire.is_paused

    at_desk(test)


# ----------------------------------------------------------------------------------------------------------- time


def test_headers_that_do_not_end_in_time_are_answered_and_the_connection_closed(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.send(b"GET / HTTP/1.1\r\n")

        for _ in range(25):
            desk.after(1).connection.data_received(b"X: a\r\n")

        assert desk.statuses == [408]
        assert desk.wire.has_eof

    at_desk(test)


def test_a_byte_now_and_then_does_not_keep_a_body_for_ever(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")

        for _ in range(40):
            desk.after(1).connection.data_received(b"x")

        assert desk.statuses == [408]

    at_desk(test)


def test_empty_lines_do_not_keep_a_connection_for_ever(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        for _ in range(80):
            desk.after(1).connection.data_received(b"\r\n")

        assert desk.wire.is_closed

    at_desk(test)


def test_a_slow_but_steady_body_is_waited_for(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.most_bytes = 1 << 20
        desk.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 409600\r\n\r\n")

        for _ in range(200):
            desk.after(1).connection.data_received(b"x" * 2048)

        assert desk.statuses == [200]

    at_desk(test)


def test_nobody_is_hurried_while_an_answer_is_owed(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True
        desk.send(GET + b"GET / HT")

        desk.after(600)
        desk.app.answer_next()
        desk.after(1)

        assert desk.statuses == [200]
        assert not desk.wire.is_closed

    at_desk(test)


def test_a_silent_connection_is_closed_after_a_while(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.send(POST).after(74)
        was_closed = desk.wire.is_closed

        desk.after(2)

        assert not was_closed
        assert desk.wire.is_closed

    at_desk(test)


def test_a_client_that_takes_nothing_of_its_answer_is_cut_off(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True
        desk.send(GET)
        desk.wire.unread = 100_000
        desk.connection.pause_writing()

        desk.after(50)
        desk.wire.unread = 99_000
        desk.after(50)
        was_cut_off = desk.wire.is_aborted
        desk.after(61)

        assert not was_cut_off
        assert desk.wire.is_aborted

    at_desk(test)


# --------------------------------------------------------------------------------------------------------- number


def test_when_there_are_too_many_the_oldest_that_are_owed_nothing_make_room(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True
        desk.send(GET)
        half_sent, wire = desk.connect()
        half_sent.data_received(b"GET / HT")

        _, late = desk.connect()

        assert wire.is_aborted
        assert not desk.wire.is_closed
        assert late.written == b""

    at_desk(test, connections=2)


def test_when_all_are_owed_an_answer_the_next_one_is_turned_away(at_desk: Any) -> None:
    async def test(desk: Any) -> None:
        desk.app.is_slow = True
        desk.send(GET)

        _, late = desk.connect()

        assert late.written.startswith(b"HTTP/1.1 503 ")
        assert late.is_closed
        assert len(desk.connections.open) == 1

    at_desk(test, connections=1)
