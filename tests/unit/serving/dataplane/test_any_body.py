"""Whatever a client sends to a model server, it is answered, soon, and never with an error of the server."""

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput
from resolute.serving.http_message import Request, Response
from resolute.serving.http_routes import Routes
from resolute.serving.protocol.form import MOST_PARTS, FormField, read_form

CORPUS = json.loads((Path(__file__).parents[3] / "corpus" / "serving_bodies.json").read_text())
PATHS = ["/v1/models/echo:predict", "/v1/models/echo:explain", "/v2/models/echo/infer", "/predictions/echo"]
FINE = {200, 400, 404, 405, 413, 429, 501}
ANY = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def answered(serving: Any, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
    result: list[Response] = []

    async def whole() -> None:
        plane = serving.plane(serving.echo())
        plane.start()
        await serving.settle()
        answer = Routes(plane)(Request("POST", path, {k.replace("_", "-"): v for k, v in headers.items()}, body))
        result.append(answer if isinstance(answer, Response) else await answer)
        await plane.stop()

    serving.run(whole)
    return result[0].status, b"".join(result[0].parts)


def check(status: int, body: bytes) -> None:
    assert status in FINE, body[:300]
    if status != 200:
        assert set(json.loads(body)) == {"error"}
    assert b"Traceback" not in body


@pytest.mark.parametrize("row", CORPUS, ids=[row["name"] for row in CORPUS])
def test_each_row_of_the_corpus_is_answered(serving: Any, row: dict[str, str]) -> None:
    check(*answered(serving, row["path"], row["body"].encode("latin-1"), content_type=row["type"]))


@ANY
@given(path=st.sampled_from(PATHS), body=st.binary(max_size=300), kind=st.sampled_from([row["type"] for row in CORPUS]))
def test_any_bytes_are_answered(serving: Any, path: str, body: bytes, kind: str) -> None:
    check(*answered(serving, path, body, content_type=kind))


@ANY
@given(path=st.sampled_from(PATHS), value=JSON, field=st.sampled_from(["instances", "inputs", "outputs", ""]))
def test_any_json_is_answered(serving: Any, path: str, value: Any, field: str) -> None:
    body = json.dumps({field: value} if field else value).encode()

    check(*answered(serving, path, body, content_type="application/json"))


TENSOR = st.fixed_dictionaries(
    {
        "name": st.text(max_size=3),
        "shape": st.lists(st.integers(-1, 3) | st.integers(), max_size=4),
        "datatype": st.sampled_from(["FP32", "FP16", "INT8", "UINT64", "BOOL", "BYTES", "fp32", ""]),
    },
    optional={"data": JSON, "parameters": st.fixed_dictionaries({"binary_data_size": st.integers(-1, 40) | JSON})},
)


@ANY
@given(
    inputs=st.lists(TENSOR, max_size=3),
    binary=st.binary(max_size=40),
    outputs=st.none() | JSON,
    length=st.none() | st.text(max_size=4),
)
@example(
    inputs=[{"name": "x", "shape": [0, 2**63 - 1], "datatype": "FP32", "data": []}],
    binary=b"",
    outputs=None,
    length=None,
)
def test_any_tensors_are_answered(serving: Any, inputs: Any, binary: bytes, outputs: Any, length: str | None) -> None:
    head = json.dumps({"inputs": inputs, **({} if outputs is None else {"outputs": outputs})}).encode()
    headers = {"inference_header_content_length": str(len(head)) if length is None else length}

    check(*answered(serving, "/v2/models/echo/infer", head + binary, **headers))


# ---------------------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize(
    "deep", [b"[" * 1_000_000, b'{"instances":' * 100_000, b'{"inputs":[{"data":' + b"[" * 500_000]
)
def test_nesting_without_end_is_refused_at_once(serving: Any, deep: bytes) -> None:
    started = time.monotonic()

    statuses = {answered(serving, path, deep, content_type="application/json")[0] for path in PATHS}

    assert statuses == {400}
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "body",
    [
        b"--x\r\n\r\n" * 200_000,
        b"--x\r\n\r\n\r\n" * 200_000,
        b"".join(b"--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n" % (i, i + 1) for i in range(5000)),
        b"--x\r\nContent-Disposition: form-data" + b"; a" * 500_000 + b"\r\n\r\n\r\n--x--\r\n",
        b"--x\r\nContent-Disposition: form-data" + b'; a="' * 1500 + b"\r\n\r\n\r\n--x--\r\n",
    ],
    ids=["parts that do not end", "many parts", "parts in parts", "a long head", "open quotes"],
)
def test_a_form_is_read_in_one_pass(body: bytes) -> None:
    started = time.monotonic()

    with pytest.raises(InvalidInput):
        check_form(read_form("multipart/form-data; boundary=x", body))

    assert time.monotonic() - started < 2


def check_form(fields: dict[str, FormField]) -> None:
    if "data" not in fields:
        raise InvalidInput("no data")


@ANY
@given(
    fields=st.dictionaries(
        st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8), st.binary(max_size=50)
    )
)
def test_a_form_is_read_as_it_was_written(fields: dict[str, bytes]) -> None:
    parts = []
    for name, content in fields.items():
        quoted = name.replace("\\", "\\\\").replace('"', '\\"').encode()
        head = b'Content-Disposition: form-data; filename="a; name=z"; name="%b"' % quoted
        parts.append(b"--a-b\r\n%b\r\nContent-Type: x/y\r\n\r\n%b\r\n" % (head, content))
    body = b"".join(parts) + b"--a-b--\r\n"

    if b"--a-b" not in b"".join(fields.values()):
        found = read_form('multipart/form-data; boundary="a-b"', body)
        assert found == {name: FormField(content, "x/y") for name, content in fields.items()}


@ANY
@given(st.binary(max_size=300), st.text(max_size=20))
def test_any_form_is_read_or_refused(body: bytes, boundary: str) -> None:
    for content in (body, b"--x\r\n" + body, b"--x\r\nContent-Disposition: " + body + b"\r\n\r\n\r\n--x--"):
        for kind in (f"multipart/form-data; boundary={boundary}", "multipart/form-data; boundary=x"):
            with contextlib.suppress(InvalidInput):
                assert len(read_form(kind, content)) <= MOST_PARTS
