"""A detection training as a Trial: data, model, optimizer and metrics from hyperparameters. The Trainer runs it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from resolute.domain.errors import InvalidInput
from resolute.training.pytorch.callbacks import Callback
from resolute.training.pytorch.context import StepMode, TrialContext
from resolute.training.pytorch.data import DataLoader
from resolute.training.pytorch.lengths import parse_length, to_batches
from resolute.training.pytorch.trial import Trial
from resolute.vision.advice import advice, check_compiler
from resolute.vision.checkpoint import DetectorRecord, write_detector
from resolute.vision.data.dataset import CocoDetection, TrainingSamples, collate
from resolute.vision.ema import WeightAverage
from resolute.vision.evaluation import write_evaluation
from resolute.vision.measures import CocoMetrics, Pace
from resolute.vision.safeguard import Safeguard
from resolute.vision.schedule import Schedule
from resolute.vision.settings import DetectionSettings, read_settings
from resolute.vision.splits import open_splits
from resolute.vision.transforms.on_device import BatchAugmentation
from resolute.vision.transforms.presets import make_transform
from resolute.vision.zoo.build import architecture, build_model, rebuild_options
from resolute.vision.zoo.normalization import with_normalization

_log = logging.getLogger("resolute")
_DTYPES = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}
_NEVER_REPLACE = ("single", "grid")
"""Searchers for which a refused trial is one fewer, and not one more to try."""
_HALVES = ("bf16", "fp16")
Batch = tuple[list[torch.Tensor], list[dict[str, Any]]]


class DetectionTrial(Trial):
    """Hyperparameters: see `DetectionSettings`."""

    def __init__(self, context: TrialContext) -> None:
        super().__init__(context)
        with self._refusing(is_for_all=True):
            self._prepare(context)
        with self._refusing(is_for_all=False):
            self._construct(context)

    def _prepare(self, context: TrialContext) -> None:
        self.settings = read_settings(context.get_hparams())
        self._check_place()
        self._entry = architecture(self.settings.model)
        self.has_masks = self._entry.has_masks
        self.splits = open_splits(self.settings, with_masks=self.has_masks, seed=context.run.seed)
        self._set_precision()
        self._tell()

    def _construct(self, context: TrialContext) -> None:
        self._check_model()
        self.training = self._training_samples()
        self.model = self._build()
        self.wrapped = context.wrap_model(self._trained(), channels_last=self.settings.channels_last)
        self.optimizer = context.wrap_optimizer(_optimizer(self.model, self.settings, context.device))
        self.schedule = _schedule(self.settings, self._total_batches())
        scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.schedule.factor)
        context.wrap_lr_scheduler(scheduler, StepMode.STEP_EVERY_BATCH)
        self.safeguard = Safeguard(self.model, self.optimizer, limit=self.settings.bad_batches)
        self.average = WeightAverage(self.model, self.settings.ema) if self.settings.ema else None
        self._metrics = context.wrap_reducer(CocoMetrics(self.splits.val, has_masks=self.has_masks), for_training=False)
        self._pace = context.wrap_reducer(Pace(), "images_per_second", for_validation=False)
        self._augment = self._device_augmentation()
        self._evaluated_at: int | None = None

    @contextmanager
    def _refusing(self, *, is_for_all: bool) -> Iterator[None]:
        """In an experiment, what cannot be trained is told as such: another try would say the same.

        `is_for_all`: it would meet every trial. A search that replaces refused trials would then never end, so there
        it stays a failure.
        """
        try:
            yield
        except InvalidInput as problem:
            run = self.context.run
            replaces = (run.config.get("searcher") or {}).get("name", "single") not in _NEVER_REPLACE
            if not run.is_on_cluster or (is_for_all and replaces):
                raise
            run.invalid_hparams(str(problem))

    # ------------------------------------------------------------------------------------------------- the trial

    def build_training_data_loader(self) -> DataLoader:
        # A rest of few images makes a noisy step; it is left for other epochs unless it is all there is.
        drops = len(self.training) >= self.context.get_global_batch_size()
        return DataLoader(self.training, shuffle=False, drop_last=drops, **self._loading())

    def build_validation_data_loader(self) -> DataLoader:
        settings = self.settings
        dataset = CocoDetection(
            self.splits.val, self.splits.val_source, with_masks=False, bad_images=settings.bad_images
        )
        return DataLoader(dataset, **self._loading())

    def train_batch(self, batch: Batch, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        images, targets = self._augmented(batch, batch_idx)
        self.safeguard.watch()
        losses: dict[str, torch.Tensor] = self.wrapped(images, targets)
        loss = torch.stack([value.reshape(()) for value in losses.values()]).sum()
        self.context.backward(loss)
        lr = float(self.optimizer.param_groups[0]["lr"])
        if self.context.is_aggregation_end():
            self._step(batch_idx, losses)
        self._pace.add(len(images))
        return {"loss": loss, **losses, "lr": lr}

    def evaluate_batch(self, batch: Batch, batch_idx: int) -> dict[str, Any]:
        images, targets = batch
        outputs = self.model([image.float().div(255) for image in images])
        self._metrics.update([int(each["image_id"]) for each in targets], outputs)
        return {}

    def build_callbacks(self) -> dict[str, Callback]:
        return {"detection": _DetectionCallback(self)}

    # ------------------------------------------------------------------------------------------------- its parts

    def record(self) -> DetectorRecord:
        settings = self.settings
        options = rebuild_options(settings.model, settings.backbone_weights, **settings.model_settings())
        made = self.splits.preprocessing
        return DetectorRecord(
            architecture=settings.model,
            classes=self.splits.classes,
            options=options,
            dataset=self.splits.reference,
            preprocessing=with_normalization(made, self.model) if made else None,
            training={
                "batches": self.context.steps,
                "hyperparameters": dict(self.context.get_hparams()),
                "experiment_id": self.context.run.experiment_id,
                "trial_id": self.context.run.trial_id,
            },
        )

    def write_evaluation(self, folder: Path) -> None:
        """The validation of these very weights in detail. It is looked at, not trained with: no failure matters."""
        evaluator = self._metrics.last
        if evaluator is None or self._evaluated_at != self.context.steps:
            return
        samples = {sample.image_id: sample for sample in self.splits.val.samples}
        source = self.splits.val_source
        try:
            write_evaluation(
                folder, evaluator, read_image=lambda number: source.read(samples[number]), steps=self._evaluated_at
            )
        except Exception:
            _log.exception("The evaluation could not be written beside the checkpoint:")

    def weights(self) -> dict[str, torch.Tensor]:
        return self.average.weights() if self.average is not None else self.model.state_dict()

    def _build(self) -> nn.Module:
        settings, place = self.settings, self.context.distributed
        wanted = settings.model_settings()
        if settings.sync_bn or wanted.get("norm") == "sync":
            wanted["norm"] = "sync" if place.size > 1 else "batch"  # One rank has nothing to share.
        model = build_model(
            settings.model,
            len(self.splits.classes) + 1,
            weights=settings.weights,
            backbone_weights=settings.backbone_weights,
            **wanted,
        )
        backbone: Any = getattr(model, "backbone", None)
        if settings.compile and backbone is not None:
            backbone.compile()  # In place: the names in a checkpoint stay.
        if settings.channels_last and backbone is not None:
            backbone.register_forward_pre_hook(_as_channels_last)
        return model

    def _trained(self) -> nn.Module:
        if not self.settings.fast:
            return self.model
        if "fasterrcnn" not in self.settings.model:
            raise InvalidInput(f"fast is true, but {self.settings.model} has no fast path; the Faster R-CNNs have.")
        from resolute.vision.batched import batched  # Only this path needs it, and it is large.

        most = max(len(sample.boxes) for sample in self.splits.train.samples)
        joined = 4 if "mosaic" in self.settings.data_augmentation else 1
        is_gpu = self.context.device.type == "cuda"
        torch.backends.cudnn.benchmark = is_gpu  # Shapes never change here, so the fastest kernels can be looked for.
        return batched(self.model, max_targets=most * joined, compile=is_gpu, channels_last=is_gpu)

    def _training_samples(self) -> TrainingSamples:
        settings = self.settings
        dataset = CocoDetection(
            self.splits.train, self.splits.train_source, with_masks=self.has_masks, bad_images=settings.bad_images
        )
        samples = TrainingSamples(
            dataset,
            None,
            seed=self.context.run.seed,
            batch_size=self.context.get_global_batch_size(),
            aspect_factor=settings.aspect_groups,
            repeat_threshold=settings.repeat_threshold,
        )
        if settings.augment_on == "cpu" and settings.data_augmentation:
            samples.transform = make_transform(settings.data_augmentation, samples.partner)
        return samples

    def _device_augmentation(self) -> BatchAugmentation | None:
        settings = self.settings
        if settings.augment_on == "cpu":
            return None
        names = tuple(name for name in settings.data_augmentation if name != "none")
        return BatchAugmentation(names, self.context.run.seed)

    def _augmented(self, batch: Batch, step: int) -> Batch:
        images, targets = batch
        if self._augment is None:
            return [image.float().div(255) for image in images], targets
        pixels, targets = self._augment(images, targets, step=step, rank=self.context.distributed.rank)
        return list(pixels.unbind(0)), targets

    def _loading(self) -> dict[str, Any]:
        workers = self.settings.num_workers
        options: dict[str, Any] = {"collate_fn": collate, "num_workers": workers}
        if workers:
            options["pin_memory"] = self.context.device.type == "cuda"
        return options

    def _total_batches(self) -> int | None:
        config = self.context.get_experiment_config()
        searcher = config.get("searcher") or {}
        length = parse_length(searcher.get("max_length") or config.get("max_length"), "max_length")
        if length is None:
            unit, amount = searcher.get("time_metric"), searcher.get("max_time")
            return int(amount) if unit == "batches" and amount else None
        size = self.context.get_global_batch_size()
        return to_batches(length, batches_per_epoch=max(len(self.training) // size, 1), global_batch_size=size)

    def _check_model(self) -> None:
        settings, name, smallest = self.settings, self._entry.name, self._entry.smallest_batch
        if settings.masks and not self.has_masks:
            raise InvalidInput(f"masks is true, but {name} finds boxes only. Use maskrcnn_resnet50_fpn.")
        if self.has_masks and settings.tile_size:
            raise InvalidInput("tile_size does not cut masks. Tile first with `resolute data tile`, which does.")
        size, slots = self.context.get_global_batch_size(), self.context.distributed.size
        if size // slots < smallest:
            raise InvalidInput(
                f"global_batch_size {size} gives each of {slots} slots {size // slots} image, but "
                f"{self.settings.model} needs {smallest} at once for its batch norm. Use at least {smallest * slots}."
            )

    def _check_place(self) -> None:
        context, device = self.context, self.settings.device
        if device == "cpu" and context.device.type != "cpu":
            if context.distributed.size > 1:
                raise InvalidInput("device is cpu, but the ranks are joined over GPUs. Leave device out.")
            context.device = torch.device("cpu")

    def _set_precision(self) -> None:
        name, context = self.settings.precision, self.context
        if self.settings.compile and context.device.type == "cpu":
            check_compiler()
        if not name:
            return
        if name == "fp16" and context.device.type == "cpu":
            raise InvalidInput("precision fp16 needs a GPU; use bf16 or fp32 on a CPU.")
        context.autocast_dtype = _DTYPES[name]
        context.scaler = torch.amp.GradScaler(context.device.type) if name == "fp16" else None

    def _step(self, batch: int, losses: dict[str, torch.Tensor]) -> None:
        """Unless the gradient is not a number."""
        if self.safeguard.judge(is_scaled=self.context.scaler is not None):
            self.optimizer.zero_grad(set_to_none=True)
        # Without gradients it changes nothing; the schedule wants to see that it was called.
        self.context.step_optimizer(self.optimizer, clip_grads=self.settings.clip_gradients)
        if self.average is not None:
            self.average.update()
        problem = self.safeguard.verdict(batch, losses, is_chief=self.context.distributed.is_chief)
        if problem is not None:
            self.context.run.invalid_hparams(f"{problem} {self._remedy()}")

    def _remedy(self) -> str:
        settings = self.settings
        half = f", use precision: fp32 in place of {settings.precision}" if settings.precision in _HALVES else ""
        return (
            f"Lower lr (it is {settings.lr:g}), warm up longer (warmup: linear, warmup_iters above "
            f"{settings.warmup_iters}){half}, or set clip_gradients; nothing after this would be learnt."
        )

    def _tell(self) -> None:
        if not self.context.distributed.is_chief:
            return
        for table in (self.splits.train, self.splits.val):
            _log.info("%s", table.sentence())
        if self.splits.preprocessing is not None:
            _log.info("Pixels: %s.", self.splits.preprocessing.sentence())
        place, searcher = self.context.distributed, self.context.get_experiment_config().get("searcher")
        for sentence in advice(self.settings, self.context.device.type, place.size, searcher):
            _log.warning("%s", sentence)


class _DetectionCallback(Callback):
    """Keeps the data's epoch, swaps averaged weights in for validation, writes the detector into checkpoints."""

    def __init__(self, trial: DetectionTrial) -> None:
        self._trial = trial

    def on_trial_startup(self, first_batch_idx: int, checkpoint_uuid: str | None) -> None:
        self._trial.training.set_epoch(self._trial.context.epoch)

    def on_trial_shutdown(self) -> None:
        self._trial.splits.close()

    def on_training_epoch_start(self, epoch_idx: int) -> None:
        self._trial.training.set_epoch(epoch_idx)

    def on_validation_start(self) -> None:
        _share_buffers(self._trial.model)
        if self._trial.average is not None:
            self._trial.average.put_on()

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        if self._trial.average is not None:
            self._trial.average.take_off()
        self._trial._evaluated_at = self._trial.context.steps
        self._trial._pace.reset()  # Time spent on validation is not training time.

    def on_checkpoint_write_end(self, checkpoint_dir: Path) -> None:
        write_detector(checkpoint_dir, self._trial.record(), self._trial.weights())
        self._trial.write_evaluation(checkpoint_dir)

    def state_dict(self) -> dict[str, Any]:
        average = self._trial.average
        return {"average": average.state_dict()} if average is not None else {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if self._trial.average is not None and "average" in state:
            self._trial.average.load_state_dict(state["average"])


def _optimizer(model: nn.Module, settings: DetectionSettings, device: torch.device) -> torch.optim.Optimizer:
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    fused = device.type == "cuda"
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(trained, lr=settings.lr, weight_decay=settings.weight_decay, fused=fused)
    return torch.optim.SGD(
        trained, lr=settings.lr, momentum=settings.momentum, weight_decay=settings.weight_decay, fused=fused
    )


def _schedule(settings: DetectionSettings, total: int | None) -> Schedule:
    return Schedule(
        kind=settings.lr_scheduler,
        warmup=settings.warmup,
        warmup_iters=settings.warmup_iters,
        warmup_ratio=settings.warmup_ratio,
        milestones=settings.milestones,
        gamma=settings.gamma,
        total=total,
    )


def _as_channels_last(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return (inputs[0].contiguous(memory_format=torch.channels_last), *inputs[1:])


def _share_buffers(model: nn.Module) -> None:
    """The chief's batch statistics for all: ranks measure parts of one set and must be one model."""
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() == 1:
        return
    for buffer in model.buffers():
        dist.broadcast(buffer, 0)
