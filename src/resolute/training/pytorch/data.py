"""Data loading whose position can be saved: every rank knows how many samples of the epoch all ranks have seen.

The order of an epoch is one global permutation, made from the seed and the epoch's number. A batch takes the next
`global_batch_size` samples of it and deals them to the ranks. So a run that continues, also with another number of
ranks, takes up at the exact sample, with none lost and none repeated.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import BatchSampler, Dataset, IterableDataset, RandomSampler, SequentialSampler
from torch.utils.data import DataLoader as TorchDataLoader

from resolute.domain.errors import InvalidInput


class DataLoader:
    """What `build_training_data_loader` may return: the arguments of torch's loader, not yet bound to ranks."""

    def __init__(
        self,
        dataset: Dataset[Any],
        batch_size: int | None = None,
        *,
        shuffle: bool = False,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        **options: Any,
    ) -> None:
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.options: dict[str, Any] = {
            "num_workers": num_workers,
            "collate_fn": collate_fn,
            "pin_memory": pin_memory,
            **options,
        }


@dataclass(slots=True)
class Position:
    """Where training is in its data. `samples` counts over all ranks, inside the epoch."""

    epoch: int = 0
    samples: int = 0
    batches: int = 0


def epoch_order(length: int, *, shuffle: bool, seed: int, epoch: int) -> torch.Tensor:
    if not shuffle:
        return torch.arange(length)
    generator = torch.Generator().manual_seed(_mix(seed, epoch))
    return torch.randperm(length, generator=generator)


def next_chunk(length: int, position: int, global_batch_size: int, size: int, *, drop_last: bool) -> int:
    """How many samples the next global batch takes. A rest too small for one sample per rank joins the last batch."""
    left = length - position
    if left < global_batch_size:
        return 0 if drop_last else left
    rest = left - global_batch_size
    return left if 0 < rest < size and not drop_last else global_batch_size


def share_of(count: int, rank: int, size: int) -> tuple[int, int]:
    """Start and end of `rank`'s part of `count` samples; the remainder goes to the first ranks."""
    each, extra = divmod(count, size)
    start = rank * each + min(rank, extra)
    return start, start + each + (1 if rank < extra else 0)


class GlobalBatches:
    """A batch sampler over the rest of one epoch for one rank. With `with_seeds`, each index comes with a seed."""

    def __init__(
        self,
        length: int,
        *,
        global_batch_size: int,
        rank: int,
        size: int,
        shuffle: bool,
        seed: int,
        drop_last: bool,
        with_seeds: bool = False,
    ) -> None:
        self.length = length
        self.global_batch_size = global_batch_size
        self.rank, self.size = rank, size
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.with_seeds = with_seeds
        self.position = Position()

    def __iter__(self) -> Iterator[list[Any]]:
        epoch, at = self.position.epoch, self.position.samples
        order = epoch_order(self.length, shuffle=self.shuffle, seed=self.seed, epoch=epoch)
        salt = _mix(self.seed, epoch + 1_000_003)
        while count := self.chunk_at(at):
            start, end = share_of(count, self.rank, self.size)
            indices = order[at + start : at + end].tolist()
            yield [(index, (salt + index) % 2**63) for index in indices] if self.with_seeds else indices
            at += count

    def chunk_at(self, at: int) -> int:
        return next_chunk(self.length, at, self.global_batch_size, self.size, drop_last=self.drop_last)

    def batches_per_epoch(self) -> int:
        at = count = 0
        while chunk := self.chunk_at(at):
            at, count = at + chunk, count + 1
        return count


class SeededSamples(Dataset[Any]):
    """For worker processes: seeds the generators per sample, so that augmentation is the same whoever does the work."""

    def __init__(self, dataset: Dataset[Any]) -> None:
        self._dataset = dataset

    def __getitem__(self, key: tuple[int, int]) -> Any:
        index, seed = key
        random.seed(seed)
        np.random.seed(seed % 2**32)
        torch.manual_seed(seed)
        return self._dataset[index]


class TrainingData:
    """The training loader of one rank: endless over epochs, starting anywhere."""

    def __init__(self, loader: Any, *, global_batch_size: int, rank: int, size: int, seed: int) -> None:
        self.position = Position()
        self._source = _as_source(loader)
        self._seed = seed
        self._sampler: GlobalBatches | None = None
        if isinstance(self._source.dataset, IterableDataset):
            self._loader: Any = loader if isinstance(loader, TorchDataLoader) else self._iterable_loader()
            self.global_batch_size = global_batch_size
            return
        length = len(self._source.dataset)  # type: ignore[arg-type]
        self._sampler = GlobalBatches(
            length,
            global_batch_size=global_batch_size,
            rank=rank,
            size=size,
            shuffle=self._source.shuffle,
            seed=seed,
            drop_last=self._source.drop_last,
            with_seeds=self._source.options["num_workers"] > 0,
        )
        _check_length(length, size, self._sampler)
        self._loader = TorchDataLoader(
            SeededSamples(self._source.dataset) if self._sampler.with_seeds else self._source.dataset,
            batch_sampler=self._sampler,
            generator=torch.Generator().manual_seed(_mix(seed, 7)),  # Keeps the global generator untouched.
            **self._source.options,
        )

    @property
    def batches_per_epoch(self) -> int | None:
        """None when the dataset does not know its length."""
        return self._sampler.batches_per_epoch() if self._sampler is not None else None

    def epoch(self) -> Iterator[tuple[Any, int]]:
        """The rest of the current epoch: each batch with the number of samples all ranks take together.

        The caller moves `position` on with `advance` after each step, so what is saved counts finished steps only.
        """
        if self._sampler is None:
            yield from self._iterable_epoch()
            return
        self._sampler.position = self.position
        at = self.position.samples
        for batch in self._loader:
            count = self._sampler.chunk_at(at)
            at += count
            yield batch, count

    def advance(self, samples: int) -> bool:
        """A step on `samples` samples is done. True: it was the epoch's last."""
        self.position.samples += samples
        self.position.batches += 1
        return self._sampler is not None and not self._sampler.chunk_at(self.position.samples)

    def end_epoch(self) -> None:
        self.position.epoch += 1
        self.position.samples = self.position.batches = 0

    def _iterable_epoch(self) -> Iterator[tuple[Any, int]]:
        skip = self.position.batches
        is_empty = True
        for number, batch in enumerate(self._loader):
            is_empty = False
            if number >= skip:
                yield batch, self.global_batch_size
        if is_empty:
            raise _empty("training")

    def _iterable_loader(self) -> Any:
        source = self._source
        return TorchDataLoader(source.dataset, batch_size=source.batch_size, **source.options)


