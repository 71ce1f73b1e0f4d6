"""The index of a packed set: which shard holds which image, and where. Pure.

A packed set is `index.json`, `annotations.json` (COCO) and `shard-00000.bin` ...: the encoded images one after another.
"""

from typing import Any

import msgspec

from resolute.domain.errors import InvalidInput

INDEX = "index.json"
ANNOTATIONS = "annotations.json"
FORMAT = 1


class Shard(msgspec.Struct, frozen=True):
    name: str
    size: int
    sha256: str


class Sample(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One image. `crc32` is that of its bytes."""

    image_id: int
    file_name: str
    width: int
    height: int
    shard: int
    offset: int
    length: int
    crc32: int


class Index(msgspec.Struct, frozen=True):
    shards: list[Shard]
    samples: list[Sample]
    """Ordered by shard and offset."""
    format: int = FORMAT
    preprocessing: dict[str, Any] | None = None
    """How the pictures were made."""


def encode(index: Index) -> bytes:
    return msgspec.json.encode(index)


def decode(text: bytes, place: str) -> Index:
    """Raises InvalidInput for what no `resolute data pack` wrote."""
    try:
        index = msgspec.json.decode(text, type=Index)
    except msgspec.DecodeError as problem:
        raise InvalidInput(f"The index at {place} is damaged: {problem}. Pack the set again.") from problem
    if index.format != FORMAT:
        raise InvalidInput(
            f"The set at {place} is packed in format {index.format}; this release reads {FORMAT}. Pack it again."
        )
    for shard in index.shards:
        if "/" in shard.name or "\\" in shard.name or shard.name.startswith("."):
            raise InvalidInput(
                f"The index at {place} names the shard {shard.name!r}, outside of it. It is not trusted."
            )
    for sample in index.samples:
        inside = 0 <= sample.shard < len(index.shards) and sample.offset >= 0
        if not inside or sample.offset + sample.length > index.shards[sample.shard].size:
            raise InvalidInput(
                f"The index at {place} puts {sample.file_name} outside of its shard. Pack the set again."
            )
    return index
