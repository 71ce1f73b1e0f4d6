"""Detection training and inference on a CUDA device: precisions, compiling, the fast path, resuming, ranks."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn

from resolute.pytorch import Batch, Trainer, init
from resolute.training.pytorch.rng import seed_everything
from resolute.vision.batched import PaddedTargets, TrainStep, batched, first_come, pad_targets
from resolute.vision.data.fake import fake_labels
from resolute.vision.data.sources import FakeImages
from resolute.vision.detector import load_detector
from resolute.vision.slicing import MergeSettings, predict_large
from resolute.vision.transforms.on_device import BatchAugmentation
from resolute.vision.trial import DetectionTrial
from resolute.vision.zoo import build_model

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]

DEVICE = "cuda"
TINY: dict[str, Any] = {
    "model": "ssdlite320_mobilenet_v3_large", "min_size": 96, "backend": "fake", "fake_images": 32, "fake_size": 96,
    "global_batch_size": 8, "lr": 0.01, "num_classes": 4,
}  # fmt: skip
TWO_STAGES: dict[str, Any] = {
    **TINY, "model": "fasterrcnn_resnet50_fpn", "min_size": 128, "anchor_sizes": [16, 32, 48, 64, 96],
    "model_options": {"rpn_pre_nms_top_n_train": 200, "rpn_post_nms_top_n_train": 100},
}  # fmt: skip


@pytest.fixture(autouse=True)
def exact_arithmetic() -> Iterator[None]:
    """Comparisons want the same arithmetic each time."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, torch.backends.cudnn.deterministic
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, torch.backends.cudnn.deterministic = before


def fit(
    folder: Path, batches: int, kind: type[DetectionTrial] = DetectionTrial, *, resume: bool = False, **hparams: Any
) -> DetectionTrial:
    place = {"resume": folder} if resume else {"folder": folder}
    with init(hparams={**TINY, **hparams}, **place) as context:
        context.run.config["searcher"] = {"metric": "mAP", "smaller_is_better": False, "max_length": {"batches": 400}}
        trial = kind(context)
        Trainer(trial, context).fit(max_length=Batch(batches), reporting_period=Batch(1))
    return trial


def losses(folder: Path) -> list[float]:
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [row["metrics"]["loss"] for row in rows if row["group"] == "training"]


def checkpoint_of(folder: Path) -> Path:
    return max((folder / "checkpoints").iterdir(), key=lambda path: path.stat().st_mtime)


def assert_near(ours: Sequence[float], theirs: Sequence[float], rel: float) -> None:
    assert len(ours) == len(theirs), (ours, theirs)
    assert np.allclose(ours, theirs, rtol=rel, atol=1e-6), f"{ours}\n{theirs}"


# ------------------------------------------------------------------------------------------------------ precision


def test_half_precisions_train_with_losses_near_those_of_full_precision(tmp_path: Path) -> None:
    fit(tmp_path / "fp32", 6, **TWO_STAGES)

    for name in ("bf16", "fp16"):
        trial = fit(tmp_path / name, 6, **TWO_STAGES, precision=name)

        assert next(trial.model.parameters()).device.type == DEVICE
        assert (trial.context.scaler is not None) == (name == "fp16")
        assert np.isfinite(losses(tmp_path / name)).all()
        # The first batch is before any step, so it differs by rounding and, in two-stage models, by few proposals.
        assert_near(losses(tmp_path / name)[:1], losses(tmp_path / "fp32")[:1], 0.05)


def test_a_scaled_training_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    fit(tmp_path / "whole", 6, precision="fp16")
    fit(tmp_path / "parts", 3, precision="fp16")

    trial = fit(tmp_path / "parts", 6, resume=True, precision="fp16")

    assert trial.context.scaler.get_scale() > 1
    assert_near(losses(tmp_path / "parts"), losses(tmp_path / "whole"), 2e-2)


# --------------------------------------------------------------------------------------------------- not a number


class Poisoned(DetectionTrial):
    """The first and the third batch have pixels that are not numbers."""

    def _augmented(self, batch: Any, step: int) -> Any:
        images, targets = super()._augmented(batch, step)
        return ([image * float("nan") for image in images] if step in (0, 2) else images), targets


