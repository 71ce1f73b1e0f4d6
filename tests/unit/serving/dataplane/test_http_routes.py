"""Every path of a model server, with a model in this process behind it."""

import base64
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from resolute.serving.dataplane import DataPlane
from resolute.serving.http_message import Request, Response
from resolute.serving.http_routes import Routes
from resolute.serving.settings import ModelSettings

INPUT = {"name": "x", "shape": [2], "datatype": "INT64", "data": [1, 2]}


class Asked:
    """An answer, read."""

    def __init__(self, response: Response) -> None:
        self.status = response.status
        self.body = b"".join(response.parts)
        self.headers = dict(response.headers)
        self.content_type = response.content_type

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Site:
    def __init__(self, plane: DataPlane) -> None:
        self.plane = plane
        self.routes = Routes(plane)

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Asked:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.routes(Request(method, path, names, content))
        return Asked(answer if isinstance(answer, Response) else await answer)


async def start(serving: Any, *models: ModelSettings, **limits: Any) -> Site:
    plane = serving.plane(*(models or (serving.echo(),)), **limits)
    plane.start()
    await serving.settle()
    return Site(plane)


def with_site(serving: Any, test: Any, *models: ModelSettings) -> None:
    async def whole() -> None:
        site = await start(serving, *models)
        try:
            await test(site)
        finally:
            await site.plane.stop()

    serving.run(whole)


def test_v1_predicts(serving: Any) -> None:
    async def test(site: Site) -> None:
        answer = await site.ask("POST", "/v1/models/echo:predict", {"instances": [[1.5], {"a": None}]})

        assert (answer.status, answer.json) == (200, {"predictions": [[1.5], {"a": None}]})

    with_site(serving, test)


def test_v2_infers_and_echoes_the_id(serving: Any) -> None:
    async def test(site: Site) -> None:
        for path in ("/v2/models/echo/infer", "/v2/models/echo/versions/1/infer"):
            answer = await site.ask("POST", path, {"id": "7", "inputs": [INPUT]})

            assert answer.json == {"model_name": "echo", "model_version": "1", "id": "7", "outputs": [INPUT]}

    with_site(serving, test)


def test_v2_speaks_binary_both_ways(serving: Any) -> None:
    async def test(site: Site) -> None:
        head = {"name": "x", "shape": [3], "datatype": "UINT8", "parameters": {"binary_data_size": 3}}
        text = json.dumps({"inputs": [head], "parameters": {"binary_data_output": True}}).encode()

        answer = await site.ask(
            "POST", "/v2/models/echo/infer", text + b"\x01\x02\x03", inference_header_content_length=str(len(text))
        )

        size = int(answer.headers["inference-header-content-length"])
        assert answer.content_type == "application/octet-stream"
        assert json.loads(answer.body[:size])["outputs"] == [head]
        assert answer.body[size:] == b"\x01\x02\x03"

    with_site(serving, test)


def test_torchserves_predictions_take_anything_and_answer_with_the_prediction(serving: Any) -> None:
    form = b'--b\r\ncontent-disposition: form-data; name="data"; filename="a.jpg"\r\n\r\n\xff\xd8\r\n--b--\r\n'
    wrapped = {"data": base64.b64encode(b"\xff\xd8").decode()}

    async def test(site: Site) -> None:
        for method in ("POST", "PUT"):
            assert (await site.ask(method, "/predictions/echo", b"\xff\xd8")).json == wrapped
        assert (await site.ask("POST", "/predictions/echo/1", [1], content_type="application/json")).json == [1]
        answer = await site.ask("POST", "/predictions/echo", form, content_type="multipart/form-data; boundary=b")
        assert answer.json == wrapped

    with_site(serving, test)


def test_health_is_true_when_the_model_can_answer(serving: Any) -> None:
    async def test(site: Site) -> None:
        for path, value in (
            ("/", {"status": "alive"}),
            ("/v2/health/live", {"live": True}),
            ("/v2/health/ready", {"ready": True}),
            ("/ping", {"status": "Healthy"}),
            ("/v1/models/echo", {"name": "echo", "ready": True}),
            ("/v2/models/echo/ready", {"name": "echo", "ready": True}),
            ("/v2/models/echo/versions/1/ready", {"name": "echo", "ready": True}),
        ):
            for method in ("GET", "HEAD"):
                answer = await site.ask(method, path)
                assert (answer.status, answer.json) == (200, value)

    with_site(serving, test)


