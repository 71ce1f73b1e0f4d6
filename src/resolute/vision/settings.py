"""The hyperparameters of a detection training, by the names a YAML has, checked before anything is built.

Every name is honoured; one that is not known is refused, with the closest one that is.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.imagery.render_options import RenderOptions, StretchKind
from resolute.vision.data.dataset import BAD_IMAGES
from resolute.vision.data.split_files import BACKENDS
from resolute.vision.transforms.presets import augmentation_list
from resolute.vision.zoo.settings import COMMON, NORMS, SMALLEST_SIDE, CommonSettings

_ALIASES = {
    "learning_rate": "lr",
    "wd": "weight_decay",
    "lr_gamma": "gamma",
    "augmentation": "data_augmentation",
    "augmentations": "data_augmentation",
    "workers": "num_workers",
    "aspect_ratio_group_factor": "aspect_groups",
    "train_annotations": "train_labels",
    "val_annotations": "val_labels",
    "grad_clip": "clip_gradients",
    "ema_decay": "ema",
    "score_thresh": "score_threshold",
    "nms_thresh": "nms_threshold",
    "detections_per_img": "detections_per_image",
    "amp": "precision",
    "slice_size": "tile_size",
    "overlap_ratio": "tile_overlap",
}
_LISTS = frozenset({"bands", "percentiles", "limits"})
_OPTIMIZERS = ("sgd", "adamw")
_PRECISIONS = ("", "fp32", "bf16", "fp16")
_DEVICES = ("", "cuda", "gpu", "cpu")
_AUGMENT_PLACES = ("cpu", "gpu")


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionSettings(CommonSettings):
    """Beside those of every model. Defaults are those of torchvision's scripts where it has them."""

    # model
    model: str = "fasterrcnn_resnet50_fpn"
    num_classes: int | None = None
    """With the background. None: from the labels' class table."""
    weights: str | None = None
    sync_bn: bool = False
    model_options: dict[str, Any] = field(default_factory=dict)
    fast: bool = False
    """Faster R-CNN on whole batches with static shapes, for GPUs and images of one size."""
    compile: bool = False
    channels_last: bool = False
    precision: str = ""
    device: str = ""
    # optimization
    global_batch_size: int = 16
    optimizer: str = "sgd"
    lr: float = 0.02
    momentum: float = 0.9
    weight_decay: float = 1e-4
    gamma: float = 0.1
    lr_scheduler: str = "multistep"
    step1: int | None = None
    step2: int | None = None
    warmup: str = "none"
    warmup_iters: int = 0
    warmup_ratio: float = 0.001
    clip_gradients: float | None = None
    ema: float | None = None
    bad_batches: int = 20
    """How many in a row may have a loss that is not a number; their steps are left out."""
    # data
    backend: str = "local"
    data_dir: str = ""
    cache_dir: str = ""
    """Where shards of packed sets are kept; the user's cache folder unless given."""
    cache_gb: float = 20.0
    dataset: str | None = None
    dataset_file: str = "coco"
    train_labels: str | None = None
    train_images: str | None = None
    val_labels: str | None = None
    val_images: str | None = None
    masks: bool = False
    num_workers: int = 0
    bad_images: str = "refuse"
    aspect_groups: int = 3
    repeat_threshold: float = 0.0
    """Images of classes in fewer than this share of images are shown more often; 0 is off."""
    tile_size: int | None = None
    """Cut large images into windows of this size while reading."""
    tile_overlap: float = 0.2
    bands: tuple[int, ...] | None = None
    """Of original images, from 1; None: red, green and blue by their own description."""
    stretch: str = "auto"
    percentiles: tuple[float, ...] = (2.0, 98.0)
    limits: tuple[float, ...] | None = None
    """Values that become black and white in every image alike."""
    data_augmentation: tuple[str, ...] = ("hflip",)
    augment_on: str = "cpu"
    fake_images: int = 64
    fake_size: int = 128

    @property
    def milestones(self) -> tuple[int, ...]:
        return tuple(step for step in (self.step1, self.step2) if step is not None)

    def render_options(self) -> RenderOptions:
        """How original images are read. Raises InvalidInput."""
        low, high = _numbers("percentiles", self.percentiles, 2)
        limits = None if self.limits is None else _numbers("limits", self.limits, 2)
        return RenderOptions(
            bands=None if self.bands is None else tuple(int(band) for band in _numbers("bands", self.bands)),
            stretch=StretchKind(self.stretch),
            low_percent=low,
            high_percent=high,
            limits=None if limits is None else (limits[0], limits[1]),
        )

    def model_settings(self) -> dict[str, Any]:
        """What `build_model` is given, beside weights."""
        values = {name: getattr(self, name) for name in COMMON if name != "backbone_weights"}
        return {**{name: value for name, value in values.items() if value is not None}, **self.model_options}


