"""Which path does what: KServe V1, V2 and its repository extension, TorchServe's predictions and explanations, metrics.

Parses, calls the data plane, shapes the answer. Every error becomes `{"error": sentence}`; no traceback leaves.
"""

import base64
import logging
import re
import uuid
import zlib
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import unquote

import msgspec

from resolute.domain.errors import InvalidInput, NotFound, ResoluteError, TooLarge
from resolute.serving.dataplane import DataPlane
from resolute.serving.http_message import BINARY, JSON, Request, Response, error_response, json_response
from resolute.serving.limits import ModelFailed
from resolute.serving.metrics import CONTENT_TYPE
from resolute.serving.protocol import torchserve, v1, v2
from resolute.serving.protocol.form import FormField, read_form
from resolute.serving.protocol.json_text import parse
from resolute.serving.worker_frames import Item

_log = logging.getLogger("resolute.serving")
Answer = Response | Coroutine[Any, Any, Response]
Handler = Callable[..., Answer]
_MODEL = r"(?P<name>[^/:]+)"
_VERSION = r"(?:/versions/(?P<version>[^/]+))?"
_REMEMBERED = 1024
_COMPRESSIONS = {"gzip": 31, "deflate": 15}
"""What clients of Triton send, and zlib's word for it."""
_FINAL_STATUSES = range(200, 600)
_any = msgspec.json.Decoder(msgspec.Raw)