def test_what_is_served_can_be_asked_for(serving: Any) -> None:
    async def test(site: Site) -> None:
        assert (await site.ask("GET", "/v1/models")).json == {"models": ["echo", "other"]}
        assert (await site.ask("GET", "/v2/models")).json == {"models": ["echo", "other"]}
        assert (await site.ask("GET", "/v2")).json["extensions"] == [
            "binary_tensor_data",
            "model_repository",
            "model_configuration",
            "statistics",
        ]
        assert (await site.ask("GET", "/v2/models/other")).json == {
            "name": "other",
            "versions": ["1"],
            "platform": "echo",
            "inputs": [],
            "outputs": [],
        }

    with_site(serving, test, serving.echo(), serving.echo("other"))


def test_a_model_that_cannot_be_loaded_says_so_wherever_it_is_asked(serving: Any) -> None:
    broken = ModelSettings(name="broken", source=serving.echo().source, load="no.such:thing")

    async def test(site: Site) -> None:
        for method, path, status in (
            ("GET", "/v1/models/broken", 503),
            ("GET", "/v2/models/broken", 503),
            ("GET", "/v2/models/broken/ready", 503),
            ("GET", "/v2/health/ready", 503),
            ("GET", "/ping", 500),
            ("POST", "/v2/repository/models/broken/load", 503),
        ):
            answer = await site.ask(method, path)
            assert answer.status == status
            assert "The loader 'no.such:thing' cannot be used: No module named 'no'" in answer.json["error"]
        answer = await site.ask("POST", "/v1/models/broken:predict", {"instances": [1]})
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert (await site.ask("GET", "/v2/health/live")).status == 200

    with_site(serving, test, broken)


def test_a_server_on_its_way_out_is_not_ready(serving: Any) -> None:
    async def test(site: Site) -> None:
        site.plane.is_draining = True

        answer = await site.ask("GET", "/v2/health/ready")

        assert (answer.status, answer.json["error"]) == (503, "The server is shutting down.")

    with_site(serving, test)


def test_models_are_unloaded_and_loaded_again(serving: Any) -> None:
    async def test(site: Site) -> None:
        assert (await site.ask("POST", "/v2/repository/models/echo/unload")).status == 200
        (entry,) = (await site.ask("POST", "/v2/repository/index")).json
        assert (entry["name"], entry["state"]) == ("echo", "UNAVAILABLE")
        assert (await site.ask("POST", "/v1/models/echo:predict", {"instances": [1]})).status == 503

        assert (await site.ask("POST", "/v2/repository/models/echo/load")).status == 200
        assert (await site.ask("POST", "/v2/repository/index")).json[0]["state"] == "READY"
        assert (await site.ask("POST", "/v1/models/echo:predict", {"instances": [1]})).status == 200

    with_site(serving, test)


