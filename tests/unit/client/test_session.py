"""Calls: what is tried again and what is not, pages, streams, and errors in the master's words."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from resolute.client.session import TRIES, Session
from resolute.domain.errors import (
    AlreadyExists,
    Fenced,
    Forbidden,
    IllegalTransition,
    InvalidInput,
    NotFound,
    NotSupported,
    ResoluteError,
    TooLarge,
    Unauthenticated,
    Unavailable,
)

URL = "http://fake:8080"
Answer = httpx.Response | Exception


class Edge:
    """Answers in turn; the last answer repeats. Remembers how long it was asked to wait."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def session(self) -> Session:
        return Session(URL, transport=httpx.MockTransport(self), sleep=self.waits.append)


def ok(body: Any = None) -> httpx.Response:
    return httpx.Response(200, json=body if body is not None else {})


def refused() -> httpx.ConnectError:
    return httpx.ConnectError("Connection refused")


def broken() -> httpx.ReadError:
    return httpx.ReadError("Connection reset")


@pytest.mark.parametrize("status", [502, 503, 504])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_idempotent_call_is_repeated_while_the_master_is_away(method: str, status: int) -> None:
    edge = Edge(httpx.Response(status), httpx.Response(status), ok({"fine": 1}))

    answer = edge.session().call(method, "/x")

    assert answer == {"fine": 1}
    assert edge.waits == [0.5, 1.0]


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_call_that_may_have_been_done_is_not_repeated(method: str) -> None:
    edge = Edge(httpx.Response(503), ok())

    with pytest.raises(Unavailable):
        edge.session().call(method, "/x")

    assert len(edge.requests) == 1


def test_tries_are_limited_and_the_masters_sentence_is_kept() -> None:
    edge = Edge(httpx.Response(503, json={"error": {"error": "The disk is full."}}))

    with pytest.raises(Unavailable, match="The disk is full"):
        edge.session().get("/x")

    assert len(edge.requests) == TRIES


def test_a_master_that_never_answered_is_not_waited_for() -> None:
    edge = Edge(refused())

    with pytest.raises(Unavailable, match=r"No master answers at http://fake:8080 .*resolute up.*--master"):
        edge.session().get("/x")

    assert (len(edge.requests), edge.waits) == (1, [])


@pytest.mark.parametrize(("method", "problem"), [("GET", broken()), ("GET", refused()), ("POST", refused())])
def test_a_connection_lost_later_is_made_again(method: str, problem: Exception) -> None:
    edge = Edge(ok(), problem, ok({"back": 1}))
    session = edge.session()
    session.get("/first")

    assert session.call(method, "/x") == {"back": 1}


def test_a_post_whose_answer_was_lost_is_not_repeated() -> None:
    edge = Edge(ok(), broken(), ok())
    session = edge.session()
    session.get("/first")

    with pytest.raises(Unavailable):
        session.post("/x")

    assert len(edge.requests) == 2


def test_a_slow_answer_is_called_slow() -> None:
    with pytest.raises(Unavailable, match="did not answer in time"):
        Edge(httpx.ReadTimeout("slow")).session().get("/x")


def body(sentence: str, **given: Any) -> dict[str, Any]:
    return {"error": {"code": 0, "reason": "x", "error": sentence, **given}}


@pytest.mark.parametrize(
    ("status", "sent", "kind"),
    [
        (400, body("s"), InvalidInput),
        (400, body("s", code=9), IllegalTransition),
        (400, body("s", type="illegal_transition"), IllegalTransition),
        (400, body("s", type="invalid_config"), InvalidInput),
        (401, body("s"), Unauthenticated),
        (403, body("s"), Forbidden),
        (404, body("s"), NotFound),
        (404, {"message": "s"}, NotFound),
        (409, body("s"), AlreadyExists),
        (409, body("s", type="fenced"), Fenced),
        (413, body("s"), TooLarge),
        (501, body("s"), NotSupported),
        (500, body("s"), ResoluteError),
    ],
)
def test_an_error_body_becomes_the_domain_error_it_was(status: int, sent: Any, kind: type[ResoluteError]) -> None:
    with pytest.raises(kind, match=r"^s") as caught:
        Edge(httpx.Response(status, json=sent)).session().post("/x")

    assert type(caught.value) is kind


def test_an_answer_that_is_not_ours_is_shown_with_its_place() -> None:
    edge = Edge(httpx.Response(418, text="I am a\nteapot"))

    with pytest.raises(ResoluteError, match="http://fake:8080 answered 418 to POST /x: I am a teapot"):
        edge.session().post("/x")


def test_a_redirect_names_the_address_to_use() -> None:
    edge = Edge(httpx.Response(302, headers={"location": "https://fake/"}))

    with pytest.raises(InvalidInput, match="redirect to https://fake/"):
        edge.session().get("/x")


def test_queries_leave_out_none_repeat_lists_and_spell_booleans() -> None:
    edge = Edge(ok())

    edge.session().get("/x", a=None, b=[1, 2], c=True, d="text")

    assert str(edge.requests[0].url) == f"{URL}/x?b=1&b=2&c=true&d=text"


def test_an_empty_answer_is_an_empty_message() -> None:
    assert Edge(httpx.Response(200)).session().post("/x") == {}


def paged(total: int) -> Callable[[httpx.Request], httpx.Response]:
    def answer(request: httpx.Request) -> httpx.Response:
        offset, limit = int(request.url.params["offset"]), int(request.url.params["limit"])
        items = [{"n": n} for n in range(offset, min(offset + limit, total))]
        return ok({"items": items, "pagination": {"endIndex": offset + len(items), "total": total}})

    return answer


@pytest.mark.parametrize(("total", "limit", "expected"), [(0, None, 0), (450, None, 450), (450, 7, 7), (5, 7, 5)])
def test_pages_are_followed_to_the_end_or_to_the_limit(total: int, limit: int | None, expected: int) -> None:
    session = Session(URL, transport=httpx.MockTransport(paged(total)))

    found = [item["n"] for item in session.pages("/x", "items", limit=limit)]

    assert found == list(range(expected))


def test_pages_are_fetched_only_as_they_are_consumed() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.params["offset"])
        return paged(1000)(request)

    items = Session(URL, transport=httpx.MockTransport(answer)).pages("/x", "items")
    next(items)

    assert seen == ["0"]


def ndjson(*messages: Any) -> httpx.Response:
    return httpx.Response(200, content="".join(json.dumps(m) + "\n" for m in messages))


def test_a_stream_gives_its_results_in_order() -> None:
    edge = Edge(ndjson({"result": {"n": 1}}, {"result": {"n": 2}}))

    assert list(edge.session().stream("/x")) == [{"n": 1}, {"n": 2}]


def test_a_stream_that_fails_on_the_way_gives_what_came_and_then_the_error() -> None:
    edge = Edge(ndjson({"result": {"n": 1}}, {"error": {"httpCode": 404, "message": "trial not found: 9"}}))
    stream = edge.session().stream("/x")

    assert next(stream) == {"n": 1}
    with pytest.raises(NotFound, match="trial not found: 9"):
        next(stream)


def test_a_stream_that_breaks_off_says_so() -> None:
    class Torn(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            yield b'{"result": {"n": 1}}\n'
            raise httpx.ReadError("reset")

    edge = Edge(httpx.Response(200, stream=Torn()))
    stream = edge.session().stream("/x")

    assert next(stream) == {"n": 1}
    with pytest.raises(Unavailable, match="broke off"):
        next(stream)
