"""`data pack`: a COCO set into shards. Images are copied byte for byte, never encoded again.

They are packed in a random order, so that a reader who shuffles shards and a few neighbours at a time comes close to a
full shuffle. The same input, seed and shard size give the same bytes.
"""

import hashlib
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import obstore
from obstore.store import ObjectStore

from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.files import existing_folder
from resolute.imagery.locations import explained, open_place
from resolute.imagery.preprocessing import read_record
from resolute.imagery.shards.index import ANNOTATIONS, INDEX, Index, Sample, Shard, encode
from resolute.imagery.workers import Progress

SHARD_BYTES = 64 << 20


@dataclass
class PackResult:
    images: int = 0
    shards: int = 0
    size: int = 0
    missing: list[str] = field(default_factory=list)
    """Images that the labels name and the folder does not hold; they and their labels are left out."""


def pack(
    images: Path,
    annotations: Path,
    url: str,
    *,
    shard_bytes: int = SHARD_BYTES,
    seed: int | None = 0,
    on_progress: Progress = lambda _: None,
) -> PackResult:
    """`seed` None keeps the order of the label file. The index is written last: without it there is no set."""
    if shard_bytes < 1:
        raise InvalidInput(f"The shard size is {shard_bytes} bytes; give at least 1.")
    folder = existing_folder(images)
    dataset = coco.read(annotations)
    order = list(dataset.images)
    if seed is not None:
        random.Random(seed).shuffle(order)
    result = PackResult()
    with explained(url):
        store = open_place(url, is_writing=True)
        index = _write_shards(store, _contents(folder, order, result, on_progress), shard_bytes)
        if not index.samples:
            raise InvalidInput(f"None of the images of {annotations} is in {folder}. Check both paths.")
        packed = {sample.image_id for sample in index.samples}
        kept = coco.Dataset(
            images=[image for image in dataset.images if image.id in packed],
            annotations=[label for label in dataset.annotations if label.image_id in packed],
            categories=dataset.categories,
        )
        obstore.put(store, ANNOTATIONS, msgspec.json.encode(kept))
        made = read_record(folder)
        index = msgspec.structs.replace(index, preprocessing=made.as_dict() if made else None)
        obstore.put(store, INDEX, encode(index))
    result.images, result.shards = len(index.samples), len(index.shards)
    result.size = sum(shard.size for shard in index.shards)
    return result


_Content = tuple[coco.Image, bytes]


def _contents(folder: Path, images: list[coco.Image], result: PackResult, on_progress: Progress) -> Iterator[_Content]:
    for image in images:
        try:
            content = (folder / image.file_name).read_bytes()
        except FileNotFoundError:
            result.missing.append(image.file_name)
            continue
        on_progress(1)
        yield image, content


def _write_shards(store: ObjectStore, contents: Iterator[_Content], shard_bytes: int) -> Index:
    index = Index(shards=[], samples=[])
    held = bytearray()
    for image, content in contents:
        if held and len(held) + len(content) > shard_bytes:
            index.shards.append(_put(store, len(index.shards), held))
            held = bytearray()
        index.samples.append(
            Sample(
                image.id,
                image.file_name,
                image.width,
                image.height,
                len(index.shards),
                len(held),
                len(content),
                zlib.crc32(content),
            )
        )
        held += content
    if held:
        index.shards.append(_put(store, len(index.shards), held))
    return index


def _put(store: ObjectStore, number: int, content: bytearray) -> Shard:
    shard = Shard(f"shard-{number:05d}.bin", len(content), hashlib.sha256(content).hexdigest())
    obstore.put(store, shard.name, bytes(content))
    return shard
