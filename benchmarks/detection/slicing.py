"""Sliced inference with windows in batches beside one by one, with the same detector and the same merging."""

import argparse

import numpy as np
import torch

from benchmarks.detection.timing import best, ratio
from resolute.vision.detections import ClassName
from resolute.vision.detector import TorchDetector
from resolute.vision.slicing import predict_large
from resolute.vision.zoo.build import build_model

SLICE = 320
ON_GPU = ("fasterrcnn_resnet50_fpn", 32)
ON_CPU = ("ssdlite320_mobilenet_v3_large", 8)


def measure(options: argparse.Namespace) -> None:
    device = options.device or "cpu"
    name, batch = ON_CPU if device == "cpu" else ON_GPU
    side = options.side or (1280 if device == "cpu" else 10_240)
    picture = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    torch.manual_seed(0)
    classes = [ClassName(1, "object")]
    sizes = {} if name.startswith("ssd") else {"min_size": SLICE, "max_size": SLICE}
    model = build_model(name, 2, score_threshold=0.05, **sizes)
    detector = TorchDetector(
        model, classes, device=device, precision="fp32" if device == "cpu" else "bf16", batch_size=batch
    )
    rates = {}
    for size in (1, batch):
        windows: list[int] = []

        def work(size: int = size, windows: list[int] = windows) -> None:
            predict_large(
                detector, picture, slice_size=SLICE, batch_size=size, full_image=False, on_progress=windows.append
            )

        seconds = best(work, max(1, options.rounds - 1))
        rates[size] = sum(windows) / max(1, options.rounds - 1) / seconds
    print(f"{name} on {device}, windows of {SLICE} px on {side:,} x {side:,} px\n")
    print("| windows together | windows/s | |\n|---|---|---|")
    for size, rate in rates.items():
        print(f"| {size} | {rate:.1f} | {ratio(rate, rates[1])} |")
