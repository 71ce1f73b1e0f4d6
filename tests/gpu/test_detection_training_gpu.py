"""Detection training and inference on a CUDA device: precisions, compiling, the fast path, resuming, ranks.

By pytest, where all is installed; or alone on a machine that has torch, torchvision, numpy and Pillow:

    PYTHONPATH=src python tests/gpu/test_detection_training_gpu.py [PART OF A NAME ...]

Packages that reading files, stores and metrics need, but no step on a device does, may be absent there: see `_Absent`.
`--rehearse` runs what a CPU can, to try the tests themselves.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

NOT_NEEDED_ON_A_DEVICE = (
    "affine", "attr", "certifi", "click", "cv2", "hotcoco", "httpx", "msgspec", "obstore", "psutil", "pydantic",
    "pygments", "rasterio", "rich", "ruamel", "safetensors", "tifffile", "typer", "yaml",
)  # fmt: skip


class _Nothing(type):
    """A name of a package that is not here. It can be inherited from, annotated with and called, and does nothing."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing(name)

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        return arguments[0] if arguments and callable(arguments[0]) else super().__call__()


def _nothing(name: str) -> Any:
    return _Nothing(name, (Exception,), {"__init_subclass__": classmethod(lambda cls, **options: None)})


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets packages that are not installed be imported. What is used of them on a device is stood in for below."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in ABSENT:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        module.__getattr__ = _attribute  # type: ignore[method-assign]
        if module.__name__ == "safetensors.torch":
            module.save_file = _save_file  # type: ignore[attr-defined]
            module.load_file = _load_file  # type: ignore[attr-defined]


def _save_file(weights: dict[str, torch.Tensor], path: Path, metadata: Any = None) -> None:
    content = io.BytesIO()  # By its name torch would take the file for one of safetensors.
    torch.save(weights, content)
    path.write_bytes(content.getvalue())


def _load_file(path: Path) -> Any:
    return torch.load(io.BytesIO(path.read_bytes()), weights_only=True)


