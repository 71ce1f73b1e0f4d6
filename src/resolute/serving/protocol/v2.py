"""KServe V2, also called the Open Inference Protocol, over REST, with the binary tensor extension.

A body is JSON, or JSON of `Inference-Header-Content-Length` bytes followed by the tensors that its inputs announce with
`binary_data_size`. Tensor data is sliced here and decoded in the model process (`tensors.py`).
"""

import math
from dataclasses import dataclass, field
from typing import Any

import msgspec

from resolute.domain.errors import InvalidInput
from resolute.serving.model import NUMPY_TYPES
from resolute.serving.protocol.json_text import parse, render
from resolute.serving.worker_frames import Buffer, Item, Outcome, TensorHead

_WANTED = '{"inputs": [{"name": ..., "shape": [...], "datatype": "FP32", "data": [...]}]}'
Parameters = dict[str, Any]
MOST_DIMENSIONS = 32
"""What numpy of every version has room for."""
MOST_VALUES = 1 << 40
"""Also where one size is 0: arithmetic on the others must not overflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferRequest:
    """One request, whichever transport it came by; `item` and `buffers` are what the model process gets."""

    item: Item
    buffers: list[Buffer]
    id: str = ""
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InferBody:
    """An answer over REST. `header_bytes` is None when there is nothing binary behind the JSON."""

    parts: list[Buffer]
    header_bytes: int | None


class _Input(msgspec.Struct):
    name: str
    shape: list[int]
    datatype: str
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    parameters: Parameters = {}


class _Output(msgspec.Struct):
    name: str
    parameters: Parameters = {}


class _Body(msgspec.Struct):
    inputs: list[_Input]
    id: str | int | None = None
    parameters: Parameters | None = None
    outputs: list[_Output] | None = None


_body = msgspec.json.Decoder(_Body)


def read_request(body: bytes, header_length: str | None = None) -> InferRequest:
    """`header_length` is the request's `Inference-Header-Content-Length`, as sent."""
    json, binary = _split(body, header_length)
    request = parse(_body, json, wanted=_WANTED)
    if not request.inputs:
        raise InvalidInput(f'"inputs" is empty. Send {_WANTED}.')
    heads, buffers = _inputs(request.inputs, binary)
    parameters = request.parameters or {}
    item = Item(
        tensors=heads,
        wanted=_wanted(request.outputs, bool(parameters.get("binary_data_output"))),
        is_binary=bool(parameters.get("binary_data_output")),
    )
    return InferRequest(
        item=item, buffers=buffers, id="" if request.id is None else str(request.id), parameters=parameters
    )


def write_answer(model: str, version: str, request_id: str, outcome: Outcome, buffers: list[Buffer]) -> InferBody:
    """The outcome's buffers are in the order of its tensors."""
    parts = [b'{"model_name":%b,"model_version":%b' % (render(model), render(version))]
    if request_id:
        parts.append(b',"id":%b' % render(request_id))
    outputs = b",".join(_output(head, buffer) for head, buffer in zip(outcome.tensors, buffers, strict=True))
    json = b'%b,"outputs":[%b]}' % (b"".join(parts), outputs)
    binary = [buffer for head, buffer in zip(outcome.tensors, buffers, strict=True) if not head.is_json]
    return InferBody([json, *binary], len(json) if binary else None)


def check_head(name: str, shape: list[int], datatype: str) -> None:
    """What can be said of a tensor before its data is looked at."""
    if datatype not in NUMPY_TYPES:
        raise InvalidInput(f"Input {name!r} has datatype {datatype!r}; known are {', '.join(NUMPY_TYPES)}.")
    if len(shape) > MOST_DIMENSIONS:
        raise InvalidInput(f"Input {name!r} has {len(shape)} dimensions; at most {MOST_DIMENSIONS} are possible.")
    if any(size < -1 for size in shape) or shape.count(-1) > 1:
        raise InvalidInput(f"Input {name!r} has shape {shape}; sizes cannot be negative, but for one that is -1.")
    if math.prod(max(1, size) for size in shape) > MOST_VALUES:
        raise InvalidInput(f"Input {name!r} has shape {shape}; no tensor can have so many values.")


def filled_shape(shape: list[int], values: int) -> list[int]:
    """With the size that a -1 stands for. A shape that no size fits comes back as it is."""
    if -1 not in shape:
        return shape
    others = math.prod(size for size in shape if size != -1)
    return shape if not others or values % others else [values // others if size == -1 else size for size in shape]


def _split(body: bytes, header_length: str | None) -> tuple[bytes | memoryview, memoryview]:
    if header_length is None:
        return body, memoryview(b"")
    if not header_length.isascii() or not header_length.isdigit() or int(header_length) > len(body):
        raise InvalidInput(
            f"Inference-Header-Content-Length is {header_length!r}; it must be the size of the JSON part, "
            f"at most the {len(body)} bytes of the body."
        )
    view = memoryview(body)
    return view[: int(header_length)], view[int(header_length) :]


def _inputs(inputs: list[_Input], binary: memoryview) -> tuple[list[TensorHead], list[Buffer]]:
    heads, buffers = [], list[Buffer]()
    names = set()
    used = 0
    for tensor in inputs:
        check_head(tensor.name, tensor.shape, tensor.datatype)
        if tensor.name in names:
            raise InvalidInput(f"Input {tensor.name!r} is given twice.")
        names.add(tensor.name)
        size = _binary_size(tensor)
        heads.append(TensorHead(tensor.name, tensor.datatype, tensor.shape, size is None))
        if size is None:
            buffers.append(bytes(tensor.data))  # type: ignore[arg-type]
            continue
        if used + size > len(binary):
            raise InvalidInput(
                f"Input {tensor.name!r} has binary_data_size {size}, but only {len(binary) - used} bytes of binary "
                "data are left. Was Inference-Header-Content-Length sent?"
            )
        buffers.append(binary[used : used + size])
        used += size
    if used != len(binary):
        raise InvalidInput(f"{len(binary) - used} bytes of binary data belong to no input; check binary_data_size.")
    return heads, buffers


def _binary_size(tensor: _Input) -> int | None:
    size = tensor.parameters.get("binary_data_size")
    if size is None:
        if tensor.data is msgspec.UNSET:
            raise InvalidInput(f"Input {tensor.name!r} has neither data nor binary_data_size.")
        return None
    if tensor.data is not msgspec.UNSET:
        raise InvalidInput(f"Input {tensor.name!r} has both data and binary_data_size; send one of them.")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InvalidInput(f"Input {tensor.name!r} has binary_data_size {size!r}; it must be a number of bytes.")
    return size


def _wanted(outputs: list[_Output] | None, default: bool) -> list[tuple[str, bool]] | None:
    if not outputs:
        return None
    return [(output.name, bool(output.parameters.get("binary_data", default))) for output in outputs]


def _output(head: TensorHead, buffer: Buffer) -> bytes:
    start = b'{"name":%b,"datatype":"%b","shape":%b,' % (
        render(head.name),
        head.datatype.encode(),
        render(head.shape),
    )
    if head.is_json:
        return b"".join((start, b'"data":', buffer, b"}"))
    return b'%b"parameters":{"binary_data_size":%d}}' % (start, len(buffer))
