"""Each hyperparameter does what its name says: these fail when one is read and then forgotten."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch

from resolute.vision.settings import DetectionSettings
from resolute.vision.transforms.presets import augmentation_names
from resolute.vision.trial import DetectionTrial

Built = Callable[..., DetectionTrial]
Fit = Callable[..., DetectionTrial]
WriteSet = Callable[..., str]
LOCAL = {"backend": "local", "num_classes": None, "data_augmentation": "none"}


def rates(trial: DetectionTrial, batches: int) -> list[float]:
    """The learning rate of the next batches."""
    found = []
    for _ in range(batches):
        found.append(float(trial.optimizer.param_groups[0]["lr"]))
        trial.optimizer.step()
        trial.context.schedulers[0].scheduler.step()
    return found


@pytest.mark.parametrize(
    ("hparams", "expected"),
    [
        ({"step1": 2, "step2": 3, "gamma": 0.5}, [1.0, 1.0, 0.5, 0.25]),
        ({"lr_scheduler": "cosine"}, [1.0, 0.853553, 0.5, 0.146447]),
        ({"lr_scheduler": "constant", "step1": 1}, [1.0, 1.0, 1.0, 1.0]),
        ({"warmup": "constant", "warmup_iters": 2, "warmup_ratio": 0.1}, [0.1, 0.1, 1.0, 1.0]),
        ({"warmup": "linear", "warmup_iters": 2, "warmup_ratio": 0.5}, [0.75, 1.0, 1.0, 1.0]),
        ({"warmup": "exp", "warmup_iters": 2, "warmup_ratio": 0.01}, [0.1, 1.0, 1.0, 1.0]),
        ({"warmup": "linear", "warmup_iters": 2, "warmup_ratio": 0.5, "step1": 1}, [0.75, 0.1, 0.1, 0.1]),
    ],
)
def test_the_learning_rate_follows_the_schedule(built: Built, hparams: dict[str, Any], expected: list[float]) -> None:
    trial = built(4, lr=1.0, **hparams)

    assert rates(trial, 4) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("hparams", "kind", "expected"),
    [
        ({"lr": 0.3, "momentum": 0.7, "weight_decay": 0.2}, torch.optim.SGD, {"momentum": 0.7, "weight_decay": 0.2}),
        ({"optimizer": "adamw", "weight_decay": 0.4}, torch.optim.AdamW, {"weight_decay": 0.4}),
    ],
)
def test_the_optimizer_has_its_numbers(built: Built, hparams: Any, kind: type, expected: dict[str, float]) -> None:
    optimizer = built(**hparams).optimizer

    assert type(optimizer) is kind
    assert {name: optimizer.defaults[name] for name in expected} == expected


def test_a_step_is_no_longer_than_clipping_allows(fit: Fit, built: Built) -> None:
    still = {"lr": 1.0, "momentum": 0.0, "weight_decay": 0.0, "data_augmentation": "none"}
    start = [value.detach().clone() for value in built(**still).model.parameters()]

    lengths = []
    for name, clip in (("free", None), ("clipped", 1e-3)):
        trained = fit(name, 1, **still, clip_gradients=clip).model.parameters()
        moves = [after.detach() - before for after, before in zip(trained, start, strict=True)]
        lengths.append(float(torch.nn.utils.get_total_norm(moves)))

    assert lengths[0] > 0.1
    assert lengths[1] == pytest.approx(1e-3, rel=1e-2)


def test_what_is_measured_are_the_averaged_weights(fit: Fit) -> None:
    seen: dict[str, torch.Tensor] = {}

    class Looking(DetectionTrial):
        def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
            seen["measured"] = next(self.model.parameters()).detach().clone()
            return super().evaluate_batch(batch, batch_idx)

    trial = fit("run", 2, kind=Looking, ema=0.999, lr=0.1)

    assert trial.average is not None
    name, own = next(iter(trial.model.named_parameters()))
    assert torch.equal(seen["measured"], trial.average.weights()[name])
    assert not torch.equal(seen["measured"], own)


def test_only_a_flip_is_done_unless_more_is_asked_for() -> None:
    assert DetectionSettings().data_augmentation == ("hflip",)


@pytest.mark.parametrize("name", [name for name in augmentation_names() if name != "none"])
def test_an_augmentation_changes_what_is_learnt_from(built: Built, name: str) -> None:
    plain, augmented = built(data_augmentation="none").training, built(data_augmentation=name, step1=1).training

    pairs = [(plain[place], augmented[place]) for place in range(len(plain))]

    changed = [ours[0].shape != theirs[0].shape or not torch.equal(ours[0], theirs[0]) for ours, theirs in pairs]
    assert any(changed)


def test_an_augmentation_on_the_gpu_is_not_done_on_the_cpu_as_well(built: Built) -> None:
    trial = built(data_augmentation="hflip", augment_on="gpu")
    batch = ([trial.training[place][0] for place in range(4)], [trial.training[place][1] for place in range(4)])

    images, _ = trial._augmented(batch, 0)

    assert trial.training.transform is None
    assert any(not torch.equal(ours, theirs / 255) for ours, theirs in zip(images, batch[0], strict=True))


def test_images_of_rare_classes_are_shown_more_often(built: Built, write_set: WriteSet) -> None:
    data_dir = write_set([(64, 64)] * 8, [0, 0, 0, 0, 0, 0, 0, 1])

    plain = built(**LOCAL, data_dir=data_dir)
    balanced = built(**LOCAL, data_dir=data_dir, repeat_threshold=0.9)

    assert len(plain.training) == 8
    shown = Counter(int(balanced.training[place][1]["labels"][0]) for place in range(len(balanced.training)))
    assert shown[1] >= 7
    assert shown[2] >= 2


def test_large_images_are_cut_into_windows(built: Built, write_set: WriteSet) -> None:
    data_dir = write_set([(160, 96)] * 4)

    whole = built(**LOCAL, data_dir=data_dir)
    cut = built(**LOCAL, data_dir=data_dir, tile_size=64, tile_overlap=0.0)

    assert whole.training[0][0].shape == (3, 96, 160)
    assert {tuple(cut.training[place][0].shape) for place in range(len(cut.training))} == {(3, 64, 64)}
    assert len(cut.splits.val.samples) == 4 * 6


@pytest.mark.parametrize(("factor", "is_mixed"), [(3, False), (0, True)])
def test_batches_are_of_one_shape_when_they_are_grouped(
    built: Built, write_set: WriteSet, factor: int, is_mixed: bool
) -> None:
    data_dir = write_set([(96, 48), (48, 96)] * 8)
    trial = built(**LOCAL, data_dir=data_dir, aspect_groups=factor, global_batch_size=4)

    shapes = [tuple(trial.training[place][0].shape) for place in range(16)]

    batches = [set(shapes[start : start + 4]) for start in range(0, 16, 4)]
    assert any(len(batch) > 1 for batch in batches) is is_mixed


def test_what_concerns_the_model_reaches_it(built: Built) -> None:
    given = {"anchor_sizes": [12, 16, 20, 24, 28, 32, 36], "aspect_ratios": [3]}
    model: Any = built(
        **given,
        score_threshold=0.31,
        nms_threshold=0.32,
        detections_per_image=33,
        trainable_backbone_layers=1,
        norm="frozen",
        model_options={"topk_candidates": 34},
    ).model

    assert (model.score_thresh, model.nms_thresh, model.detections_per_img, model.topk_candidates) == (
        0.31, 0.32, 33, 34,
    )  # fmt: skip
    assert model.anchor_generator.scales[0] == pytest.approx(12 / 64)
    assert model.anchor_generator.aspect_ratios == [[3.0]] * 6
    assert not next(model.backbone.parameters()).requires_grad
    assert any("Frozen" in type(module).__name__ for module in model.backbone.modules())


def test_compiling_and_layout_are_set_where_convolutions_are(built: Built) -> None:
    trial = built(compile=True, channels_last=True, precision="bf16")

    backbone: Any = trial.model.backbone
    assert backbone._compiled_call_impl is not None
    assert next(backbone.parameters()).is_contiguous(memory_format=torch.channels_last)
    assert trial.context.autocast_dtype is torch.bfloat16
