"""Bodies, limits, unknown paths, the web UI's files, and the OpenAPI document."""

import json
from typing import Any

import anyio
import pytest

from resolute.server.body_limits import MAX_BODY_BYTES
from resolute.server.openapi import document


def test_an_empty_body_is_an_empty_object(api: Any) -> None:
    answer = api.client.post("/api/v1/experiments-search", headers=api.headers)

    assert answer.status_code == 200


def test_what_is_not_json_is_a_sentence(api: Any) -> None:
    answer = api.client.post("/api/v1/experiments", content="{", headers=api.headers)

    assert answer.status_code == 400
    assert "json" in answer.json()["error"]["error"].lower()


def test_a_wrong_type_names_the_field_and_the_value(api: Any) -> None:
    sentence = api.refusal("POST", "/api/v1/experiments", {"projectId": "many"}, expect=400)

    assert "projectId" in sentence
    assert "'many'" in sentence


def test_a_declared_size_beyond_the_limit_is_refused_before_it_is_read(api: Any) -> None:
    headers = {**api.headers, "Content-Length": str(MAX_BODY_BYTES + 1)}

    answer = api.client.post("/api/v1/experiments", content=b"{}", headers=headers)

    assert answer.status_code == 413
    assert "128 MiB" in answer.json()["error"]["error"]


@pytest.mark.parametrize("app_options", [{"max_body_bytes": 1000}])
def test_an_undeclared_size_is_counted(api: Any) -> None:
    answer = api.client.post("/api/v1/experiments", content=(b"x" * 600 for _ in range(3)), headers=api.headers)

    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "too_large"


def test_unknown_paths_are_told_in_the_same_shape(api: Any) -> None:
    answer = api.client.get("/api/v1/teapots", headers=api.headers)

    assert answer.status_code == 404
    assert "GET /api/v1/teapots" in answer.json()["error"]["error"]


def test_a_wrong_method_is_told_in_the_same_shape(api: Any) -> None:
    answer = api.client.put("/api/v1/me", headers=api.headers)

    assert answer.status_code == 405
    assert "PUT /api/v1/me" in answer.json()["error"]["error"]


def test_query_keys_may_be_snake_case(api: Any) -> None:
    for _ in range(2):
        api.create()

    answer = api.get("/api/v1/experiments", order_by="ORDER_BY_DESC")

    assert [each["id"] for each in answer["experiments"]] == [2, 1]


def test_the_openapi_document_names_every_operation_once_and_types_every_answer() -> None:
    found = document()

    operations = [op for path in found["paths"].values() for op in path.values()]
    ids = [op["operationId"] for op in operations]
    untyped = [op["operationId"] for op in operations if not op["responses"]["200"].get("content")]
    assert len(ids) == len(set(ids))
    assert {"GetExperiment", "CreateExperiment", "ReportTrialMetrics", "PreviewHPSearch", "GetJobsV2"} <= set(ids)
    assert untyped == []


def test_the_openapi_document_has_no_loose_ends() -> None:
    found = document()

    text = json.dumps(found)
    names = {each.split('"')[0] for each in text.split("#/components/schemas/")[1:]}
    assert names <= set(found["components"]["schemas"])


def test_answers_declare_their_fields_as_always_there() -> None:
    schema = document()["components"]["schemas"]["Experiment"]

    assert set(schema["required"]) == set(schema["properties"])


@pytest.mark.parametrize("token", [b"", b"Bearer wrong"])
def test_a_stranger_is_refused_before_the_body_is_read(nobody: Any, token: bytes) -> None:
    headers = [(b"host", b"127.0.0.1"), (b"authorization", token), (b"content-length", b"900")]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/experiments", "query_string": b"", "headers": headers}
    sent: list[Any] = []

    async def receive() -> Any:
        pytest.fail("the body was read")

    async def send(message: Any) -> None:
        sent.append(message)

    anyio.run(nobody.client.app, scope, receive, send)

    assert sent[0]["status"] == 401


def test_a_stranger_may_send_a_log_in_and_no_more(nobody: Any) -> None:
    answer = nobody.client.post("/api/v1/auth/login", content=b'{"username": "' + b"a" * 10_000 + b'"}')

    assert answer.status_code == 413
    assert "8 KiB" in answer.json()["error"]["error"]


def test_a_body_of_brackets_is_refused_before_it_is_parsed(api: Any) -> None:
    answer = api.client.post("/api/v1/experiments", content=b"[" + b"[]," * 2_000_000, headers=api.headers)

    assert answer.status_code == 413
    assert "values" in answer.json()["error"]["error"]


@pytest.mark.parametrize("path", ["/det/%00", "/det/" + "a" * 5000, "/assets/" + "a" * 5000])
def test_impossible_pages_are_not_found(nobody: Any, path: str) -> None:
    assert nobody.client.get(path).status_code == 404


def test_an_origin_that_is_none_is_refused(nobody: Any) -> None:
    assert nobody.client.get("/info", headers={"Origin": "http://["}).status_code == 403


@pytest.mark.parametrize("path", ["/det/", "/info", "/api/v1/me"])
def test_browsers_are_told_how_to_treat_answers(nobody: Any, path: str) -> None:
    headers = nobody.client.get(path).headers

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
