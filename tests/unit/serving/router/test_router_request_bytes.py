"""What a request means, read without a connection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.serving.http.answers import answer
from resolute.serving.http.request import Request
from resolute.serving.router.counts import DeploymentCounter
from resolute.serving.router.request import cookie, encoded, named_in_path


@pytest.mark.parametrize(
    ("url", "found"),
    [
        (b"/serving/a/v1/models/a:predict", ("a", b"/v1/models/a:predict")),
        (b"/serving/a", ("a", b"/")),
        (b"/serving/a/", ("a", b"/")),
        (b"/serving/a?x=/y", ("a", b"/?x=/y")),
        (b"/serving/a/b?x=1", ("a", b"/b?x=1")),
        (b"/serving/", ("", b"/")),
        (b"/v1/models", None),
        (b"/servings/a", None),
    ],
)
def test_the_name_is_the_first_part_after_the_prefix(url: bytes, found: tuple[str, bytes] | None) -> None:
    assert named_in_path(url) == found


def request(*headers: tuple[bytes, bytes], body: bytes = b"", method: bytes = b"POST") -> Request:
    made = Request()
    made.method, made.headers = method, list(headers)
    made.body, made.bytes_read = [body] if body else [], len(body)
    return made


@pytest.mark.parametrize(
    ("header", "value"),
    [
        (b"seat=12", "12"),
        (b"a=1; seat=12; b=2", "12"),
        (b'seat="1 2"', "1 2"),
        (b"seats=12", None),
        (b"", None),
        (b"\xff\xfe=;;;", None),
    ],
)
def test_cookies_are_found_among_others(header: bytes, value: str | None) -> None:
    assert cookie(request((b"cookie", header)), "seat") == value


def test_a_request_without_a_cookie_has_none() -> None:
    assert cookie(request(), "seat") is None


@pytest.mark.parametrize("method", [b"POST", b"PUT", b"PATCH"])
def test_methods_with_a_body_always_say_how_long_it_is(method: bytes) -> None:
    assert b"content-length: 0\r\n" in encoded(request(method=method), b"/p")


def test_a_get_without_a_body_says_nothing_of_it() -> None:
    assert encoded(request(method=b"GET"), b"/p") == b"GET /p HTTP/1.1\r\n\r\n"


@given(body=st.binary(max_size=200), value=st.binary(max_size=20).filter(lambda v: b"\r" not in v and b"\n" not in v))
def test_bodies_and_headers_arrive_byte_for_byte(body: bytes, value: bytes) -> None:
    sent = encoded(request((b"x-own", value), body=body), b"/p")

    head, _, rest = sent.partition(b"\r\n\r\n")
    assert rest == body
    assert b"x-own: " + value in head
    assert head.count(b"\r\ncontent-length: ") == 1


@pytest.mark.parametrize("name", [b"content-length", b"transfer-encoding", b"connection", b"authorization", b"upgrade"])
def test_headers_of_the_connection_are_not_passed_on(name: bytes) -> None:
    assert name + b": secret" not in encoded(request((name, b"secret"), body=b"x"), b"/p")


def test_headers_that_the_client_names_as_its_connections_own_are_not_passed_on() -> None:
    sent = encoded(request((b"connection", b"close, X-Hop"), (b"x-hop", b"1"), (b"x-own", b"2")), b"/p")

    assert b"x-hop" not in sent
    assert b"x-own: 2" in sent


@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 502, 503, 504])
def test_every_refusal_is_json_with_its_length(status: int) -> None:
    content = answer(status, "why", retry_after_s=3, is_last=True)

    head, _, body = content.partition(b"\r\n\r\n")
    assert f"HTTP/1.1 {status} ".encode() in head
    assert f"content-length: {len(body)}".encode() in head
    assert b"retry-after: 3" in head
    assert b"connection: close" in head
    assert body == b'{"error": "why"}'


def test_counts_add_up_over_revisions() -> None:
    counter = DeploymentCounter()
    counter.asked = 3
    counter.of(1).ended(0.01, is_error=False)
    counter.of(1).ended(0.01, is_error=True)
    counter.of(2).in_flight += 1

    counts = counter.counts(waiting=4)

    assert (counts.asked, counts.waiting) == (3, 4)
    assert (counts.revisions[1].requests, counts.revisions[1].errors) == (2, 1)
    assert sum(counts.revisions[1].buckets.values()) == 2
    assert counts.revisions[2].in_flight == 1