class Routes:
    """The application of a model server."""

    def __init__(self, plane: DataPlane, *, has_repository: bool = True) -> None:
        """`has_repository`: callers may load and unload models."""
        self._plane = plane
        self._known: dict[tuple[str, str], tuple[Handler, dict[str, Any]]] = {}
        self._table = [(re.compile(pattern), methods) for pattern, methods in self._all(has_repository).items()]

    def __call__(self, request: Request) -> Answer:
        """Never raises; an answer that takes time is a coroutine, which does not raise either."""
        try:
            handler, arguments = self._find(request)
            answer = handler(request, **arguments)
        except Exception as problem:  # noqa: BLE001, RUF100
            return _failed(problem)
        return answer if isinstance(answer, Response) else _guarded(answer)

    def _all(self, has_repository: bool) -> dict[str, dict[str, Handler]]:
        return {**self._routes(), **(self._repository() if has_repository else {})}

    def _routes(self) -> dict[str, dict[str, Handler]]:
        predictions: dict[str, Handler] = {"POST": self._predictions, "PUT": self._predictions}
        explanations: dict[str, Handler] = {"POST": self._explanations, "PUT": self._explanations}
        return {
            rf"/v1/models/{_MODEL}:(?P<verb>predict|explain)": {"POST": self._predict},
            rf"/v2/models/{_MODEL}{_VERSION}/infer": {"POST": self._infer},
            rf"/predictions/{_MODEL}(?:/(?P<version>[^/]+))?": predictions,
            rf"/explanations/{_MODEL}(?:/(?P<version>[^/]+))?": explanations,
            r"/v2/health/ready": {"GET": self._ready},
            r"/v2/health/live": {"GET": self._live},
            r"/": {"GET": self._alive},
            r"/ping": {"GET": self._ping},
            r"/metrics": {"GET": self._metrics},
            r"/v1/models": {"GET": self._list_models},
            rf"/v1/models/{_MODEL}": {"GET": self._v1_model},
            r"/v2/?": {"GET": self._server_metadata},
            r"/v2/models/?": {"GET": self._list_models},
            rf"/v2/models/{_MODEL}{_VERSION}/ready": {"GET": self._model_ready},
            rf"/v2/models/{_MODEL}{_VERSION}/config": {"GET": self._config},
            r"/v2/models/stats": {"GET": self._statistics},
            rf"/v2/models/{_MODEL}{_VERSION}/stats": {"GET": self._statistics},
            rf"/v2/models/{_MODEL}{_VERSION}": {"GET": self._v2_model},
        }

    def _repository(self) -> dict[str, dict[str, Handler]]:
        return {
            r"/v2/repository/index": {"POST": self._index},
            rf"/v2/repository/models/{_MODEL}/load": {"POST": self._load},
            rf"/v2/repository/models/{_MODEL}/unload": {"POST": self._unload},
        }

    def _find(self, request: Request) -> tuple[Handler, dict[str, Any]]:
        method = "GET" if request.method == "HEAD" else request.method
        known = self._known.get((method, request.path))
        if known is not None:
            return known
        for pattern, methods in self._table:
            match = pattern.fullmatch(request.path)
            if match is None:
                continue
            if method not in methods:
                return _wrong_method(request, sorted(methods)), {}
            found = methods[method], {key: value and unquote(value) for key, value in match.groupdict().items()}
            if len(self._known) < _REMEMBERED:
                self._known[method, request.path] = found
            return found
        raise NotFound(f"There is nothing at {request.path}. Ask GET /v2/models for what is served.")

    # inference

    async def _predict(self, request: Request, name: str, verb: str) -> Response:
        self._mark(request, name, verb)
        reply = await self._plane.predict(name, verb, v1.read_instances(self._body(request)))
        request.batch = reply.batch
        return Response(v1.write_answer(verb, reply.buffers[0]))

    async def _infer(self, request: Request, name: str, version: str | None) -> Response:
        model = self._mark(request, name, "infer", version)
        asked = v2.read_request(self._body(request), request.headers.get("inference-header-content-length"))
        reply = await self._plane.infer(name, version, asked)
        request.batch = reply.batch
        body = v2.write_answer(name, model, asked.id, reply.outcome, reply.buffers)
        if body.header_bytes is None:
            return Response(body.parts)
        headers = (("inference-header-content-length", str(body.header_bytes)),)
        return Response(body.parts, content_type=BINARY, headers=headers)

    async def _predictions(self, request: Request, name: str, version: str | None) -> Response:
        """TorchServe's: the body is one instance, the answer is the prediction itself."""
        return await self._whole(request, name, version, "predict")

    async def _explanations(self, request: Request, name: str, version: str | None) -> Response:
        return await self._whole(request, name, version, "explain")

    async def _whole(self, request: Request, name: str, version: str | None, verb: str) -> Response:
        self._mark(request, name, verb, version)
        if self._plane.takes_requests(name, version):
            return await self._handle(request, name, version, verb)
        reply = await self._plane.predict(name, verb, _one_instance(request, self._body(request)))
        request.batch = reply.batch
        return Response([bytes(reply.buffers[0])[1:-1]])

    async def _handle(self, request: Request, name: str, version: str | None, verb: str) -> Response:
        """With all that the client sent: the handler decides what it means, and how it is answered."""
        fields, buffers = torchserve.read_fields(request.headers.get("content-type", ""), self._body(request))
        headers = {key.decode("latin-1"): value.decode("latin-1").strip() for key, value in request.sent_headers}
        item = Item(fields=fields, headers=headers, id=str(uuid.uuid4()))
        reply = await self._plane.handle(name, version, item, buffers or [b""], verb=verb)
        request.batch, chosen = reply.batch, reply.outcome
        own = tuple(pair for pair in chosen.headers.items() if torchserve.is_passed_on(*pair))
        content_type = chosen.content_type if torchserve.is_passed_on("-", chosen.content_type) else JSON
        status = chosen.status if chosen.status in _FINAL_STATUSES else 500
        return Response([reply.buffers[0]], status, content_type, (("x-request-id", item.id), *own))

    def _body(self, request: Request) -> bytes:
        return _body(request, self._plane.limits.max_body_bytes)

    def _mark(self, request: Request, name: str, kind: str, version: str | None = None) -> str:
        """Raises NotFound before anything of the body is looked at. Returns the version that answers."""
        model = self._plane.model(name, version)
        request.model, request.kind = model.name, kind
        return model.settings.version

    # health

    def _alive(self, request: Request) -> Response:
        return json_response({"status": "alive"})

    def _live(self, request: Request) -> Response:
        return json_response({"live": True})

    def _ready(self, request: Request) -> Response:
        reason = self._plane.why_not_ready
        return json_response({"ready": False, "error": reason}, 503) if reason else json_response({"ready": True})

    def _ping(self, request: Request) -> Response:
        reason = self._plane.why_not_ready
        return json_response({"status": "Unhealthy", "error": reason}, 500) if reason else _healthy()

    def _metrics(self, request: Request) -> Response:
        return Response([self._plane.metrics.exposition()], content_type=CONTENT_TYPE)

    # models

    def _list_models(self, request: Request) -> Response:
        return json_response({"models": self._plane.names})

    def _v1_model(self, request: Request, name: str) -> Response:
        reason = self._plane.model(name).why_not_ready
        return _not_ready(name, reason) if reason else json_response({"name": name, "ready": True})

    def _v2_model(self, request: Request, name: str, version: str | None) -> Response:
        return json_response(self._plane.model_metadata(name, version))

    def _model_ready(self, request: Request, name: str, version: str | None) -> Response:
        reason = self._plane.model(name, version).why_not_ready
        return _not_ready(name, reason) if reason else json_response({"name": name, "ready": True})

    def _config(self, request: Request, name: str, version: str | None) -> Response:
        return json_response(self._plane.model_config(name, version))

    def _statistics(self, request: Request, name: str | None = None, version: str | None = None) -> Response:
        return json_response({"model_stats": self._plane.statistics(name, version)})

    def _server_metadata(self, request: Request) -> Response:
        return json_response(self._plane.server_metadata())

    def _index(self, request: Request) -> Response:
        return json_response(self._plane.index())

    async def _load(self, request: Request, name: str) -> Response:
        await self._plane.load(name)
        return json_response({"name": name, "load": True})

    async def _unload(self, request: Request, name: str) -> Response:
        await self._plane.unload(name)
        return json_response({"name": name, "unload": True})


