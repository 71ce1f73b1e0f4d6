"""Does the fast loop learn what torchvision's loop learns? Both train from scratch on the same synthetic tiles.

    training_parity.py train SIDE --seeds 0 1 --out FOLDER    on a GPU: one .npz per seed
    training_parity.py judge FOLDER                           anywhere: AP by pycocotools, losses

SIDE is torchvision (float32, as its reference does it), torchvision_bf16, ours (bfloat16, everything on) or ours_fp32.
Seeds differ in sampling and in the order of the data, so two seeds of one side tell how far apart equals may lie.
"""

import argparse
import contextlib
import io
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torchvision.models import resnet50
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor

from resolute.vision.batched import PaddedTargets, TrainStep, batched

TILE, SIZE, CLASSES, MOST, BATCH = 256, 320, 5, 8, 16
TRAIN, VALIDATION, RATE, WARM_UP = 800, 250, 0.01, 150


def tiles(count: int, seed: int) -> tuple[Tensor, PaddedTargets]:
    """Noise with up to eight shapes each: disk, square, diamond, ring, cross; class = shape, colour at random."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(count, 3, TILE, TILE, generator=generator) * 0.35
    labels = torch.randint(1, CLASSES + 1, (count, MOST), generator=generator)
    valid = torch.arange(MOST)[None] < torch.randint(2, MOST + 1, (count, 1), generator=generator)
    radius = 9 + 22 * torch.rand(count, MOST, 1, generator=generator)
    centre = radius + (TILE - 2 * radius) * torch.rand(count, MOST, 2, generator=generator)
    colour = 0.35 + 0.65 * torch.rand(count, MOST, 3, 1, 1, generator=generator)
    grid = torch.arange(TILE).float()
    for slot in range(MOST):
        across = ((grid - centre[:, slot, :1]) / radius[:, slot])[:, None, :]
        down = ((grid - centre[:, slot, 1:]) / radius[:, slot])[:, :, None]
        shape = _shape(labels[:, slot, None, None], across, down) & valid[:, slot, None, None]
        images = torch.where(shape[:, None], colour[:, slot], images)
    return (images * 255).to(torch.uint8), PaddedTargets(
        torch.cat((centre - radius, centre + radius), -1), labels, valid
    )


def _shape(label: Tensor, across: Tensor, down: Tensor) -> Tensor:
    far = across**2 + down**2
    inside = (across.abs() <= 1) & (down.abs() <= 1)
    shapes = (
        far <= 1,
        inside,
        across.abs() + down.abs() <= 1,
        (far <= 1) & (far >= 0.35),
        inside & ((across.abs() < 0.3) | (down.abs() < 0.3)),
    )
    return torch.stack([shape & (label == number) for number, shape in enumerate(shapes, start=1)]).any(dim=0)


def train(side: str, seed: int, steps: int) -> dict[str, Any]:
    torch.manual_seed(100)  # one start for all
    body = resnet50(weights=None, norm_layer=nn.BatchNorm2d)
    model = FasterRCNN(_resnet_fpn_extractor(body, trainable_layers=5), num_classes=CLASSES + 1, min_size=SIZE)
    model.cuda().train()
    torch.manual_seed(seed)
    images, targets = tiles(TRAIN, seed=1)
    step = SIDES[side](model)
    losses, began = [], time.perf_counter()
    for index, rows in enumerate(_order(seed, steps)):
        step.rate(_rate(index, steps))
        chosen = PaddedTargets(targets.boxes[rows], targets.labels[rows], targets.valid[rows]).to("cuda")
        losses.append(step(images[rows].cuda(), chosen))
    curve = torch.stack(losses).cpu().numpy()
    took = time.perf_counter() - began
    print(f"{side} seed {seed}: {steps} steps in {took:.0f} s, last 50: {curve[-50:].mean(0).round(4)}", flush=True)
    return {"losses": curve, **_predictions(model)}


def _rate(index: int, steps: int) -> float:
    return RATE * min(1.0, (index + 1) / WARM_UP) * (0.1 if index >= 0.8 * steps else 1.0)


def _order(seed: int, steps: int) -> Iterator[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    rows = torch.cat([torch.randperm(TRAIN, generator=generator) for _ in range(steps * BATCH // TRAIN + 1)])
    yield from rows[: steps * BATCH].view(steps, BATCH)


NAMES = ("loss_classifier", "loss_box_reg", "loss_objectness", "loss_rpn_box_reg")


Run = Callable[[Tensor, PaddedTargets], dict[str, Tensor]]


class _Loop:
    def __init__(
        self, optimizer: torch.optim.Optimizer, run: Callable[[Tensor, PaddedTargets], dict[str, Tensor]]
    ) -> None:
        self._optimizer, self._run = optimizer, run

    def rate(self, value: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = value

    def __call__(self, images: Tensor, targets: PaddedTargets) -> Tensor:
        losses = self._run(images, targets)
        return torch.stack([losses[name].detach() for name in NAMES]).clone()


def _their_step(model: FasterRCNN, *, amp: bool = False) -> _Loop:
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, weight_decay=1e-4)

    def run(images: Tensor, targets: PaddedTargets) -> dict[str, Tensor]:
        rows = zip(targets.boxes, targets.labels, targets.valid, strict=True)
        listed = [{"boxes": b[v], "labels": k[v]} for b, k, v in rows]
        with torch.autocast("cuda", torch.bfloat16, enabled=amp):
            losses: dict[str, Tensor] = model(list(images.float() / 255), listed)
        optimizer.zero_grad()
        sum(losses.values()).backward()  # type: ignore[union-attr]
        optimizer.step()
        return losses

    return _Loop(optimizer, run)


def _our_step(model: FasterRCNN, *, amp: torch.dtype | None = torch.bfloat16) -> _Loop:
    torch.backends.cudnn.benchmark = True
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, weight_decay=1e-4, fused=True)
    return _Loop(optimizer, TrainStep(batched(model, max_targets=MOST), optimizer, amp=amp))


SIDES: dict[str, Callable[[FasterRCNN], _Loop]] = {
    "torchvision": _their_step,
    "torchvision_bf16": partial(_their_step, amp=True),
    "ours": _our_step,
    "ours_fp32": partial(_our_step, amp=None),
}


@torch.no_grad()
def _predictions(model: FasterRCNN) -> dict[str, Any]:
    """Of the torchvision model, on both sides: its weights are what was trained."""
    model.eval()
    images, targets = tiles(VALIDATION, seed=2)
    found = []
    for image in range(VALIDATION):
        result = model([images[image].cuda().float() / 255])[0]
        row = torch.cat((result["boxes"], result["scores"][:, None], result["labels"][:, None].float()), dim=1).cpu()
        found.append(torch.cat((torch.full((len(row), 1), float(image)), row), dim=1))
    truth = [
        (float(i), *targets.boxes[i, t].tolist(), float(targets.labels[i, t]))
        for i in range(VALIDATION)
        for t in range(MOST)
        if targets.valid[i, t]
    ]
    return {"found": torch.cat(found).numpy(), "truth": np.array(truth)}


def judge(folder: Path) -> None:
    curves: dict[str, list[np.ndarray[Any, Any]]] = {}
    for file in sorted(folder.glob("*.npz")):
        held = np.load(file)
        ap = _average_precision(held["truth"], held["found"])
        curves.setdefault(file.stem.split("-")[0], []).append(held["losses"])
        last = held["losses"][-100:].mean(0).round(4)
        print(f"{file.stem:16} AP {100 * ap[0]:5.1f}  AP50 {100 * ap[1]:5.1f}  last 100 losses {last}")
    print("mean loss in windows of 50 steps, over seeds (total of the four)")
    for side, runs in curves.items():
        total = np.stack(runs).sum(-1).mean(0)
        print(f"{side:12}", np.array([w.mean() for w in np.array_split(total, max(1, len(total) // 50))]).round(3))


def _average_precision(truth: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> tuple[float, float]:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        gold = COCO()
        gold.dataset = {
            "images": [{"id": i} for i in range(VALIDATION)],
            "categories": [{"id": c} for c in range(1, CLASSES + 1)],
            "annotations": [
                {"id": n + 1, "image_id": int(r[0]), "bbox": _corner_and_sides(r[1:5]), "category_id": int(r[5]),
                 "area": float((r[3] - r[1]) * (r[4] - r[2])), "iscrowd": 0}
                for n, r in enumerate(truth)
            ],
        }  # fmt: skip
        gold.createIndex()
        said = [
            {"image_id": int(r[0]), "bbox": _corner_and_sides(r[1:5]), "score": float(r[5]), "category_id": int(r[6])}
            for r in found
        ]
        if not said:
            return 0.0, 0.0
        evaluation = COCOeval(gold, gold.loadRes(said), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return float(evaluation.stats[0]), float(evaluation.stats[1])


def _corner_and_sides(box: np.ndarray[Any, Any]) -> list[float]:
    return [float(box[0]), float(box[1]), float(box[2] - box[0]), float(box[3] - box[1])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("side", choices=list(SIDES))
    training.add_argument("--seeds", nargs="+", type=int, default=[0])
    training.add_argument("--steps", type=int, default=500)
    training.add_argument("--out", type=Path, required=True)
    judging = commands.add_parser("judge")
    judging.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "judge":
        judge(arguments.folder)
        return
    torch.set_num_threads(2)  # several sides may run beside one another on one machine
    arguments.out.mkdir(parents=True, exist_ok=True)
    for seed in arguments.seeds:
        outcome = train(arguments.side, seed, arguments.steps)
        np.savez_compressed(arguments.out / f"{arguments.side}-{seed}.npz", **outcome)


if __name__ == "__main__":
    main()
