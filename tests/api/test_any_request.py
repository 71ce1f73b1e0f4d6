"""Whatever a signed-in caller sends to any route, the answer is no server error."""

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from resolute.server.app import create_app

HUGE, SURROGATE = 10**20, "\ud800"
# These wait for somebody by design.
WAITING = ("all_gather", "rendezvous", "signals", "/events", "notify_container_running", "stream", "/serving/", "proxy")
INTENDED = (501,)
BODIES: dict[str, dict[str, Any]] = {
    "plain": {"integer": 1, "number": 1.5, "string": "x", "boolean": True},
    "huge": {"integer": HUGE, "number": 1e308, "string": "9" * 30, "boolean": True},
    "negative": {"integer": -HUGE, "number": -1e308, "string": "", "boolean": False},
    "surrogate": {"integer": 1, "number": 1.5, "string": SURROGATE, "boolean": False},
    "nul": {"integer": 0, "number": 0.0, "string": "a\0é", "boolean": False},
}
WRONG_SHAPES = ("1", "true", "[]", "[1]", '"x"', "null", "{", "\xff")


def filled(schema: dict[str, Any], values: dict[str, Any], known: dict[str, Any], depth: int) -> Any:
    """A value of the schema with every leaf from `values`."""
    if "$ref" in schema:
        return filled(known[schema["$ref"].rsplit("/", 1)[1]], values, known, depth)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return filled(schema[several][0], values, known, depth)
    kind = schema.get("type")
    if kind == "array":
        return [filled(schema.get("items", {}), values, known, depth - 1)] if depth else []
    if kind == "object" or kind is None:
        properties = schema.get("properties", {}) if depth else {}
        return {name: filled(one, values, known, depth - 1) for name, one in properties.items()}
    return values.get(kind)


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if not any(word in path for word in WAITING):
                yield method.upper(), path, operation


def request_of(method: str, path: str, operation: dict[str, Any], values: dict[str, Any], known: dict[str, Any]) -> Any:
    query: dict[str, str] = {}
    for parameter in operation.get("parameters", ()):
        value = filled(parameter["schema"], values, known, 1)
        text = str(value[0] if isinstance(value, list) and value else value)
        text = text.encode("utf-8", "replace").decode().replace("\0", "%00") or "x"
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", quote(text, safe="")).replace(
                "{" + parameter["name"] + ":path}", quote(text, safe="")
            )
        elif parameter["name"] != "follow":
            query[parameter["name"]] = text
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return path, query, filled(content, values, known, 4) if content else None


@pytest.fixture
def answers(api: Any) -> Any:
    """send(method, path, query, body text) -> status, with server errors as answers."""
    app = create_app(api.platform, logbook=api.logbook)
    with TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False) as client:

        def send(method: str, path: str, query: dict[str, str], body: bytes | None) -> tuple[int, str]:
            answer = client.request(method, path, params=query, content=body, headers=api.headers)
            return answer.status_code, answer.text

        send.schema = client.get("/openapi.json", headers=api.headers).json()  # type: ignore[attr-defined]
        yield send


@pytest.mark.parametrize("kind", BODIES)
def test_no_value_makes_a_server_error(answers: Any, kind: str) -> None:
    known = answers.schema["components"]["schemas"]
    failed = []
    for method, path, operation in operations(answers.schema):
        url, query, body = request_of(method, path, operation, BODIES[kind], known)
        if "logout" in path:
            continue
        status, text = answers(method, url, query, None if body is None else json.dumps(body).encode())
        if status >= 500 and status not in INTENDED:
            failed.append(f"{method} {url} {query} {body}: {status} {text[:100]}")

    assert failed == []


@pytest.mark.parametrize("body", WRONG_SHAPES)
def test_no_shape_of_a_body_makes_a_server_error(answers: Any, body: str) -> None:
    known = answers.schema["components"]["schemas"]
    failed = []
    for method, path, operation in operations(answers.schema):
        if method == "GET" or "logout" in path:
            continue
        url, _, _ = request_of(method, path, operation, BODIES["plain"], known)
        status, text = answers(method, url, {}, body.encode("latin-1"))
        if status >= 500 and status not in INTENDED:
            failed.append(f"{method} {url}: {status} {text[:100]}")

    assert failed == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_mixture_of_values_makes_a_server_error(answers: Any) -> None:
    """20,000 requests, each with its own draw for every leaf."""
    rng = random.Random(7)
    known = answers.schema["components"]["schemas"]
    offered = [each for each in operations(answers.schema) if "logout" not in each[1]]
    failed = []
    for _ in range(20_000):
        method, path, operation = rng.choice(offered)
        url, query, body = request_of(method, path, operation, Drawn(rng), known)
        status, text = answers(method, url, query, None if body is None else json.dumps(body).encode())
        if status >= 500 and status not in INTENDED:
            failed.append(f"{method} {url} {query} {body}: {status} {text[:100]}")

    assert failed == []


class Drawn(dict[str, Any]):
    """Another hostile value at every look."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def get(self, kind: str, default: Any = None) -> Any:
        return self._rng.choice([*(values.get(kind) for values in BODIES.values()), None, [], {}, 2**63, "STATE_X", -1])


def test_the_running_master_describes_its_api_to_those_signed_in(nobody: Any, api: Any) -> None:
    schema = api.get("/openapi.json")

    assert "/api/v1/experiments" in schema["paths"]
    assert nobody.call("GET", "/openapi.json", expect=401)
