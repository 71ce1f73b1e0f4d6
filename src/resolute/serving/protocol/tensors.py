"""Tensors from and to the bytes of a request: JSON arrays, or little-endian row-major memory. Runs beside the model.

NaN and infinity are null in JSON, both ways, since JSON has no word for them; binary data carries them exactly.
"""

import math
import struct
import sys
from typing import Any

import msgspec
import numpy as np

from resolute.domain.errors import InvalidInput
from resolute.serving.model import NUMPY_TYPES, Tensor, datatype_of
from resolute.serving.protocol.json_text import parse, render
from resolute.serving.protocol.v2 import filled_shape
from resolute.serving.worker_frames import Buffer, TensorHead

_ANY = msgspec.json.Decoder()
_FLAT: dict[str, msgspec.json.Decoder[Any]] = {
    "f": msgspec.json.Decoder(list[float]),
    "i": msgspec.json.Decoder(list[int]),
}
_LENGTH = struct.Struct("<I")
_SENT = {"b": "booleans", "i": "whole numbers", "u": "whole numbers", "f": "numbers with fractions", "U": "strings"}
_WRITES = {"b": "true or false", "i": "whole numbers", "u": "whole numbers", "f": "numbers", "O": "strings"}


def read_tensor(head: TensorHead, data: Buffer) -> Tensor:
    """Raises InvalidInput naming the input, what its datatype and shape want, and what came."""
    return _read_json(head, data) if head.is_json else _read_binary(head, data)


def write_json(name: str, tensor: Tensor) -> bytes:
    if datatype_of(tensor) == "BYTES":
        return render([_text(name, value) for value in tensor.ravel().tolist()])
    return render(tensor.ravel().tolist())


def write_binary(tensor: Tensor) -> bytes:
    if datatype_of(tensor) == "BYTES":
        values = [value.encode() if isinstance(value, str) else bytes(value) for value in tensor.ravel().tolist()]
        return b"".join(part for value in values for part in (_LENGTH.pack(len(value)), value))
    if sys.byteorder == "big" or tensor.dtype.byteorder == ">":
        tensor = tensor.astype(tensor.dtype.newbyteorder("<"))
    return np.ascontiguousarray(tensor).tobytes()


def _read_json(head: TensorHead, data: Buffer) -> Tensor:
    dtype = NUMPY_TYPES[head.datatype]
    array = _flat(dtype, data)
    if array is None:
        values = parse(_ANY, memoryview(data), wanted=f"a list under data of input {head.name!r}")
        array = _nested(head, values)
    return _shaped(head, array).astype(dtype, copy=False)


def _flat(dtype: "np.dtype[Any]", data: Buffer) -> Tensor | None:
    """The common case, several times faster than looking at each value; None when it is another."""
    decoder = _FLAT.get("i" if dtype.kind == "u" else dtype.kind)
    if decoder is None:
        return None
    try:
        return np.array(decoder.decode(data), dtype=dtype)
    except (msgspec.MsgspecError, OverflowError, UnicodeDecodeError):
        return None


def _nested(head: TensorHead, values: Any) -> Tensor:
    dtype = NUMPY_TYPES[head.datatype]
    if not isinstance(values, list):
        raise InvalidInput(f"Input {head.name!r} has data of type {type(values).__name__}; it must be a list.")
    if head.datatype == "BYTES":
        return _strings(head, values)
    try:
        array = np.array(values)
    except (ValueError, OverflowError):
        raise InvalidInput(f"Input {head.name!r} has rows of different lengths, or numbers too large.") from None
    if array.dtype == object and dtype.kind == "f":
        array = _with_nulls(head, array)
    accepted = {"b": "b", "i": "iu", "u": "iu", "f": "iuf"}[dtype.kind]
    if array.size and array.dtype.kind not in accepted:
        sent = _SENT.get(array.dtype.kind, "a mixture of types")
        raise InvalidInput(f"Input {head.name!r} is {head.datatype}: it wants {_WRITES[dtype.kind]}, got {sent}.")
    if dtype.kind in "iu" and array.size:
        _check_range(head, array, dtype)
    return array


def _strings(head: TensorHead, values: list[Any]) -> Tensor:
    flat: list[bytes] = []
    shape = _walk(head, values, flat, depth=0)
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape) if math.prod(shape) == len(flat) else array


def _walk(head: TensorHead, values: list[Any], flat: list[bytes], *, depth: int) -> tuple[int, ...]:
    inner: tuple[int, ...] = ()
    for value in values:
        if isinstance(value, str):
            flat.append(value.encode())
        elif isinstance(value, list):
            inner = _walk(head, value, flat, depth=depth + 1)
        else:
            raise InvalidInput(f"Input {head.name!r} is BYTES: it wants strings, got {type(value).__name__}.")
    return (len(values), *inner)


def _with_nulls(head: TensorHead, array: Tensor) -> Tensor:
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in array.flat):
        return array.astype(np.float64)
    raise InvalidInput(f"Input {head.name!r} is {head.datatype}: it wants numbers, in rows of equal length.")


def _check_range(head: TensorHead, array: Tensor, dtype: "np.dtype[Any]") -> None:
    limits = np.iinfo(dtype)
    low, high = int(array.min()), int(array.max())
    if low < limits.min or high > limits.max:
        value = low if low < limits.min else high
        raise InvalidInput(f"Input {head.name!r} is {head.datatype}: {value} is outside {limits.min} to {limits.max}.")


def _read_binary(head: TensorHead, data: Buffer) -> Tensor:
    if head.datatype == "BYTES":
        return _shaped(head, _lengths_and_bytes(head, memoryview(data)))
    dtype = NUMPY_TYPES[head.datatype].newbyteorder("<")
    shape = filled_shape(head.shape, len(data) // dtype.itemsize)
    wanted = math.prod(shape) * dtype.itemsize
    if len(data) != wanted or -1 in shape:
        raise InvalidInput(
            f"Input {head.name!r} with shape {head.shape} and datatype {head.datatype} is {abs(wanted)} bytes"
            f"{' or a multiple' if -1 in shape else ''}; got {len(data)}."
        )
    array = np.frombuffer(data, dtype=dtype).reshape(shape)
    # Buffers follow one another without gaps; libraries that take the memory over expect it aligned.
    return array if array.flags.aligned else array.copy()


def _lengths_and_bytes(head: TensorHead, data: memoryview) -> Tensor:
    values, start = [], 0
    while start < len(data):
        end = start + _LENGTH.size
        length = _LENGTH.unpack(data[start:end])[0] if end <= len(data) else len(data)
        if end + length > len(data):
            raise InvalidInput(
                f"Input {head.name!r}: the BYTES value at byte {start} is longer than what follows. Each one is "
                "a 4-byte little-endian length and so many bytes."
            )
        values.append(bytes(data[end : end + length]))
        start = end + length
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _shaped(head: TensorHead, array: Tensor) -> Tensor:
    shape = tuple(filled_shape(head.shape, array.size))
    if array.size != math.prod(shape) or -1 in shape:
        multiple = "a multiple of " if -1 in shape else ""
        raise InvalidInput(
            f"Input {head.name!r} has shape {head.shape}, which is {multiple}{abs(math.prod(shape))} values; "
            f"got {array.size}."
        )
    if array.size and array.ndim > 1 and array.shape != shape:
        raise InvalidInput(f"Input {head.name!r} has shape {head.shape}, but its data is nested as {[*array.shape]}.")
    return array.reshape(shape)


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            f"Output {name!r} holds bytes that are not UTF-8 text. Ask for it with "
            '"parameters": {"binary_data": true}.'
        ) from None