class ValidationData:
    """This rank's every-`size`-th sample, in order. Each sample is seen once over all ranks."""

    def __init__(self, loader: Any, *, rank: int, size: int, per_slot_batch_size: int) -> None:
        source = _as_source(loader)
        self._indices: range | None = None
        self._batch_size = source.batch_size or per_slot_batch_size
        if isinstance(source.dataset, IterableDataset):
            ready = isinstance(loader, TorchDataLoader)
            self.loader = loader if ready else TorchDataLoader(source.dataset, self._batch_size, **source.options)
            return
        length = len(source.dataset)  # type: ignore[arg-type]
        if length == 0:
            raise _empty("validation")
        self._indices = range(rank, length, size)
        sampler = BatchSampler(self._indices, self._batch_size, drop_last=False)
        self.loader = TorchDataLoader(source.dataset, batch_sampler=sampler, **source.options)

    def batches(self) -> Iterator[tuple[Any, int]]:
        """Each batch with its number of samples."""
        left = len(self._indices) if self._indices is not None else None
        for batch in self.loader:
            if left is None:
                yield batch, batch_length(batch)
                continue
            count = min(self._batch_size, left)
            left -= count
            yield batch, count


def _as_source(loader: Any) -> DataLoader:
    if isinstance(loader, DataLoader):
        return loader
    if not isinstance(loader, TorchDataLoader):
        raise InvalidInput(
            f"A data loader is a {type(loader).__name__}; return resolute.pytorch.DataLoader or "
            "torch.utils.data.DataLoader."
        )
    sampler = loader.sampler
    is_plain = isinstance(sampler, RandomSampler | SequentialSampler) or isinstance(loader.dataset, IterableDataset)
    if not is_plain:
        raise InvalidInput(
            f"The data loader has its own sampler ({type(sampler).__name__}), whose position cannot be saved. "
            "Pass shuffle=True or False instead, or wrap the dataset so that its order is the sampler's."
        )
    options: dict[str, Any] = {"num_workers": loader.num_workers, "collate_fn": loader.collate_fn}
    options |= {"pin_memory": loader.pin_memory, "worker_init_fn": loader.worker_init_fn, "timeout": loader.timeout}
    if loader.num_workers:
        options |= {"prefetch_factor": loader.prefetch_factor, "persistent_workers": loader.persistent_workers}
    return DataLoader(
        loader.dataset,
        loader.batch_size,
        shuffle=isinstance(sampler, RandomSampler),
        drop_last=loader.drop_last,
        **options,
    )


def _check_length(length: int, size: int, sampler: GlobalBatches) -> None:
    if length == 0:
        raise _empty("training")
    if length < size:
        raise InvalidInput(
            f"The training data has {length} samples but there are {size} slots; each slot needs at least one. "
            "Use more data, or lower resources.slots_per_trial."
        )
    if not sampler.chunk_at(0):
        raise InvalidInput(
            f"The training data has {length} samples, fewer than one global batch of {sampler.global_batch_size}, and "
            "drop_last drops them all. Lower global_batch_size or turn drop_last off."
        )


def _empty(kind: str) -> InvalidInput:
    return InvalidInput(
        f"The {kind} data loader has length zero. Check the dataset's path and filters in build_{kind}_data_loader."
    )


def _mix(seed: int, number: int) -> int:
    """Far-apart seeds for neighbouring numbers."""
    return (seed * 0x9E3779B97F4A7C15 + number * 0xBF58476D1CE4E5B9 + 0x94D049BB133111EB) % 2**63


def batch_length(batch: Any) -> int:
    """Samples in a batch: the first dimension of its first tensor, or the length of its first list."""
    if isinstance(batch, torch.Tensor):
        return int(batch.shape[0]) if batch.ndim else 1
    if isinstance(batch, dict):
        return batch_length(next(iter(batch.values()))) if batch else 0
    if isinstance(batch, Sequence) and not isinstance(batch, str | bytes) and batch:
        return batch_length(batch[0]) if isinstance(batch[0], torch.Tensor | dict) else len(batch)
    return 1
