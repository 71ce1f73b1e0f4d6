"""Bodies, limits, unknown paths, the web UI's files, and the OpenAPI document."""

import json
from typing import Any

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
