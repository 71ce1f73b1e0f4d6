"""Which calls a gRPC server answers."""

import asyncio

import grpc
import grpc.aio
import pytest

from resolute.serving.dataplane import DataPlane
from resolute.serving.grpc.messages import SERVICE, methods
from resolute.serving.grpc.server import start_grpc
from resolute.serving.settings import Limits


@pytest.mark.parametrize(("has_repository", "code"), [(True, "NOT_FOUND"), (False, "UNIMPLEMENTED")])
def test_models_are_loaded_and_unloaded_only_where_callers_may(has_repository: bool, code: str) -> None:
    request, answer = methods()["RepositoryModelUnload"]

    async def ask() -> grpc.StatusCode:
        plane = DataPlane([], Limits())
        server = await start_grpc(plane, "127.0.0.1", 0, lambda *_: None, has_repository=has_repository)
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
                call = channel.unary_unary(
                    f"/{SERVICE}/RepositoryModelUnload",
                    request_serializer=request.SerializeToString,
                    response_deserializer=answer.FromString,
                )
                with pytest.raises(grpc.aio.AioRpcError) as refusal:
                    await call(request(model_name="any"))
        finally:
            await server.stop(0)
        code: grpc.StatusCode = refusal.value.code()
        return code

    assert asyncio.run(ask()).name == code