def _attribute(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _nothing(name)


def _forget_absent() -> None:
    """After our own imports: torch's compiler asks what is installed and must hear the truth."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Absent)]
    for name in [name for name in sys.modules if name.partition(".")[0] in ABSENT]:
        del sys.modules[name]


ABSENT = frozenset(name for name in NOT_NEEDED_ON_A_DEVICE if importlib.util.find_spec(name) is None)
if ABSENT:
    sys.meta_path.append(_Absent())

from resolute.training.checkpoints import Checkpoints  # noqa: E402
from resolute.training.core import Run, RunFacts  # noqa: E402
from resolute.training.environment import read_place  # noqa: E402
from resolute.training.offline import LocalMaster  # noqa: E402
from resolute.training.pytorch.context import TrialContext  # noqa: E402
from resolute.training.pytorch.distributed import join_group, pick_device  # noqa: E402
from resolute.training.pytorch.lengths import Batch  # noqa: E402
from resolute.training.pytorch.reducers import MetricReducer, NamedReducer  # noqa: E402
from resolute.training.pytorch.rng import seed_everything  # noqa: E402
from resolute.training.pytorch.trainer import Trainer  # noqa: E402
from resolute.training.reports import ReportQueue  # noqa: E402
from resolute.training.stopping import StopWatcher  # noqa: E402
from resolute.vision.batched import TrainStep, batched, first_come, pad_targets  # noqa: E402
from resolute.vision.data.fake import fake_labels  # noqa: E402
from resolute.vision.data.sources import FakeImages  # noqa: E402
from resolute.vision.detector import load_detector  # noqa: E402
from resolute.vision.slicing import predict_large  # noqa: E402
from resolute.vision.transforms.on_device import BatchAugmentation  # noqa: E402
from resolute.vision.trial import DetectionTrial  # noqa: E402
from resolute.vision.zoo import build_model  # noqa: E402

_forget_absent()
try:
    import pytest

    pytestmark = [
        pytest.mark.gpu,
        pytest.mark.slow,
        pytest.mark.timeout(900),
        pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
    ]
except ImportError:
    pass

HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda" if HAS_GPU else "cpu"
TINY: dict[str, Any] = {
    "model": "ssdlite320_mobilenet_v3_large", "min_size": 96, "backend": "fake", "fake_images": 32, "fake_size": 96,
    "global_batch_size": 8, "lr": 0.01, "num_classes": 4,
}  # fmt: skip
TWO_STAGES: dict[str, Any] = {
    **TINY, "model": "fasterrcnn_resnet50_fpn", "min_size": 128, "anchor_sizes": [16, 32, 48, 64, 96],
    "model_options": {"rpn_pre_nms_top_n_train": 200, "rpn_post_nms_top_n_train": 100},
}  # fmt: skip
if not HAS_GPU:  # Two cores want less.
    few = {"rpn_pre_nms_top_n_train": 32, "rpn_post_nms_top_n_train": 16, "box_batch_size_per_image": 16}
    small = {"model": "fasterrcnn_mobilenet_v3_large_320_fpn", "min_size": 64, "max_size": 64, "anchor_sizes": None}
    TWO_STAGES |= {**small, "global_batch_size": 4, "fake_images": 8, "model_options": few}


class Folder:
    """Checkpoints in a folder, by plain copies."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def files(self, uuid: str) -> dict[str, int]:
        place = self._root / uuid
        return {path.relative_to(place).as_posix(): path.stat().st_size for path in place.rglob("*") if path.is_file()}

    def upload(self, uuid: str, source: Path, paths: Sequence[str] | None = None) -> dict[str, int]:
        shutil.copytree(source, self._root / uuid, dirs_exist_ok=True)
        return self.files(uuid)

    def download(self, uuid: str, target: Path, paths: Sequence[str] | None = None) -> None:
        shutil.copytree(self._root / uuid, target, dirs_exist_ok=True)

    def write(self, uuid: str, path: str, content: bytes) -> None:
        (self._root / uuid / path).parent.mkdir(parents=True, exist_ok=True)
        (self._root / uuid / path).write_bytes(content)

    def read(self, uuid: str, path: str) -> Iterator[bytes]:
        yield (self._root / uuid / path).read_bytes()

    def remove(self, uuid: str, globs: Sequence[str] = ("**/*",)) -> dict[str, int]:
        for pattern in globs:
            for path in (self._root / uuid).glob(pattern):
                path.unlink()
        return self.files(uuid)


class Counted(MetricReducer):
    """In the place of COCO's numbers where hotcoco is absent: how many detections there were."""

    last = None

    def __init__(self) -> None:
        self.reset()

    def update(self, image_ids: Sequence[int], outputs: Sequence[dict[str, torch.Tensor]]) -> None:
        self._count += sum(len(output["scores"]) for output in outputs)

    def reset(self) -> None:
        self._count = 0

    def per_slot_reduce(self) -> int:
        return self._count

    def cross_slot_reduce(self, per_slot_metrics: Sequence[int]) -> dict[str, float]:
        return {"mAP": float(sum(per_slot_metrics))}


@contextmanager
def running(folder: Path, hparams: dict[str, Any], *, resume: bool = False) -> Iterator[TrialContext]:
    """A run of its own in `folder`, as `resolute.pytorch.init` makes it, without a store."""
    place = read_place()
    master = LocalMaster(folder, echo=False)
    latest = master.checkpoints()[0].uuid if resume else None
    facts = RunFacts(
        hparams=hparams,
        config={"searcher": {"metric": "mAP", "smaller_is_better": False, "max_length": {"batches": 400}}},
        seed=3,
        slots=place.size,
        trial_id=None,
        experiment_id=None,
        is_on_cluster=False,
    )
    checkpoints = Checkpoints(
        master=master,
        blobs=Folder(folder / "checkpoints"),  # type: ignore[arg-type]
        place=place,
        name_base=f"{folder}/{resume}",
        latest=latest,
    )
    queue, watcher = ReportQueue(master), StopWatcher(master)
    with Run(master=master, facts=facts, place=place, checkpoints=checkpoints, queue=queue, watcher=watcher) as run:
        is_ours = join_group(place, pick_device(place))
        seed_everything(run.seed + run.rank)
        yield TrialContext(run)
        run.checkpoint.wait()
        if is_ours:
            dist.destroy_process_group()


def fit(
    folder: Path, batches: int, kind: type[DetectionTrial] = DetectionTrial, *, resume: bool = False, **hparams: Any
) -> DetectionTrial:
    with running(folder, {**TINY, **hparams}, resume=resume) as context:
        trial = kind(context)
        if "hotcoco" in ABSENT:
            trial._metrics = counted = Counted()
            context.reducers[0] = NamedReducer(counted, None, for_training=False, for_validation=True)
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

    for name in ("bf16", "fp16") if HAS_GPU else ("bf16",):
        trial = fit(tmp_path / name, 6, **TWO_STAGES, precision=name)

        assert next(trial.model.parameters()).device.type == DEVICE
        assert (trial.context.scaler is not None) == (name == "fp16")
        assert np.isfinite(losses(tmp_path / name)).all()
        # The first batch is before any step, so it differs by rounding and, in two-stage models, by few proposals.
        assert_near(losses(tmp_path / name)[:1], losses(tmp_path / "fp32")[:1], 0.05)


def test_a_scaled_training_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    if not HAS_GPU:
        return
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
        if precision == "fp16" and not HAS_GPU:
            continue
        run = tmp_path / f"{name}-{precision}"
        trial = fit(run, 1, Poisoned, optimizer=name, precision=precision, norm="batch")
        seed_everything(3)
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

        assert trial.optimizer.defaults["fused"] is HAS_GPU
        assert_same_step(type(trial.optimizer))


def assert_same_step(kind: Any) -> None:
    torch.manual_seed(0)
    start, gradient = torch.randn(1000, device=DEVICE), torch.randn(1000, device=DEVICE)
    results = []
    for fused in (HAS_GPU, False):
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


def test_a_captured_step_gives_the_losses_of_an_eager_one() -> None:
    images, targets = batch_of(4)
    stacked, padded = torch.stack(images).to(DEVICE), pad_targets(targets, 8).to(DEVICE)

    captured, eager = (steps_of(stacked, padded, cuda_graphs=graphs) for graphs in (True, False))

    assert len(captured) == 8
    for ours, theirs in zip(captured, eager, strict=True):
        assert_near(list(ours.values()), list(theirs.values()), 2e-2)
    assert sum(eager[-1].values()) < sum(eager[0].values())


def steps_of(images: torch.Tensor, targets: Any, *, cuda_graphs: bool) -> list[dict[str, float]]:
    torch.manual_seed(0)
    settings = {name: TWO_STAGES[name] for name in ("min_size", "anchor_sizes")}
    model = build_model(TWO_STAGES["model"], 4, **settings, **TWO_STAGES["model_options"]).to(DEVICE)
    fast = batched(model, max_targets=8, compile=False, channels_last=False, priority=first_come)  # type: ignore[arg-type]
    optimizer = torch.optim.SGD(fast.parameters(), lr=0.002, momentum=0.9)
    step = TrainStep(fast, optimizer, amp=None, cuda_graphs=cuda_graphs)
    # The tensors returned are overwritten by the next step, so they are read at once.
    return [{name: float(loss) for name, loss in step(images, targets).items()} for _ in range(8)]


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
    options = {"device_id": torch.device("cuda", 0)} if HAS_GPU else {}
    dist.init_process_group("nccl" if HAS_GPU else "gloo", store=dist.HashStore(), rank=0, world_size=1, **options)
    try:
        images, targets = batch_of(4)
        pixels, found = [image.to(DEVICE).float() / 255 for image in images], to_device(targets)
        results = []
        for norm in ("sync", "batch"):
            torch.manual_seed(0)
            model = build_model(TINY["model"], 4, min_size=96, norm=norm).to(DEVICE)
            wrapped = nn.parallel.DistributedDataParallel(model, device_ids=[0] if HAS_GPU else None)
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
    command = [sys.executable, __file__, "--rank", str(folder), str(batches), json.dumps(hparams)]
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
    batches = 300 if HAS_GPU else 250
    fit(tmp_path / "run", batches, lr=1e-3, optimizer="adamw", lr_scheduler="cosine", data_augmentation="none")
    scene, here = scene_of(9), load_detector(checkpoint_of(tmp_path / "run"), device=DEVICE)
    there = load_detector(checkpoint_of(tmp_path / "run"), device="cpu")
    settings: dict[str, Any] = {"slice_size": 96, "overlap": 0.25, "batch_size": 4, "full_image": False}

    ours = predict_large(here, scene, score_threshold=0.4, **settings)
    theirs = predict_large(there, scene, score_threshold=0.4, **settings)

    report = losses(tmp_path / "run")
    assert np.mean(report[-10:]) < 0.5 * np.mean(report[:10]), report
    assert sum(theirs.scores > 0.45) >= 5, theirs.scores
    assert_found(theirs, ours)
    assert_found(ours, theirs)


def test_two_stages_find_on_the_device_what_they_find_on_the_cpu(tmp_path: Path) -> None:
    """There pictures of one size are looked at together, here one by one."""
    if not HAS_GPU:
        return
    calm = {"lr": 0.01, "warmup": "linear", "warmup_iters": 50, "clip_gradients": 10.0, "data_augmentation": "none"}
    fit(tmp_path / "run", 300, **{**TWO_STAGES, **calm}, lr_scheduler="cosine")
    pictures = [image.permute(1, 2, 0).numpy() for image in batch_of(8)[0]]

    ours, theirs = (
        load_detector(checkpoint_of(tmp_path / "run"), device=device).detect(pictures, score_threshold=0.4)
        for device in (DEVICE, "cpu")
    )

    assert sum(int((found.scores > 0.45).sum()) for found in theirs) >= 5
    for one, other in zip(ours, theirs, strict=True):
        assert_found(other, one)
        assert_found(one, other)


def scene_of(count: int, side: int = 96) -> np.ndarray:
    """Pictures of the training side by side."""
    images, _ = batch_of(count, side)
    rows = int(np.sqrt(count))
    tiles = [image.permute(1, 2, 0).numpy() for image in images]
    return np.concatenate([np.concatenate(tiles[row * rows : (row + 1) * rows], axis=1) for row in range(rows)])


def assert_found(wanted: Any, among: Any) -> None:
    """Everything that is not at the very threshold, with the same class, at the same place, as sure."""
    for box, score, label in zip(wanted.boxes, wanted.scores, wanted.labels, strict=True):
        if score < 0.45:
            continue
        alike = (np.abs(among.boxes - box).max(axis=1) < 1.0) & (np.abs(among.scores - score) < 0.02)
        assert (alike & (among.labels == label)).any(), (box, score, label)


# ----------------------------------------------------------------------------------------------------------- alone


def each_test() -> list[Callable[..., None]]:
    return [value for name, value in globals().items() if name.startswith("test_")]


def exact() -> None:
    """Comparisons want the same arithmetic each time."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True


def run_alone(test: Callable[..., None]) -> bool:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            test(*([Path(folder)] if test.__code__.co_argcount else []))
        except Exception:
            traceback.print_exc()
            print(f"FAILED {test.__name__} ({time.perf_counter() - started:.1f} s)", flush=True)
            return False
    print(f"passed {test.__name__} ({time.perf_counter() - started:.1f} s)", flush=True)
    return True


def main(arguments: list[str]) -> int:
    if not HAS_GPU and "--rehearse" not in arguments:
        print("There is no CUDA device here, so nothing was run. --rehearse runs what a CPU can.")
        return 0
    wanted = [word for word in arguments if not word.startswith("--")]
    chosen = [test for test in each_test() if not wanted or any(word in test.__name__ for word in wanted)]
    device = torch.cuda.get_device_name() if HAS_GPU else "CPU"
    print(f"{device}, torch {torch.__version__}; stood in for: {', '.join(sorted(ABSENT)) or 'nothing'}", flush=True)
    results = [run_alone(test) for test in chosen]
    print(f"{sum(results)} of {len(results)} passed")
    return 0 if all(results) else 1


exact()
if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        fit(Path(sys.argv[2]), int(sys.argv[3]), **json.loads(sys.argv[4]))
        sys.exit(0)
    sys.exit(main(sys.argv[1:]))
