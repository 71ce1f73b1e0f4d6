"""Packed sets, in a folder, in a real S3 and in the fake store: what was packed is what is read."""

import contextlib
import json
import pickle
import threading
from pathlib import Path
from typing import Any

import obstore
import pytest

from resolute.domain.errors import InvalidInput, NotFound, Unavailable
from resolute.imagery.locations import open_place
from resolute.imagery.shards.pack import pack
from resolute.imagery.shards.reader import ShardReader


@pytest.fixture
def coco_set(tmp_path: Path) -> tuple[Path, Path]:
    """Twenty `images` of 1 to 20 hundred bytes with one label each, and one that is missing."""
    folder = tmp_path / "images"
    folder.mkdir()
    images = []
    for number in range(1, 21):
        (folder / f"{number}.jpg").write_bytes(bytes([number]) * (100 * number))
        images.append({"id": number, "file_name": f"{number}.jpg", "width": 10 * number, "height": 100})
    images.append({"id": 99, "file_name": "gone.jpg", "width": 1, "height": 1})
    labels: list[dict[str, Any]] = [
        {"id": image["id"], "image_id": image["id"], "bbox": [0, 0, 1, 1], "category_id": 0, "area": 1}
        for image in images
    ]
    path = tmp_path / "train.json"
    categories = [{"id": 0, "name": "ship"}]
    path.write_text(json.dumps({"images": images, "annotations": labels, "categories": categories}))
    return folder, path


def test_what_was_packed_is_read_back(packed_url: str, coco_set: tuple[Path, Path], tmp_path: Path) -> None:
    result = pack(*coco_set, packed_url, shard_bytes=4000)

    reader = ShardReader(packed_url, cache=tmp_path / "cache", cache_bytes=100_000)

    assert (result.images, result.missing) == (20, ["gone.jpg"])
    assert result.shards > 4
    assert len(reader) == 20
    for index, sample in enumerate(reader.index.samples):
        assert reader.read(index) == bytes([sample.image_id]) * (100 * sample.image_id)
    labels = reader.annotations()
    assert {image.id for image in labels.images} == set(range(1, 21))
    assert 99 not in {label.image_id for label in labels.annotations}
    reader.close()


def test_a_small_cache_keeps_to_its_size(packed_url: str, coco_set: tuple[Path, Path], tmp_path: Path) -> None:
    pack(*coco_set, packed_url, shard_bytes=2000)
    cache = tmp_path / "cache"
    with ShardReader(packed_url, cache=cache, cache_bytes=5000, ahead=1) as reader:
        reader.plan(range(20))

        for _ in range(2):
            for index in range(20):
                reader.read(index)
                assert _held(cache) <= 5000


def _held(cache: Path) -> int:
    """Bytes of shards; one may go while it is looked at."""
    total = 0
    for path in cache.glob("*/*.bin"):
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def test_readers_in_other_processes_and_threads_share_a_cache(
    packed_url: str, coco_set: tuple[Path, Path], tmp_path: Path
) -> None:
    pack(*coco_set, packed_url, shard_bytes=3000)
    first = ShardReader(packed_url, cache=tmp_path / "cache")
    first.plan(range(20))
    readers = [first, pickle.loads(pickle.dumps(first))]
    failures: list[BaseException] = []

    def read_all(reader: ShardReader) -> None:
        try:
            for index, sample in enumerate(reader.index.samples):
                assert len(reader.read(index)) == sample.length
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read_all, args=(reader,)) for reader in readers * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    for reader in readers:
        reader.close()


def test_a_damaged_file_in_the_cache_is_fetched_again(
    packed_url: str, coco_set: tuple[Path, Path], tmp_path: Path
) -> None:
    pack(*coco_set, packed_url)
    with ShardReader(packed_url, cache=tmp_path / "cache") as reader:
        whole = reader.read(3)
    (cached,) = reader.folder.glob("*.bin")
    cached.write_bytes(b"x" * cached.stat().st_size)

    with ShardReader(packed_url, cache=tmp_path / "cache") as reader:
        assert reader.read(3) == whole


def test_a_damaged_store_is_told(packed_url: str, coco_set: tuple[Path, Path], tmp_path: Path) -> None:
    pack(*coco_set, packed_url)
    obstore.put(open_place(packed_url, is_writing=True), "shard-00000.bin", b"x" * 21_000)

    with pytest.raises(Unavailable, match=r"shard-00000.bin of .* differs from its index"):
        ShardReader(packed_url, cache=tmp_path / "cache").read(0)


def test_packing_twice_gives_the_same_bytes(coco_set: tuple[Path, Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        pack(*coco_set, str(tmp_path / name), shard_bytes=5000, seed=4)

    files = [sorted(p.name for p in (tmp_path / name).iterdir()) for name in ("a", "b")]
    assert files[0] == files[1]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files[0])


def test_what_cannot_be_packed_or_read_is_refused(coco_set: tuple[Path, Path], tmp_path: Path) -> None:
    images, labels = coco_set
    empty = tmp_path / "empty"
    empty.mkdir()

    with pytest.raises(InvalidInput, match="None of the images"):
        pack(empty, labels, str(tmp_path / "out"))
    with pytest.raises(NotFound, match="no packed set"):
        ShardReader(str(empty), cache=tmp_path / "cache")
    pack(images, labels, str(tmp_path / "out"))
    with pytest.raises(InvalidInput, match="smaller than a shard"):
        ShardReader(str(tmp_path / "out"), cache=tmp_path / "cache", cache_bytes=10)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"format": 2}, "format 2"),
        ({"shards": [{"name": "../x", "size": 1, "sha256": ""}], "samples": []}, "not trusted"),
        ({"samples": [[1, "a", 1, 1, 0, 5, 99_999_999, 0]]}, "outside of its shard"),
        ({"samples": [[1, "a", 1, 1, 7, 0, 1, 0]]}, "outside of its shard"),
    ],
)
def test_an_index_that_cannot_be_trusted_is_refused(
    coco_set: tuple[Path, Path], tmp_path: Path, change: dict[str, Any], match: str
) -> None:
    out = tmp_path / "out"
    pack(*coco_set, str(out))
    index = json.loads((out / "index.json").read_text())
    (out / "index.json").write_text(json.dumps({**index, **change}))

    with pytest.raises(InvalidInput, match=match):
        ShardReader(str(out), cache=tmp_path / "cache")