def _body(request: Request, limit: int) -> bytes:
    """Unpacked where it is compressed; never to more than `limit` bytes."""
    encoding = request.headers.get("content-encoding", "").lower()
    if encoding in ("identity", ""):
        return request.body
    if encoding not in _COMPRESSIONS:
        raise InvalidInput(f"The body is compressed with {encoding!r}; send it as it is, or with gzip or deflate.")
    unpacking = zlib.decompressobj(_COMPRESSIONS[encoding])
    try:
        body = unpacking.decompress(request.body, limit + 1)
    except zlib.error as problem:
        raise InvalidInput(f"The body is not whole {encoding}: {problem}.") from None
    if len(body) > limit:
        raise TooLarge(f"The body unpacks to more than {limit:,} bytes, the most that this server takes.")
    if not unpacking.eof:
        raise InvalidInput(f"The body is not whole {encoding}: it ends too early.")
    return body


def _one_instance(request: Request, body: bytes) -> v1.Instances:
    """JSON as it is; a form's `data` or `body` field, or anything else, as base64 under `data`."""
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        return v1.Instances(1, b"[%b]" % parse(_any, body, wanted="one instance as JSON"))
    if kind.startswith("multipart/form-data"):
        body = _form_field(kind, body)
    if not body:
        raise InvalidInput("The request has no body. Send one instance: JSON, or the bytes of a picture.")
    return v1.Instances(1, b'[{"data":"%b"}]' % base64.b64encode(body))


def _form_field(content_type: str, body: bytes) -> bytes:
    fields: dict[str, FormField] = read_form(content_type, body)
    for name in ("data", "body"):
        if name in fields:
            return fields[name].content
    named = ", ".join(fields) or "none"
    raise InvalidInput(f'The form has no field "data" (fields sent: {named[:200]}). Send one with the instance in it.')


def _wrong_method(request: Request, allowed: list[str]) -> Handler:
    names = ", ".join(allowed)

    def answer(request: Request) -> Response:
        message = f"{request.method} is not possible at {request.path}; use {names}."
        return Response([msgspec.json.encode({"error": message})], 405, headers=(("allow", names),))

    return answer


def _not_ready(name: str, reason: str) -> Response:
    return json_response({"error": reason, "name": name, "ready": False}, 503)


def _healthy() -> Response:
    return json_response({"status": "Healthy"})


async def _guarded(answer: Coroutine[Any, Any, Response]) -> Response:
    try:
        return await answer
    except Exception as problem:  # noqa: BLE001, RUF100
        return _failed(problem)


def _failed(problem: Exception) -> Response:
    if isinstance(problem, ResoluteError):
        return error_response(problem)
    _log.error("A request failed inside the server.", exc_info=problem)
    return error_response(ModelFailed("The server failed on this request; its log has the details."))