def test_batches_that_are_not_numbers_leave_no_trace(tmp_path: Path) -> None:
    for name, precision in (("sgd", "fp32"), ("adamw", "fp32"), ("sgd", "fp16"), ("sgd", "bf16")):
        run = tmp_path / f"{name}-{precision}"
        trial = fit(run, 1, Poisoned, optimizer=name, precision=precision, norm="batch")
        seed_everything(0)  # what a run off the cluster has
        fresh = build_model(TINY["model"], 4, min_size=TINY["min_size"]).state_dict()

        for key, value in trial.model.state_dict().items():
            if not key.endswith("num_batches_tracked"):
                torch.testing.assert_close(value.cpu(), fresh[key], rtol=0, atol=0, msg=key)
        trial = fit(tmp_path / f"{name}-{precision}-on", 10, Poisoned, optimizer=name, precision=precision, lr=1e-4)
        assert all(value.isfinite().all() for value in trial.model.state_dict().values())
        assert int(trial.safeguard._in_all) >= 2  # A gradient scaler leaves some out to find its scale.
        first = "backbone.features.0.0.0.weight"
        assert not torch.equal(trial.model.state_dict()[first].cpu(), fresh[first])


# ------------------------------------------------------------------------------------------------ compiling, fused


def test_a_compiled_backbone_gives_the_same_losses(tmp_path: Path) -> None:
    fit(tmp_path / "plain", 3)

    trial = fit(tmp_path / "compiled", 3, compile=True)

    assert_near(losses(tmp_path / "compiled")[:1], losses(tmp_path / "plain")[:1], 1e-3)
    assert_near(losses(tmp_path / "compiled"), losses(tmp_path / "plain"), 5e-2)
    assert not any("_orig_mod" in name for name in trial.model.state_dict())


def test_optimizers_are_fused_and_step_as_others_do(tmp_path: Path) -> None:
    for name in ("sgd", "adamw"):
        trial = fit(tmp_path / name, 1, optimizer=name, lr=1e-3)

        assert trial.optimizer.defaults["fused"] is True
        assert_same_step(type(trial.optimizer))


def assert_same_step(kind: Any) -> None:
    torch.manual_seed(0)
    start, gradient = torch.randn(1000, device=DEVICE), torch.randn(1000, device=DEVICE)
    results = []
    for fused in (True, False):
        weight = nn.Parameter(start.clone())
        optimizer = kind([weight], lr=0.1, weight_decay=0.01, fused=fused)
        for _ in range(3):
            weight.grad = gradient.clone()
            optimizer.step()
        results.append(weight.detach())
    torch.testing.assert_close(results[0], results[1], rtol=1e-4, atol=1e-5)


# --------------------------------------------------------------------------------------------------- augmentation


def test_augmentation_on_the_device_is_that_of_the_cpu(tmp_path: Path) -> None:
    augment = BatchAugmentation(("hflip", "vflip", "photometric"), seed=5)
    images, targets = batch_of(6)

    here, turned = augment([image.to(DEVICE) for image in images], to_device(targets), step=2)
    there, expected = augment(images, targets, step=2)

    torch.testing.assert_close(here.cpu(), there, rtol=0, atol=1e-5)
    for ours, theirs in zip(turned, expected, strict=True):
        assert torch.equal(ours["boxes"].cpu(), theirs["boxes"])
    fit(tmp_path / "run", 3, augment_on="gpu", data_augmentation=["hflip", "photometric"])
    assert np.isfinite(losses(tmp_path / "run")).all()


def batch_of(count: int, side: int = 96) -> tuple[list[torch.Tensor], list[dict[str, torch.Tensor]]]:
    samples = fake_labels("train", images=count, classes=3, side=side, seed=1).samples
    images = [torch.from_numpy(FakeImages().read(sample)).permute(2, 0, 1) for sample in samples]
    return images, [{"boxes": torch.from_numpy(s.boxes), "labels": torch.from_numpy(s.labels)} for s in samples]


def to_device(targets: list[dict[str, torch.Tensor]]) -> list[dict[str, torch.Tensor]]:
    return [{name: value.to(DEVICE) for name, value in target.items()} for target in targets]


# ------------------------------------------------------------------------------------------------------ fast path


