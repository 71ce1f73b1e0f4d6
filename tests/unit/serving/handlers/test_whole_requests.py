"""A handler gets what TorchServe hands it for every kind of request, and its answer leaves as TorchServe sends it."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from resolute.serving.archive import ArchiveParts, write_archive
from resolute.serving.batching import Answers
from resolute.serving.dataplane import DataPlane
from resolute.serving.http_message import Request, Response
from resolute.serving.http_routes import Routes
from resolute.serving.loading import load_model
from resolute.serving.model import ModelMetadata
from resolute.serving.settings import Limits, ModelSettings
from resolute.serving.worker_calls import answer
from resolute.serving.worker_frames import Buffer, Call

CORPUS = Path(__file__).parents[3] / "corpus"
ROWS = json.loads((CORPUS / "torchserve_requests.json").read_text())
RECORDER = (CORPUS / "torchserve_recorder.py").read_text()
Ask = Callable[..., Response]


class LoadedModel:
    """A model process without a process."""

    def __init__(self, settings: ModelSettings) -> None:
        self._model = load_model(settings.source, {})
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def start(self) -> ModelMetadata:
        return self._model.metadata

    def run(self, call: Call, buffers: list[Buffer]) -> "asyncio.Future[Answers]":
        future: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
        future.set_result(answer(self._model, call, buffers))
        return future

    def give_up(self, reason: str) -> None:
        self.ended.cancel()

    async def stop(self) -> None:
        self.ended.cancel()


@pytest.fixture
def ask(tmp_path: Path, model_process: None) -> Ask:
    """One request to a server with this handler."""

    def ask(handler: str, path: str, body: bytes, **headers: str) -> Response:
        (tmp_path / "h.py").write_text(handler)
        parts = ArchiveParts(name="tiny", version="1.0", handler=str(tmp_path / "h.py"))
        source = write_archive(parts, tmp_path, now=datetime.now(UTC), force=True)
        return asyncio.run(_asked(source, path, body, {k.replace("_", "-"): v for k, v in headers.items()}))

    return ask


async def _asked(source: Path, path: str, body: bytes, headers: dict[str, str]) -> Response:
    plane = DataPlane([ModelSettings(name="tiny", source=source)], Limits(), spawn=LoadedModel)
    plane.start()
    await plane.models["tiny"].pool.settled()
    sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    request = Request("POST", path, {k.lower(): v for k, v in headers.items()}, body, sent)
    answered = Routes(plane)(request)
    response = answered if isinstance(answered, Response) else await answered
    await plane.stop()
    return response


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_each_kind_of_request_reaches_the_handler_as_torchserve_hands_it(ask: Ask, row: dict[str, Any]) -> None:
    headers = {"X-Own": "Yes"} | ({"Content-Type": row["content_type"]} if row["content_type"] else {})

    response = ask(RECORDER, f"/{row['path']}/tiny", row["body"].encode("latin-1"), **headers)

    given = json.loads(response.parts[0])
    wanted = {name.lower(): value for name, value in row["headers"].items()}
    assert given["row"] == row["row"]
    assert {name: given["headers"][name] for name in wanted} == wanted
    assert given["own"] == "Yes"
    assert dict(response.headers)["x-request-id"] == given["id"]
    assert len(given["id"]) == 36


@pytest.mark.parametrize(
    ("returned", "content", "content_type"),
    [
        ("'plain text'", b"plain text", "text/plain; charset=utf-8"),
        ("b'\\xff\\x00'", b"\xff\x00", "application/octet-stream"),
        ("{'a': 1}", b'{"a":1}', "application/json"),
        ("3", b"3", "application/json"),
        ("None", b"null", "application/json"),
    ],
)
def test_an_answer_leaves_as_what_it_is(ask: Ask, returned: str, content: bytes, content_type: str) -> None:
    response = ask(f"def handle(data, context):\n    return data and [{returned}]\n", "/predictions/tiny", b"x")

    assert (bytes(response.parts[0]), response.content_type, response.status) == (content, content_type, 200)


CHOOSING = """
def handle(data, context):
    if not data:
        return
    context.set_response_content_type(0, "image/png")
    context.set_response_status(418, "teapot", 0)
    for name in ("x-seen", "set-cookie", "content-length", "bad name", "x-split"):
        context.set_response_header(0, name, "a\\r\\nb" if name == "x-split" else "yes")
    return [b"short and stout"]
"""


def test_a_handler_chooses_status_type_and_headers_but_no_framing_and_no_cookies(ask: Ask) -> None:
    response = ask(CHOOSING, "/predictions/tiny/1", b"x")

    assert (response.status, response.content_type, bytes(response.parts[0])) == (418, "image/png", b"short and stout")
    assert [name for name, _ in response.headers] == ["x-request-id", "x-seen"]


@pytest.mark.parametrize(("status", "sent"), [(507, 507), (422, 422), (99, 500), (700, 500)])
def test_an_error_raised_on_purpose_has_its_status(ask: Ask, status: int, sent: int) -> None:
    handler = (
        "from ts.utils.util import PredictionException\n"
        f"def handle(data, context):\n    if data:\n        raise PredictionException('out of stock', {status})\n"
    )

    response = ask(handler, "/predictions/tiny", b"x")

    assert (response.status, json.loads(response.parts[0])) == (sent, {"error": "out of stock"})


def test_other_errors_are_a_sentence_and_500(ask: Ask) -> None:
    response = ask("def handle(data, context):\n    return data and 1 / 0\n", "/predictions/tiny", b"x")

    assert response.status == 500
    assert "failed while answering: ZeroDivisionError" in json.loads(response.parts[0])["error"]


def test_a_form_that_cannot_be_read_and_text_that_is_none_are_refused(ask: Ask) -> None:
    handler = "def handle(data, context):\n    return data and [1]\n"

    for body, kind in ((b"--b\r\n", "multipart/form-data; boundary=b"), (b"\xff", "text/plain"), (b"a&" * 2000, FORM)):
        assert ask(handler, "/predictions/tiny", body, content_type=kind).status == 400


FORM = "application/x-www-form-urlencoded"
EXPLAINER = """
def handle(data, context):
    return data and [context.get_request_header(0, "explain") for _ in data]
"""


def test_v1_explains_through_the_same_handler(ask: Ask) -> None:
    response = ask(EXPLAINER, "/v1/models/tiny:explain", b'{"instances": [{"data": 1}]}')

    assert json.loads(b"".join(response.parts)) == {"explanations": ["True"]}
