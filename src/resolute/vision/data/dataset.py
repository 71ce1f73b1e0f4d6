"""Torch datasets of detection samples: pixels as uint8, targets as torchvision's detectors want them."""

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from resolute.domain.errors import InvalidInput, NotFound
from resolute.vision.data.labels import LabelTable, Sample
from resolute.vision.data.masks import masks_of
from resolute.vision.data.order import Ints, aspect_groups, epoch_order, generator, repeated
from resolute.vision.data.packed import PackedImages
from resolute.vision.data.sources import ImageSource, Pixels

_log = logging.getLogger("resolute")
Target = dict[str, Any]
Pair = tuple[torch.Tensor, Target]
Transform = Callable[[torch.Tensor, Target, np.random.Generator], Pair]
BAD_IMAGES = ("refuse", "skip")


class CocoDetection(Dataset[Pair]):
    """The samples of a table, in its order. `bad_images`: refuse an unreadable picture, or show a blank one."""

    def __init__(
        self, table: LabelTable, source: ImageSource, *, with_masks: bool = False, bad_images: str = "refuse"
    ) -> None:
        if bad_images not in BAD_IMAGES:
            raise InvalidInput(f"bad_images is {bad_images!r}; use one of {', '.join(BAD_IMAGES)}.")
        self.table = table
        self.problems: Counter[str] = Counter()
        self._source = source
        self._with_masks = with_masks
        self._skips = bad_images == "skip"

    @property
    def packed(self) -> PackedImages | None:
        """The source, when it is one that is read best in its own order."""
        return self._source if isinstance(self._source, PackedImages) else None

    def __len__(self) -> int:
        return len(self.table.samples)

    def __getitem__(self, index: int) -> Pair:
        pair = self.read(index)
        return pair if pair is not None else self._blank(index)

    def read(self, index: int) -> Pair | None:
        """None: the picture cannot be read, and the policy is to go on without it."""
        sample = self.table.samples[index]
        try:
            pixels = self._source.read(sample)
        except (InvalidInput, NotFound) as problem:
            if not self._skips:
                raise
            self.problems[str(problem)] += 1
            _log.warning("%s It is left out.", problem)
            return None
        _check_size(pixels, sample)
        return torch.from_numpy(pixels).permute(2, 0, 1), self._target(sample)

    def _target(self, sample: Sample) -> Target:
        target: Target = {
            "boxes": torch.from_numpy(sample.boxes.copy()),
            "labels": torch.from_numpy(sample.labels.copy()),
            "image_id": sample.image_id,
            "area": torch.from_numpy(sample.areas.copy()),
            "iscrowd": torch.from_numpy(sample.is_crowd.astype(np.int64)),
        }
        if self._with_masks:
            target["masks"] = torch.from_numpy(masks_of(sample))
        return target

    def _blank(self, index: int) -> Pair:
        sample = self.table.samples[index]
        return torch.zeros((3, sample.height, sample.width), dtype=torch.uint8), self._target(sample)


class TrainingSamples(Dataset[Pair]):
    """An epoch's samples in the epoch's order, augmented. Position i of epoch e is the same picture everywhere.

    The loader must not shuffle: the order is made here. `set_epoch` is seen by worker processes too.
    """

    def __init__(
        self,
        dataset: CocoDetection,
        transform: Transform | None,
        *,
        seed: int,
        batch_size: int,
        aspect_factor: int = 0,
        repeat_threshold: float = 0.0,
    ) -> None:
        samples = dataset.table.samples
        self._dataset = dataset
        self.transform = transform
        self._seed, self._batch_size = seed, batch_size
        rare = repeat_threshold > 0
        self._indices = repeated(samples, repeat_threshold, seed) if rare else np.arange(len(samples))
        self._groups = aspect_groups(samples, self._indices, aspect_factor)
        packed = dataset.packed
        self._shards = packed.shards_of([samples[index] for index in self._indices]) if packed else None
        self._epoch = torch.zeros(1, dtype=torch.int64)
        self._epoch.share_memory_()  # type: ignore[no-untyped-call]
        self._order: tuple[int, Ints] | None = None

    def __len__(self) -> int:
        return len(self._indices)

    def set_epoch(self, epoch: int) -> None:
        self._epoch[0] = epoch

    def __getitem__(self, position: int) -> Pair:
        epoch = int(self._epoch[0])
        index = int(self._order_of(epoch)[position])
        draw = generator(self._seed, 2, epoch, position)
        image, target = self._readable(index)
        if self.transform is not None:
            image, target = self.transform(image, target, draw)
        return image, target

    def partner(self, draw: np.random.Generator) -> Pair:
        """Another sample, for augmentations that join several."""
        return self._readable(int(draw.choice(self._indices)))

    def _readable(self, index: int) -> Pair:
        for step in range(len(self._dataset)):
            pair = self._dataset.read((index + step) % len(self._dataset))
            if pair is not None:
                return pair
        raise InvalidInput(f"None of the images of {self._dataset.table.name} can be read. Check data_dir.")

    def _order_of(self, epoch: int) -> Ints:
        if self._order is None or self._order[0] != epoch:
            order = epoch_order(
                self._indices,
                self._groups,
                batch_size=self._batch_size,
                seed=self._seed,
                epoch=epoch,
                shards=self._shards,
            )
            if self._dataset.packed:
                self._dataset.packed.plan([self._dataset.table.samples[index] for index in order])
            self._order = (epoch, order)
        return self._order[1]


def collate(pairs: list[Pair]) -> tuple[list[torch.Tensor], list[Target]]:
    """Images differ in size, so a batch is two lists."""
    return [image for image, _ in pairs], [target for _, target in pairs]


def _check_size(pixels: Pixels, sample: Sample) -> None:
    height, width = pixels.shape[:2]
    if (width, height) != (sample.width, sample.height):
        raise InvalidInput(
            f"The image {sample.file_name} is {width} x {height} pixels, but the labels say {sample.width} x "
            f"{sample.height}, so its boxes would be wrong. Make the labels from these images."
        )