def test_a_captured_step_has_the_losses_and_gradients_of_an_eager_one() -> None:
    """With weights that stand still: where they move, the least rounding soon decides which regions are drawn."""
    captured, eager = (Stepping(cuda_graphs=graphs) for graphs in (True, False))

    for batch in batches_of(8):
        ours, theirs = captured(*batch), eager(*batch)
        assert_near([float(loss) for loss in ours.values()], [float(loss) for loss in theirs.values()], 1e-3)
        for one, other in zip(captured.parameters(), eager.parameters(), strict=True):
            assert float((one.grad - other.grad).norm()) <= 1e-2 * float(other.grad.norm()) + 1e-6


class Stepping:
    """A training step of a model of its own, whose weights never move; all begin alike."""

    def __init__(self, *, cuda_graphs: bool) -> None:
        torch.manual_seed(0)
        settings = {name: TWO_STAGES[name] for name in ("min_size", "anchor_sizes")}
        model = build_model(TWO_STAGES["model"], 4, **settings, **TWO_STAGES["model_options"]).to(DEVICE)
        self._fast = batched(model, max_targets=8, compile=False, channels_last=False, priority=first_come)  # type: ignore[arg-type]
        optimizer = torch.optim.SGD(self._fast.parameters(), lr=0.0)
        self._step = TrainStep(self._fast, optimizer, amp=None, cuda_graphs=cuda_graphs)

    def __call__(self, images: torch.Tensor, targets: PaddedTargets) -> dict[str, torch.Tensor]:
        return self._step(images, targets)

    def parameters(self) -> list[nn.Parameter]:
        return [each for each in self._fast.parameters() if each.requires_grad]


def batches_of(count: int, size: int = 4) -> Iterator[tuple[torch.Tensor, PaddedTargets]]:
    images, targets = batch_of(count + size)
    for first in range(count):
        chosen = slice(first, first + size)
        yield torch.stack(images[chosen]).to(DEVICE), pad_targets(targets[chosen], 8).to(DEVICE)


def test_the_fast_path_learns_and_saves_a_detector(tmp_path: Path) -> None:
    run = tmp_path / "run"
    trial = fit(run, 12, **{**TWO_STAGES, "lr": 0.005}, fast=True, precision="bf16", clip_gradients=5.0)

    detector = load_detector(checkpoint_of(run), device=DEVICE)

    assert np.isfinite(losses(run)).all()
    assert np.mean(losses(run)[-4:]) < np.mean(losses(run)[:4])
    for name, value in trial.model.state_dict().items():
        assert torch.equal(detector.model.state_dict()[name], value), name


def test_the_fast_path_begins_with_the_losses_of_the_plain_one(tmp_path: Path) -> None:
    hparams = {**TWO_STAGES, "data_augmentation": "none"}
    fit(tmp_path / "plain", 1, **hparams)
    fit(tmp_path / "fast", 1, **hparams, fast=True)

    # Anchors and regions are drawn at random on either side: the same weights, but not the same sample.
    assert_near(losses(tmp_path / "fast"), losses(tmp_path / "plain"), 0.1)


# --------------------------------------------------------------------------------------------------------- resume


