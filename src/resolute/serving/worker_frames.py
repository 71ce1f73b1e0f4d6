"""What travels between the server and a model process: msgpack headers followed by raw buffers. No pickle, no I/O.

A frame is `<u32 header length><u64 length of all buffers>`, the header, and the buffers in the order of its `sizes`.
JSON and tensors stay the bytes that they came as: the server never decodes what only the model looks at.
"""

import struct
from collections.abc import Sequence
from typing import Any

import msgspec

from resolute.serving.model import ModelMetadata

Buffer = bytes | bytearray | memoryview
_PREFIX = struct.Struct("<IQ")


class TensorHead(msgspec.Struct, array_like=True, frozen=True):
    """A tensor whose data is the next buffer."""

    name: str
    datatype: str
    shape: list[int]
    is_json: bool
    """A JSON array (flat or nested), not little-endian row-major bytes."""


class FieldHead(msgspec.Struct, array_like=True, frozen=True):
    """A field of a request whose content is the next buffer."""

    name: str
    content_type: str
    """In lower case, without parameters; empty when the sender did not say."""


class Item(msgspec.Struct, array_like=True, frozen=True):
    """One request. V1: `instances` says how many are in its one buffer, a JSON array. V2: a buffer per tensor.
    For a handler that takes requests as they came: a buffer per field."""

    instances: int = 0
    tensors: list[TensorHead] = []
    wanted: list[tuple[str, bool]] | None = None
    """Outputs asked for, and whether as binary; None: all of them."""
    is_binary: bool = False
    """What to do with outputs that `wanted` does not name."""
    fields: list[FieldHead] = []
    headers: dict[str, str] = {}
    id: str = ""

    @property
    def buffers(self) -> int:
        """How many of the call's buffers are its own."""
        return len(self.tensors) or len(self.fields) or 1


class Start(msgspec.Struct, tag="start", array_like=True, frozen=True):
    source: str
    load: str
    options: dict[str, Any]


class Call(msgspec.Struct, tag="call", array_like=True, frozen=True):
    verb: str
    """`predict`, `explain`, `infer`; `handle` and `handle_explain` for requests as they came."""
    items: list[Item]


class Ready(msgspec.Struct, tag="ready", array_like=True, frozen=True):
    metadata: ModelMetadata


class Refused(msgspec.Struct, tag="refused", array_like=True, frozen=True):
    """The model could not be loaded. `is_final`: trying again would end the same."""

    message: str
    is_final: bool


class Outcome(msgspec.Struct, array_like=True, frozen=True):
    """How one item ended. V1: one buffer, a JSON array. V2: a buffer per tensor. With `code` set: none, it failed.
    Of a request as it came: one buffer, with the status, type and headers that its handler chose."""

    tensors: list[TensorHead] = []
    code: str = ""
    message: str = ""
    status: int = 200
    content_type: str = ""
    headers: dict[str, str] = {}


class Done(msgspec.Struct, tag="done", array_like=True, frozen=True):
    outcomes: list[Outcome]


Message = Start | Call | Ready | Refused | Done


class _Header(msgspec.Struct, array_like=True):
    sizes: list[int]
    message: Message


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Header).decode


def pack(message: Message, buffers: Sequence[Buffer] = ()) -> list[Buffer]:
    """The parts of a frame, to be written one after the other."""
    sizes = [len(buffer) for buffer in buffers]
    header = _encode(_Header(sizes, message))
    return [_PREFIX.pack(len(header), sum(sizes)) + header, *buffers]


def unpack(header: Buffer, body: memoryview) -> tuple[Message, list[memoryview]]:
    head = _decode(header)
    buffers = []
    start = 0
    for size in head.sizes:
        buffers.append(body[start : start + size])
        start += size
    return head.message, buffers


def lengths(prefix: Buffer) -> tuple[int, int]:
    """Of header and of buffers."""
    header, body = _PREFIX.unpack(prefix)
    return header, body


PREFIX_BYTES = _PREFIX.size


class FrameReader:
    """Frames out of a stream that arrives in pieces of any size."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._needed = PREFIX_BYTES

    def feed(self, data: bytes) -> list[tuple[Message, list[memoryview]]]:
        """What is complete now."""
        self._held += data
        frames = []
        while len(self._held) >= self._needed:
            header, body = lengths(memoryview(self._held)[:PREFIX_BYTES].tobytes())
            end = PREFIX_BYTES + header + body
            self._needed = end
            if len(self._held) < end:
                break
            whole, self._held = self._held, self._held[end:]
            view = memoryview(whole)
            frames.append(unpack(view[PREFIX_BYTES : PREFIX_BYTES + header], view[PREFIX_BYTES + header : end]))
            self._needed = PREFIX_BYTES
        return frames