def read_settings(hparams: Mapping[str, Any]) -> DetectionSettings:
    """Raises InvalidInput with the name, the value and what to do."""
    known = {each.name: each for each in fields(DetectionSettings)}
    values: dict[str, Any] = {}
    for given, value in hparams.items():
        name = _ALIASES.get(given, given)
        if name not in known:
            raise InvalidInput(_unknown(given, list(known)))
        if name in values:
            raise InvalidInput(f"The hyperparameter {name} is given twice, once as {given}. Leave one of them out.")
        if value is not None:  # An empty value in a YAML file is one that was not given.
            values[name] = _typed(name, value, _type_name(known[name].type))
    if "data_augmentation" in values:
        values["data_augmentation"] = tuple(augmentation_list(hparams_value(hparams, "data_augmentation")))
    for name in _LISTS & values.keys():
        values[name] = _numbers(name, values[name])
    settings = DetectionSettings(**values)
    _check(settings)
    return settings


def hparams_value(hparams: Mapping[str, Any], name: str) -> Any:
    return next(value for given, value in hparams.items() if _ALIASES.get(given, given) == name)


def _unknown(given: str, known: list[str]) -> str:
    close = difflib.get_close_matches(given, [*known, *_ALIASES], 1, 0.6)
    hint = f" Did you mean {close[0]}?" if close else ""
    return (
        f"There is no hyperparameter {given!r} for a detection training.{hint} Options of one architecture go under "
        f"model_options. The names are: {', '.join(sorted(known))}."
    )


def _type_name(declared: Any) -> str:
    return declared.__name__ if isinstance(declared, type) else str(declared)


def _typed(name: str, value: Any, wanted: str) -> Any:
    """Numbers may come as text from a command line, and 1e-4 is text to a YAML reader."""
    if wanted.startswith(("tuple", "list", "dict")):
        return value
    try:
        if wanted.startswith("bool"):
            return _flag(value)
        if wanted.startswith("int"):
            return _whole(value)
        if wanted.startswith("float"):
            return float(value)
    except (TypeError, ValueError):
        kind = wanted.partition(" ")[0]
        words = {"int": "a whole number", "float": "a number", "bool": "true or false"}[kind]
        raise InvalidInput(f"The hyperparameter {name} is {value!r}; it must be {words}.") from None
    return str(value)


def _numbers(name: str, value: Any, count: int | None = None) -> tuple[float, ...]:
    """Of a list, or of text such as 3,2,1."""
    parts = value.split(",") if isinstance(value, str) else value
    try:
        found = tuple(float(part) for part in parts)
    except (TypeError, ValueError):
        found = ()
    if not found or (count is not None and len(found) != count):
        wanted = "numbers" if count is None else f"{count} numbers"
        raise InvalidInput(f"The hyperparameter {name} is {value!r}; give {wanted}, such as [3, 2, 1] or 3,2,1.")
    return found


def _whole(value: Any) -> int:
    number = float(value)
    if number != int(number) or isinstance(value, bool):
        raise ValueError
    return int(number)


def _flag(value: Any) -> bool:
    words = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
    if isinstance(value, bool):
        return value
    if str(value).lower() not in words:
        raise ValueError
    return words[str(value).lower()]


def _check(settings: DetectionSettings) -> None:
    _one_of("backend", settings.backend, BACKENDS)
    _one_of("dataset_file", settings.dataset_file, ("coco",))
    _one_of("optimizer", settings.optimizer, _OPTIMIZERS)
    _one_of("precision", settings.precision, _PRECISIONS)
    _one_of("device", settings.device, _DEVICES)
    _one_of("norm", settings.norm, NORMS)
    _one_of("bad_images", settings.bad_images, BAD_IMAGES)
    _one_of("augment_on", settings.augment_on, _AUGMENT_PLACES)
    for name in ("global_batch_size", "lr", "cache_gb"):
        if getattr(settings, name) <= 0:
            raise InvalidInput(f"The hyperparameter {name} is {getattr(settings, name)}; it must be above 0.")
    for name in (
        "momentum",
        "weight_decay",
        "num_workers",
        "warmup_iters",
        "aspect_groups",
        "repeat_threshold",
        "bad_batches",
    ):
        if getattr(settings, name) < 0:
            raise InvalidInput(f"The hyperparameter {name} is {getattr(settings, name)}; it cannot be below 0.")
    _one_of("stretch", settings.stretch, tuple(StretchKind))
    if settings.render_options() != RenderOptions() and settings.backend != "local" and not settings.dataset:
        raise InvalidInput(
            f"bands, stretch and limits are for original images in a folder, but backend is {settings.backend}. Make "
            "tiles with `resolute data tile --bands ...` and put those there."
        )
    if settings.sync_bn and settings.norm == "frozen":
        raise InvalidInput(
            "sync_bn is true, but norm is frozen: frozen statistics are not shared. Leave one of them out."
        )
    if settings.tile_size is not None and settings.tile_size < SMALLEST_SIDE:
        raise InvalidInput(f"tile_size is {settings.tile_size}; use at least {SMALLEST_SIDE} pixels.")
    if settings.tile_size is not None and settings.backend not in ("local",):
        raise InvalidInput(
            f"tile_size needs backend local, but it is {settings.backend}. Tile first with `resolute data tile`."
        )


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        words = ", ".join(each for each in known if each)
        raise InvalidInput(f"The hyperparameter {name} is {value!r}; use one of {words}.")