def test_a_resumed_training_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    extras = {"ema": 0.9, "clip_gradients": 5.0, "data_augmentation": ["ssdlite", "photometric"]}
    whole = fit(tmp_path / "whole", 8, **extras)
    fit(tmp_path / "parts", 4, **extras)

    resumed = fit(tmp_path / "parts", 8, resume=True, **extras)

    assert_near(losses(tmp_path / "parts"), losses(tmp_path / "whole"), 5e-3)
    for ours, theirs in zip(resumed.weights().values(), whole.weights().values(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.01)


# ---------------------------------------------------------------------------------------------------------- ranks


def test_sync_batch_norm_in_a_group_of_one_is_batch_norm() -> None:
    one = {"rank": 0, "world_size": 1, "device_id": torch.device("cuda", 0)}
    dist.init_process_group("nccl", store=dist.HashStore(), **one)
    try:
        images, targets = batch_of(4)
        pixels, found = [image.to(DEVICE).float() / 255 for image in images], to_device(targets)
        results = []
        for norm in ("sync", "batch"):
            torch.manual_seed(0)
            model = build_model(TINY["model"], 4, min_size=96, norm=norm).to(DEVICE)
            wrapped = nn.parallel.DistributedDataParallel(model, device_ids=[0])
            total = sum(wrapped(pixels, found).values())
            total.backward()
            results.append((float(total.detach()), next(model.parameters()).grad))
    finally:
        dist.destroy_process_group()

    assert_near([results[0][0]], [results[1][0]], 1e-4)
    torch.testing.assert_close(results[0][1], results[1][1], rtol=1e-2, atol=1e-3)


def test_two_ranks_with_sync_batch_norm_see_the_statistics_of_the_whole_batch(tmp_path: Path) -> None:
    fit(tmp_path / "one", 1, data_augmentation="none")

    two_ranks(tmp_path / "two", 1, sync_bn=True, data_augmentation="none")

    name = "backbone.features.0.0.1.running_mean"
    one, two = (load_detector(checkpoint_of(tmp_path / run)).model.state_dict()[name] for run in ("one", "two"))
    torch.testing.assert_close(two, one, rtol=1e-3, atol=1e-5)


def two_ranks(folder: Path, batches: int, **hparams: Any) -> None:
    """Both on the one device, joined by gloo: NCCL wants a device for each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = {**os.environ, "RESOLUTE_DIST_BACKEND": "gloo", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    common |= {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, __file__, str(folder), str(batches), json.dumps(hparams)]
    ranks = [
        subprocess.Popen(
            command,
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    said = [rank.communicate(timeout=300)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], "\n".join(said)


# ------------------------------------------------------------------------------------------------------ inference


def test_a_training_learns_and_sliced_inference_finds_what_the_cpu_finds(tmp_path: Path) -> None:
    fit(tmp_path / "run", 400, lr=1e-3, optimizer="adamw", lr_scheduler="cosine", data_augmentation="none")
    scene, here = scene_of(9), load_detector(checkpoint_of(tmp_path / "run"), device=DEVICE)
    there = load_detector(checkpoint_of(tmp_path / "run"), device="cpu")
    settings: dict[str, Any] = {"slice_size": 96, "overlap": 0.25, "batch_size": 4, "full_image": False}
    settings["merging"] = MergeSettings(method="nms", metric="iou")

    ours = predict_large(here, scene, score_threshold=0.05, **settings)
    theirs = predict_large(there, scene, score_threshold=0.05, **settings)

    report = losses(tmp_path / "run")
    assert np.mean(report[-10:]) < 0.5 * np.mean(report[:10]), report
    assert_found(theirs, ours, best=8)
    assert_found(ours, theirs, best=8)


def test_two_stages_find_on_the_device_what_they_find_on_the_cpu(tmp_path: Path) -> None:
    """There pictures of one size are looked at together, here one by one."""
    calm = {"lr": 0.01, "warmup": "linear", "warmup_iters": 50, "clip_gradients": 10.0, "data_augmentation": "none"}
    fit(tmp_path / "run", 300, **{**TWO_STAGES, **calm}, lr_scheduler="cosine")
    pictures = [image.permute(1, 2, 0).numpy() for image in batch_of(8)[0]]

    ours, theirs = (
        load_detector(checkpoint_of(tmp_path / "run"), device=device).detect(pictures, score_threshold=0.05)
        for device in (DEVICE, "cpu")
    )

    for one, other in zip(ours, theirs, strict=True):
        assert_found(other, one, best=1)
        assert_found(one, other, best=1)


def scene_of(count: int, side: int = 96) -> np.ndarray:
    """Pictures of the training side by side."""
    images, _ = batch_of(count, side)
    rows = int(np.sqrt(count))
    tiles = [image.permute(1, 2, 0).numpy() for image in images]
    return np.concatenate([np.concatenate(tiles[row * rows : (row + 1) * rows], axis=1) for row in range(rows)])


def assert_found(wanted: Any, among: Any, *, best: int) -> None:
    """The best of `wanted`, with the same class, at the same place, as sure."""
    assert len(wanted.scores) >= best
    first = np.argsort(-wanted.scores)[:best]
    for box, score, label in zip(wanted.boxes[first], wanted.scores[first], wanted.labels[first], strict=True):
        alike = (np.abs(among.boxes - box).max(axis=1) < 1.0) & (np.abs(among.scores - score) < 0.02)
        assert (alike & (among.labels == label)).any(), (box, score, label)


def train_one_rank(folder: str, batches: str, hparams: str) -> None:
    fit(Path(folder), int(batches), **json.loads(hparams))


if __name__ == "__main__":
    train_one_rank(*sys.argv[1:])
