"""Training streams from packed sets: the same samples as from a folder, and a stop loses and repeats none."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.shards.pack import pack
from resolute.training.pytorch.data import DataLoader, Position, TrainingData
from resolute.vision.data.dataset import CocoDetection, TrainingSamples, collate
from resolute.vision.settings import read_settings
from resolute.vision.splits import Splits, open_splits

Write = Callable[..., Path]
IMAGES = 40


@pytest.fixture
def packed(write_set: Write, tmp_path: Path) -> Iterator[Splits]:
    """Forty training tiles in about ten shards, and a few to validate on."""
    write_set("train", IMAGES, side=32)
    root = write_set("val", 3, side=32)
    for split in ("train", "val"):
        pack(
            root / f"{split}_images_64_02",
            root / f"{split}_64_02.json",
            f"{tmp_path}/packed/{split}",
            shard_bytes=13_000,
        )
    splits = opened(tmp_path)
    yield splits
    for source in (splits.train_source, splits.val_source):
        source.close()  # type: ignore[attr-defined]


def opened(root: Path, **hparams: Any) -> Splits:
    given = {"backend": "packed", "data_dir": f"{root}/packed", "cache_dir": f"{root}/cache", **hparams}
    return open_splits(read_settings(given), with_masks=False, seed=0)


def samples(splits: Splits, **options: Any) -> TrainingSamples:
    dataset = CocoDetection(splits.train, splits.train_source)
    return TrainingSamples(dataset, None, seed=5, batch_size=6, **options)


def seen(dataset: TrainingSamples, *, rank: int, size: int, position: Position, workers: int = 0) -> list[list[int]]:
    """Image ids, per batch."""
    loader = DataLoader(dataset, collate_fn=collate, num_workers=workers)
    data = TrainingData(loader, global_batch_size=6, rank=rank, size=size, seed=1)
    data.position = position
    dataset.set_epoch(position.epoch)
    return [[target["image_id"] for target in targets] for (_, targets), _ in data.epoch()]


def together(splits: Splits, size: int, position: Position) -> list[list[int]]:
    """What all ranks see in each batch, sorted."""
    ranks = [seen(samples(splits), rank=rank, size=size, position=replace(position)) for rank in range(size)]
    return [sorted(flat(batches)) for batches in zip(*ranks, strict=True)]


def flat(lists: Iterable[list[int]]) -> list[int]:
    return [number for each in lists for number in each]


def test_every_tile_comes_once_with_its_own_pixels_and_labels(packed: Splits, tmp_path: Path) -> None:
    folder = open_splits(read_settings({"data_dir": str(tmp_path)}), with_masks=False, seed=0)
    plain = CocoDetection(folder.train, folder.train_source)
    by_id = {plain.table.samples[at].image_id: plain[at] for at in range(len(plain))}
    dataset = samples(packed)

    found = [dataset[at] for at in range(len(dataset))]

    assert sorted(target["image_id"] for _, target in found) == list(range(1, IMAGES + 1))
    for image, target in found:
        same_image, same_target = by_id[target["image_id"]]
        assert torch.equal(image, same_image)
        assert torch.equal(target["boxes"], same_target["boxes"])


def test_a_few_shards_are_read_at_a_time(packed: Splits) -> None:
    dataset = samples(packed)
    shard_of = dict(
        zip(
            (sample.image_id for sample in packed.train.samples),
            packed.train_source.shards_of(packed.train.samples).tolist(),  # type: ignore[attr-defined]
            strict=True,
        )
    )

    visited = [shard_of[dataset[at][1]["image_id"]] for at in range(len(dataset))]

    assert len(set(visited)) > 6
    first = {shard: visited.index(shard) for shard in set(visited)}
    assert all(len(set(visited[first[shard] : first[shard] + 3])) <= 4 for shard in first)


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 3)])
def test_a_stop_and_another_number_of_ranks_lose_and_repeat_no_sample(packed: Splits, before: int, after: int) -> None:
    whole = together(packed, before, Position(epoch=2))

    rest = together(packed, after, Position(epoch=2, samples=18))

    assert rest[:-1] == whole[3 : 3 + len(rest) - 1]
    assert sorted(flat(whole[:3]) + flat(rest)) == list(range(1, IMAGES + 1))


@pytest.mark.filterwarnings("ignore:This process.*use of fork")
def test_the_number_of_workers_changes_nothing(packed: Splits) -> None:
    alone, shared = (
        seen(samples(packed), rank=0, size=1, position=Position(epoch=1), workers=workers) for workers in (0, 2)
    )

    assert alone == shared


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no folder"):
        opened(tmp_path)
    with pytest.raises(InvalidInput, match="no data_dir"):
        opened(tmp_path, data_dir="")
    with pytest.raises(InvalidInput, match="cache_gb"):
        opened(tmp_path, cache_gb=0)
    with pytest.raises(InvalidInput, match="tile_size needs backend local"):
        opened(tmp_path, tile_size=64)
