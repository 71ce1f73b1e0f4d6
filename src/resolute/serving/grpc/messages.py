"""The messages of `open_inference.proto`, made from its compiled form.

Not generated code: that would tie the package to one version of protobuf. And in a pool of their own: other packages
bring messages of the same names.
"""

from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "inference.GRPCInferenceService"
COMPILED = Path(__file__).with_name("open_inference.binpb")


def _file() -> Any:
    compiled = descriptor_pb2.FileDescriptorSet.FromString(COMPILED.read_bytes()).file[0]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(compiled)
    return pool.FindFileByName(compiled.name)


_descriptor = _file()


def message(name: str) -> Any:
    """The class of a message, by its name in the protocol."""
    return message_factory.GetMessageClass(_descriptor.message_types_by_name[name])


def methods() -> dict[str, tuple[Any, Any]]:
    """Classes of request and response of each call."""
    service = _descriptor.services_by_name[SERVICE.rpartition(".")[2]]
    return {call.name: (message(call.input_type.name), message(call.output_type.name)) for call in service.methods}
