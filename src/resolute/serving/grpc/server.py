"""The gRPC server of a model server, on the data plane's event loop."""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio

from resolute.domain.errors import InvalidInput, NotFound, NotSupported, ResoluteError, TooLarge, Unavailable
from resolute.serving.dataplane import DataPlane
from resolute.serving.grpc.codec import answer_fields, read_request
from resolute.serving.grpc.messages import SERVICE, methods
from resolute.serving.http_message import Request, Response, status_of
from resolute.serving.limits import ModelFailed, Overloaded, TimedOut

_log = logging.getLogger("resolute.serving")
_CODES: dict[type[ResoluteError], grpc.StatusCode] = {
    TooLarge: grpc.StatusCode.RESOURCE_EXHAUSTED,
    InvalidInput: grpc.StatusCode.INVALID_ARGUMENT,
    NotFound: grpc.StatusCode.NOT_FOUND,
    Overloaded: grpc.StatusCode.RESOURCE_EXHAUSTED,
    TimedOut: grpc.StatusCode.DEADLINE_EXCEEDED,
    Unavailable: grpc.StatusCode.UNAVAILABLE,
    NotSupported: grpc.StatusCode.UNIMPLEMENTED,
}
Fields = dict[str, Any]
_CLIENT_LEFT = 499
Note = Callable[[Request, Response, float], None]


class GrpcServer:
    def __init__(self, server: grpc.aio.Server, port: int) -> None:
        self.port = port
        self._server = server

    async def stop(self, grace_s: float) -> None:
        """Takes no more calls; those under way have so long to finish."""
        await self._server.stop(grace_s)


async def start_grpc(plane: DataPlane, host: str, port: int, note: Note, *, has_repository: bool = True) -> GrpcServer:
    """`has_repository`: callers may load and unload models. Raises InvalidInput when the address cannot be had."""
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", plane.limits.max_body_bytes),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
        ]
    )
    handlers = _handlers(Calls(plane, note), has_repository=has_repository)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        bound = server.add_insecure_port(address)
    except RuntimeError:
        raise InvalidInput(f"Cannot listen on {address} for gRPC. Choose another port.") from None
    await server.start()
    return GrpcServer(server, bound)


class Calls:
    """The protocol's calls, named as it names them: a message in, the fields of the answer out."""

    def __init__(self, plane: DataPlane, note: Note) -> None:
        self._plane = plane
        self._note = note

    async def ServerLive(self, request: Any) -> Fields:
        return {"live": True}

    async def ServerReady(self, request: Any) -> Fields:
        return {"ready": not self._plane.why_not_ready}

    async def ModelReady(self, request: Any) -> Fields:
        return {"ready": not self._plane.model(request.name, request.version or None).why_not_ready}

    async def ServerMetadata(self, request: Any) -> Fields:
        return self._plane.server_metadata()

    async def ModelMetadata(self, request: Any) -> Fields:
        metadata = self._plane.model_metadata(request.name, request.version or None)
        metadata.pop("parameters", None)
        return metadata

    async def ModelInfer(self, request: Any) -> Fields:
        started = time.perf_counter()
        entry = Request("gRPC", f"/{SERVICE}/ModelInfer", kind="infer")
        status = _CLIENT_LEFT
        try:
            answer = await self._infer(request, entry)
            status = 200
        except ResoluteError as problem:
            status = status_of(problem)
            raise
        finally:
            self._note(entry, Response([], status), time.perf_counter() - started)
        return answer

    async def RepositoryModelLoad(self, request: Any) -> Fields:
        await self._plane.load(request.model_name)
        return {"model_name": request.model_name, "isLoaded": True}

    async def RepositoryModelUnload(self, request: Any) -> Fields:
        await self._plane.unload(request.model_name)
        return {"model_name": request.model_name, "isUnloaded": True}

    async def _infer(self, request: Any, entry: Request) -> Fields:
        version = request.model_version or None
        model = self._plane.model(request.model_name, version)
        entry.model = model.name
        reply = await self._plane.infer(model.name, version, read_request(request))
        entry.batch = reply.batch
        answer = answer_fields(reply.outcome, reply.buffers, is_raw=bool(request.raw_input_contents))
        return {"model_name": model.name, "model_version": model.settings.version, "id": request.id, **answer}


def _handlers(calls: Calls, *, has_repository: bool) -> dict[str, grpc.RpcMethodHandler]:
    return {
        name: grpc.unary_unary_rpc_method_handler(
            _guarded(getattr(calls, name), answer),
            request_deserializer=request.FromString,
            response_serializer=answer.SerializeToString,
        )
        for name, (request, answer) in methods().items()
        if has_repository or not name.startswith("Repository")
    }


def _guarded(call: Callable[[Any], Awaitable[Fields]], answer: Any) -> Callable[[Any, Any], Awaitable[Any]]:
    async def handle(request: Any, context: Any) -> Any:
        try:
            return answer(**await call(request))
        except ResoluteError as problem:
            await context.abort(_code(problem), str(problem))
        except Exception as problem:  # noqa: BLE001, RUF100 - no traceback leaves
            _log.error("A call failed inside the server.", exc_info=problem)
            sentence = str(ModelFailed("The server failed on this call; its log has the details."))
            await context.abort(grpc.StatusCode.INTERNAL, sentence)

    return handle


def _code(problem: ResoluteError) -> grpc.StatusCode:
    for kind in type(problem).__mro__:
        if kind in _CODES:
            return _CODES[kind]
    return grpc.StatusCode.INTERNAL
