"""Messages of the Open Inference Protocol from and to the data plane's values. Pure: no server, no channel.

Who sends raw contents gets raw contents; who sends typed contents gets typed ones, where the type has a typed form.
"""

import math
import struct
from typing import Any

import numpy as np

from resolute.domain.errors import InvalidInput
from resolute.serving.model import NUMPY_TYPES
from resolute.serving.protocol.v2 import InferRequest, check_head, filled_shape
from resolute.serving.worker_frames import Buffer, Item, Outcome, TensorHead

_FIELDS = {
    "BOOL": "bool_contents",
    **{f"INT{bits}": "int_contents" for bits in (8, 16, 32)},
    **{f"UINT{bits}": "uint_contents" for bits in (8, 16, 32)},
    "INT64": "int64_contents",
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
    "BYTES": "bytes_contents",
}
"""FP16 has no typed form: it travels raw."""
_LENGTH = struct.Struct("<I")


def read_request(message: Any) -> InferRequest:
    """Raises InvalidInput naming the input that is at fault."""
    if not message.inputs:
        raise InvalidInput("The request has no inputs. Send at least one tensor.")
    raw = message.raw_input_contents
    if raw and len(raw) != len(message.inputs):
        raise InvalidInput(f"{len(message.inputs)} inputs, but {len(raw)} raw_input_contents; send one for each.")
    if len({tensor.name for tensor in message.inputs}) != len(message.inputs):
        raise InvalidInput("An input is given twice: " + ", ".join(tensor.name for tensor in message.inputs) + ".")
    heads: list[TensorHead] = []
    buffers: list[Buffer] = []
    for index, tensor in enumerate(message.inputs):
        check_head(tensor.name, list(tensor.shape), tensor.datatype)
        heads.append(TensorHead(tensor.name, tensor.datatype, list(tensor.shape), False))
        buffers.append(raw[index] if raw else _typed(tensor))
    wanted = [(output.name, True) for output in message.outputs] or None
    return InferRequest(item=Item(tensors=heads, wanted=wanted, is_binary=True), buffers=buffers, id=message.id)


def answer_fields(outcome: Outcome, buffers: list[Buffer], *, is_raw: bool) -> dict[str, Any]:
    """`outputs`, and `raw_output_contents` when asked for raw or when there is no typed form."""
    outputs: list[dict[str, Any]] = [
        {"name": head.name, "datatype": head.datatype, "shape": head.shape} for head in outcome.tensors
    ]
    if is_raw or any(head.datatype not in _FIELDS for head in outcome.tensors):
        return {"outputs": outputs, "raw_output_contents": [bytes(buffer) for buffer in buffers]}
    for output, head, buffer in zip(outputs, outcome.tensors, buffers, strict=True):
        output["contents"] = {_FIELDS[head.datatype]: _values(head, buffer)}
    return {"outputs": outputs}


def _typed(tensor: Any) -> bytes:
    field = _FIELDS.get(tensor.datatype)
    if field is None:
        raise InvalidInput(f"Input {tensor.name!r} is {tensor.datatype}: send it in raw_input_contents.")
    values = getattr(tensor.contents, field)
    wanted = math.prod(filled_shape(list(tensor.shape), len(values)))
    if len(values) != wanted:
        raise InvalidInput(
            f"Input {tensor.name!r} has shape {list(tensor.shape)}, which is {abs(wanted)} values; "
            f"{field} has {len(values)}."
        )
    if field == "bytes_contents":
        return b"".join(part for value in values for part in (_LENGTH.pack(len(value)), value))
    try:
        return np.array(list(values), dtype=NUMPY_TYPES[tensor.datatype].newbyteorder("<")).tobytes()
    except OverflowError as problem:
        raise InvalidInput(f"Input {tensor.name!r} is {tensor.datatype}: {problem}.") from None


def _values(head: TensorHead, buffer: Buffer) -> list[Any]:
    if head.datatype != "BYTES":
        return list(np.frombuffer(buffer, dtype=NUMPY_TYPES[head.datatype].newbyteorder("<")).tolist())
    values, start = [], 0
    while start < len(buffer):
        (length,) = _LENGTH.unpack_from(buffer, start)
        values.append(bytes(buffer[start + _LENGTH.size : start + _LENGTH.size + length]))
        start += _LENGTH.size + length
    return values