def test_without_the_repository_extension_nobody_unloads_a_model(serving: Any) -> None:
    async def test(site: Site) -> None:
        routes = Routes(site.plane, has_repository=False)

        refused = routes(Request("POST", "/v2/repository/models/echo/unload"))

        assert isinstance(refused, Response)
        assert refused.status == 404
        assert (await site.ask("GET", "/v2/health/ready")).status == 200

    with_site(serving, test)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("POST", "/v1/models/nope:predict", {"instances": [1]}, 404, "no model 'nope' here; there is: echo."),
        ("POST", "/v2/models/nope/infer", b"not even json", 404, "no model 'nope' here; there is: echo."),
        ("POST", "/v2/models/echo/versions/9/infer", {"inputs": [INPUT]}, 404, "no version '9' here; there is: 1."),
        ("GET", "/v2/models/nope/ready", None, 404, "there is: echo"),
        ("POST", "/v2/repository/models/nope/load", None, 404, "there is: echo"),
        ("GET", "/v3", None, 404, "nothing at /v3"),
        ("GET", "/v1/models/echo:predict", None, 405, "use POST"),
        ("DELETE", "/v2/models/echo", None, 405, "use GET"),
        ("POST", "/v1/models/echo:predict", b"{", 400, "not valid JSON: it ends too early (byte 1)"),
        ("POST", "/v1/models/echo:explain", {"instances": [1]}, 501, "nothing to explain"),
        ("POST", "/v2/models/echo/infer", {"inputs": [{**INPUT, "shape": [3]}]}, 400, "3 values; got 2"),
        ("POST", "/predictions/echo", b"", 400, "no body"),
        ("POST", "/predictions/nope", b"x", 404, "there is: echo"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_sentence(
    serving: Any, method: str, path: str, body: Any, status: int, words: str
) -> None:
    async def test(site: Site) -> None:
        answer = await site.ask(method, path, body)

        assert answer.status == status
        assert list(answer.json) == ["error"]
        assert words in answer.json["error"]

    with_site(serving, test)


@pytest.mark.parametrize(("encoding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_body_is_unpacked(serving: Any, encoding: str, compress: Any) -> None:
    async def test(site: Site) -> None:
        body = compress(b'{"instances": [1]}')

        answer = await site.ask("POST", "/v1/models/echo:predict", body, content_encoding=encoding)

        assert answer.json == {"predictions": [1]}

    with_site(serving, test)


@pytest.mark.parametrize(
    ("body", "encoding", "status", "sentence"),
    [
        (b"\x1f\x8b", "gzip", 400, "not whole gzip: it ends too early"),
        (b"{}", "gzip", 400, "not whole gzip: Error -3"),
        (b"{}", "br", 400, "compressed with 'br'; send it as it is, or with gzip or deflate"),
        (gzip.compress(bytes(2 << 20)), "gzip", 413, "unpacks to more than 1,048,576 bytes"),
    ],
)
def test_a_body_that_does_not_unpack_or_to_too_much_is_refused(
    serving: Any, body: bytes, encoding: str, status: int, sentence: str
) -> None:
    async def whole() -> None:
        site = await start(serving, max_body_bytes=1 << 20)

        answer = await site.ask("POST", "/v1/models/echo:predict", body, content_encoding=encoding)

        assert answer.status == status
        assert sentence in answer.json["error"]
        await site.plane.stop()

    serving.run(whole)


def test_tritons_statistics_count_what_was_answered(serving: Any) -> None:
    async def test(site: Site) -> None:
        await site.ask("POST", "/v1/models/echo:predict", {"instances": [1, 2]})
        await site.ask("POST", "/v1/models/echo:explain", {"instances": [1]})

        for path in ("/v2/models/echo/stats", "/v2/models/echo/versions/1/stats", "/v2/models/stats"):
            (found,) = (await site.ask("GET", path)).json["model_stats"]
            assert (found["name"], found["version"]) == ("echo", "1")
            assert (found["inference_count"], found["execution_count"]) == (3, 2)
            assert found["inference_stats"]["success"]["count"] == 1
            assert found["inference_stats"]["fail"]["count"] == 1
            assert found["inference_stats"]["success"]["ns"] > 0
            assert found["last_inference"] > 0

    with_site(serving, test)


def test_tritons_configuration_names_inputs_and_outputs(serving: Any) -> None:
    async def test(site: Site) -> None:
        found = (await site.ask("GET", "/v2/models/echo/config")).json

        assert (found["name"], found["platform"], found["max_batch_size"]) == ("echo", "echo", 0)
        assert (found["input"], found["output"]) == ([], [])

    with_site(serving, test)


def test_a_model_answers_to_its_aliases_too(serving: Any) -> None:
    settings = ModelSettings(
        name="plates", source=Path("here"), load="resolute.serving.echo:load_echo", aliases=("xview-fasterrcnn",)
    )

    async def test(site: Site) -> None:
        answer = await site.ask("POST", "/v1/models/xview-fasterrcnn:predict", {"inputs": [1]})

        assert answer.json == {"predictions": [1]}
        assert (await site.ask("GET", "/v1/models")).json == {"models": ["plates", "xview-fasterrcnn"]}
        assert "there is: plates, xview-fasterrcnn" in (await site.ask("GET", "/v1/models/other")).json["error"]

    with_site(serving, test, settings)


def test_a_form_without_the_field_names_those_it_has(serving: Any) -> None:
    form = b'--b\r\ncontent-disposition: form-data; name="picture"\r\n\r\nx\r\n--b--\r\n'

    async def test(site: Site) -> None:
        answer = await site.ask("POST", "/predictions/echo", form, content_type="multipart/form-data; boundary=b")

        assert (answer.status, "fields sent: picture" in answer.json["error"]) == (400, True)

    with_site(serving, test)


def test_names_in_paths_may_be_escaped(serving: Any) -> None:
    async def test(site: Site) -> None:
        assert (await site.ask("GET", "/v1/models/a%2Db")).status == 200

    with_site(serving, test, serving.echo("a-b"))


def test_metrics_count_batches_and_what_is_ready(serving: Any) -> None:
    async def test(site: Site) -> None:
        await site.ask("POST", "/v1/models/echo:predict", {"instances": [1, 2, 3]})
        site.plane.metrics.request_done("echo", "predict", 200, 0.002)

        text = (await site.ask("GET", "/metrics")).body.decode()

        assert 'resolute_requests_total{code="200",kind="predict",model="echo"} 1.0' in text
        assert 'resolute_batch_size_sum{model="echo"} 3.0' in text
        assert 'resolute_workers_ready{model="echo"} 1.0' in text
        assert 'resolute_request_seconds_bucket{kind="predict",le="0.0025",model="echo"} 1.0' in text
        assert "resolute_in_flight 0.0" in text

    with_site(serving, test)
