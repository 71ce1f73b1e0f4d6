"""From hyperparameters to the two datasets of a training: what is learnt from and what is measured on."""

import logging
from dataclasses import dataclass

import msgspec

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.preprocessing import Preprocessing, disagreement
from resolute.vision.data.fake import fake_labels
from resolute.vision.data.labels import MISSING, LabelTable, check_same_classes, read_labels, tiled, to_learn_from
from resolute.vision.data.packed import PackedImages
from resolute.vision.data.registered import find_dataset
from resolute.vision.data.sources import FakeImages, ImageSource
from resolute.vision.data.split_files import PACKED, Split, open_packed, open_split
from resolute.vision.detections import ClassName
from resolute.vision.settings import DetectionSettings

_log = logging.getLogger("resolute")
_FAKE_CLASSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    train: LabelTable
    train_source: ImageSource
    val: LabelTable
    val_source: ImageSource
    reference: str | None
    """`name:version` when it is a registered dataset."""
    preprocessing: Preprocessing | None = None
    """How the pictures of both were made; None when nothing says."""

    @property
    def classes(self) -> tuple[ClassName, ...]:
        return self.train.classes

    def close(self) -> None:
        """Ends the reading ahead of packed sets. Nothing can be read after it."""
        for source in (self.train_source, self.val_source):
            if isinstance(source, PackedImages):
                source.close()


def open_splits(settings: DetectionSettings, *, with_masks: bool, seed: int) -> Splits:
    """Raises when the labels cannot be used, the tables disagree, or num_classes contradicts them."""
    splits = (
        _fake(settings, seed) if settings.backend == "fake" and not settings.dataset else _real(settings, with_masks)
    )
    check_same_classes(splits.train, splits.val)
    _check_num_classes(settings, splits)
    return splits


def _fake(settings: DetectionSettings, seed: int) -> Splits:
    classes = (settings.num_classes or _FAKE_CLASSES + 1) - 1
    side, images = settings.fake_size, settings.fake_images
    return Splits(
        train=fake_labels("train", images=images, classes=classes, side=side, seed=seed),
        train_source=FakeImages(),
        val=fake_labels("val", images=max(images // 4, 1), classes=classes, side=side, seed=seed),
        val_source=FakeImages(),
        reference=None,
    )


def _real(settings: DetectionSettings, with_masks: bool) -> Splits:
    backend, data_dir, reference = settings.backend, settings.data_dir, None
    train = Split(name="train", labels=settings.train_labels, images=settings.train_images)
    val = Split(name="val", labels=settings.val_labels, images=settings.val_images)
    classes: tuple[ClassName, ...] | None = None
    if settings.dataset:
        found = find_dataset(settings.dataset)
        backend, data_dir, reference = found.backend, found.data_dir, found.reference
        train, val, classes = found.train, found.val, found.classes
    (train_table, train_source), (val_table, val_source) = (
        _read(split, settings, backend, data_dir, with_masks) for split in (train, val)
    )
    if classes and classes != train_table.classes:
        raise InvalidInput(
            f"The class table of dataset {reference} and that of its label file {train_table.name} disagree. "
            "Register the dataset again."
        )
    return Splits(
        train=to_learn_from(train_table),
        train_source=train_source,
        val=val_table,
        val_source=val_source,
        reference=reference,
        preprocessing=_preprocessing(settings, (train_table, train_source), (val_table, val_source)),
    )


def _preprocessing(
    settings: DetectionSettings, train: tuple[LabelTable, ImageSource], val: tuple[LabelTable, ImageSource]
) -> Preprocessing | None:
    """Raises InvalidInput when what is measured on was made otherwise than what is learnt from."""
    first, second = (source.preprocessing(table.samples) for table, source in (train, val))
    differs = disagreement(first, second) if first is not None and second is not None else None
    if differs is not None:
        raise InvalidInput(
            f"The images of {train[0].name} and {val[0].name} were made differently: {differs}. Make both from the "
            "original files with the same --bands, --stretch and --limits."
        )
    if first is None or not settings.tile_size:
        return first
    return msgspec.structs.replace(first, tile_size=settings.tile_size, overlap=settings.tile_overlap)


def _read(
    split: Split, settings: DetectionSettings, backend: str, data_dir: str, with_masks: bool
) -> tuple[LabelTable, ImageSource]:
    if backend == PACKED:
        found = open_packed(split, data_dir=data_dir, cache_dir=settings.cache_dir, cache_gb=settings.cache_gb)
    else:
        found = open_split(split, backend=backend, data_dir=data_dir, options=settings.render_options())
    table = read_labels(found.labels, found.labels_place, with_masks=with_masks)
    table = _with_images(table, found.source, skips=settings.bad_images == "skip")
    if settings.tile_size:
        table = tiled(table, settings.tile_size, settings.tile_overlap)
    return table, found.source


def _with_images(table: LabelTable, source: ImageSource, *, skips: bool) -> LabelTable:
    there = [sample for sample in table.samples if source.has(sample)]
    if len(there) == len(table.samples):
        return table
    gone = next(sample.file_name for sample in table.samples if not source.has(sample))
    count = len(table.samples) - len(there)
    if not skips or not there:
        raise NotFound(
            f"{table.name} names {len(table.samples)} images, but {count} of them are not there, such as {gone}. "
            "Fetch them, correct the image folder, or set bad_images: skip to train without them."
        )
    return table.only(there, MISSING)


def _check_num_classes(settings: DetectionSettings, splits: Splits) -> None:
    wanted = len(splits.classes) + 1
    if settings.num_classes not in (None, wanted):
        raise InvalidInput(
            f"num_classes is {settings.num_classes}, but {splits.train.name} has {len(splits.classes)} categories; "
            f"with the background that is {wanted}. Set num_classes to {wanted}, or leave it out."
        )
