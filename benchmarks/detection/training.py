"""Faster R-CNN R50-FPN training on one GPU beside torchvision's own loop: python benchmarks/detection/training.py

Needs a CUDA GPU, torch and torchvision; nothing else of the project but `src` on PYTHONPATH. Both sides get the same
synthetic tiles (300 px, resized to 800) that already lie on the GPU, in the same process and on the same card.

    training.py speed    --settings scratch frozen --batches 16 64   ratios, and what each change brings
    training.py inference                                            batches beside one by one
    training.py profile                                              kernel time, launches and waits of one step
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torchvision
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torchvision.models import resnet50
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
from torchvision.ops import FrozenBatchNorm2d

from resolute.vision.batched import PaddedTargets, TrainStep, batched, batched_detect

TILE, CLASSES, MAX_TARGETS = 300, 61, 64
Step = Callable[[int], Any]
GROUPS = {
    "suppression": ("_suppress", "nms"),
    "region pooling": ("_pool", "_unpool", "roi_align", "_patch"),
    "matching": ("_best_target", "_claimed"),
    "convolution": ("fprop", "dgrad", "wgrad", "cutlass", "implicit_gemm", "PaddingKernel", "cudnn"),
    "batch norm": ("batch_norm", "bn_fw", "bn_bw"),
    "matrix product": ("nvjet", "gemm", "cublas"),
    "sorting": ("sort", "Sort", "topk", "TopK", "radix", "Radix"),
    "optimizer": ("multi_tensor", "FusedSgd"),
    "fused by the compiler": ("triton_",),
    "other torch": ("at::native",),
}


@dataclass(frozen=True)
class Setting:
    name: str
    frozen: bool
    batch: int


def detector(setting: Setting, size: int = 800) -> FasterRCNN:
    """`scratch`: trainable batch norm, every layer trained. `frozen`: frozen batch norm, three stages trained."""
    model = _untrained(nn.BatchNorm2d, 5, size)
    if not setting.frozen:
        return model
    # A frozen norm needs statistics, or activations overflow: two batches give them, as pretraining would.
    with torch.no_grad():
        for images, _ in data(4, batches=2):
            model.backbone(torch.nn.functional.interpolate(images.float() / 128 - 1, size=(size, size)))
    frozen = _untrained(FrozenBatchNorm2d, 3, size)
    frozen.load_state_dict({k: v for k, v in model.state_dict().items() if "num_batches" not in k})
    return frozen


def _untrained(norm: type[nn.Module], trainable_layers: int, size: int) -> FasterRCNN:
    torch.manual_seed(0)
    body = resnet50(weights=None, norm_layer=norm)
    for module in body.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 0.5
    extractor = _resnet_fpn_extractor(body, trainable_layers=trainable_layers)
    return FasterRCNN(extractor, num_classes=CLASSES, min_size=size, max_size=1333).cuda().train()


def data(batch: int, batches: int = 4) -> list[tuple[Tensor, PaddedTargets]]:
    """Tiles as bytes with 4 to 40 boxes of 8 to 80 px each, as aerial tiles have them."""
    generator = torch.Generator().manual_seed(7)
    made = []
    for _ in range(batches):
        images = torch.randint(0, 256, (batch, 3, TILE, TILE), dtype=torch.uint8, generator=generator)
        corner = torch.rand(batch, MAX_TARGETS, 2, generator=generator) * (TILE - 90)
        sides = torch.rand(batch, MAX_TARGETS, 2, generator=generator) * 72 + 8
        labels = torch.randint(1, CLASSES, (batch, MAX_TARGETS), generator=generator)
        counts = torch.randint(4, 41, (batch, 1), generator=generator)
        valid = torch.arange(MAX_TARGETS)[None] < counts
        made.append((images.cuda(), PaddedTargets(torch.cat((corner, corner + sides), -1), labels, valid).to("cuda")))
    return made


def listed(images: Tensor, targets: PaddedTargets) -> tuple[list[Tensor], list[dict[str, Tensor]]]:
    """The same batch as torchvision takes it."""
    rows = zip(targets.boxes, targets.labels, targets.valid, strict=True)
    return [i.float() / 255 for i in images], [{"boxes": b[v], "labels": lab[v]} for b, lab, v in rows]


def sgd(model: nn.Module, *, fused: bool) -> torch.optim.Optimizer:
    trained = [p for p in model.parameters() if p.requires_grad]
    return torch.optim.SGD(trained, lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=fused or None)


def torchvision_loop(setting: Setting, *, amp: bool = False, benchmark: bool = False) -> Step:
    """The loop of torchvision's detection reference, without its data loader; it leaves cudnn.benchmark off."""
    torch.backends.cudnn.benchmark = benchmark
    model = detector(setting)
    optimizer = sgd(model, fused=False)
    batches = [listed(*pair) for pair in data(setting.batch)]

    def step(index: int) -> Any:
        images, targets = batches[index % len(batches)]
        with torch.autocast("cuda", torch.bfloat16, enabled=amp):
            losses = model(images, [dict(t) for t in targets])
            total = sum(losses.values())
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        return total.item()  # the reference reads the loss every step

    return step


def our_loop(setting: Setting, *, compile: bool = True, cuda_graphs: bool = True, amp: bool = True) -> Step:
    torch.backends.cudnn.benchmark = True
    model = batched(detector(setting), max_targets=MAX_TARGETS, compile=compile)
    step = TrainStep(model, sgd(model, fused=True), amp=torch.bfloat16 if amp else None, cuda_graphs=cuda_graphs)
    batches = data(setting.batch)
    return lambda index: step(*batches[index % len(batches)])


def rate(step: Step, batch: int, *, steps: int, warm_up: int) -> tuple[float, float, Any]:
    """Median images per second over steps timed by events, the peak of memory in GiB, and what the last step said."""
    torch.cuda.reset_peak_memory_stats()
    for index in range(warm_up):
        step(index)
    torch.cuda.synchronize()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    marks[0].record()
    for index in range(steps):
        last = step(index)
        marks[index + 1].record()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) for a, b in pairwise(marks)]
    return batch / statistics.median(times) * 1000, torch.cuda.max_memory_allocated() / 2**30, last


def measure(name: str, build: Callable[[], Step], setting: Setting, *, steps: int, warm_up: int = 6) -> dict[str, Any]:
    torch.cuda.empty_cache()
    torch._dynamo.reset()
    began = time.perf_counter()
    try:
        images_per_s, memory, last = rate(build(), setting.batch, steps=steps, warm_up=warm_up)
        loss = float(sum(last.values())) if isinstance(last, dict) else float(last)
    except Exception as error:  # one variant that fails must not cost the others their lease
        row = {"setting": setting.name, "batch": setting.batch, "what": name, "error": repr(error)[:600]}
        print(json.dumps(row), flush=True)
        return row
    row = {
        "setting": setting.name,
        "batch": setting.batch,
        "what": name,
        "img_per_s": round(images_per_s, 1),
        "memory_gib": round(memory, 1),
        "loss": round(loss, 3),
        "took_s": round(time.perf_counter() - began, 1),
    }
    print(json.dumps(row), flush=True)
    return row


def speed(arguments: argparse.Namespace) -> None:
    rows = []
    for name in arguments.settings:
        for batch in arguments.batches:
            setting = Setting(name, name == "frozen", batch)
            variants: dict[str, Callable[[], Step]] = {
                "torchvision": lambda s=setting: torchvision_loop(s),  # type: ignore[misc]
                "torchvision+benchmark": lambda s=setting: torchvision_loop(s, benchmark=True),  # type: ignore[misc]
                "torchvision+bf16": lambda s=setting: torchvision_loop(s, amp=True, benchmark=True),  # type: ignore[misc]
                "batched eager": lambda s=setting: our_loop(s, compile=False, cuda_graphs=False),  # type: ignore[misc]
                "batched graph": lambda s=setting: our_loop(s, compile=False),  # type: ignore[misc]
                "batched compiled": lambda s=setting: our_loop(s, cuda_graphs=False),  # type: ignore[misc]
                "batched compiled graph": lambda s=setting: our_loop(s),  # type: ignore[misc]
            }
            for what in arguments.variants or variants:
                steps = max(6, arguments.images // batch)
                rows.append(measure(what, variants[what], setting, steps=steps))
    _report(rows)


def inference(arguments: argparse.Namespace) -> None:
    """Images per second of torchvision image by image, and of whole batches."""
    setting = Setting("frozen", True, arguments.batches[0])
    images = data(setting.batch, batches=1)[0][0]
    reference = detector(setting).eval()
    torch.nn.init.normal_(reference.roi_heads.box_predictor.cls_score.weight, std=0.02)
    single = [images[:1].float() / 255]

    def one_by_one(_: int) -> Any:
        with torch.no_grad():
            return reference(single[0])

    torch.backends.cudnn.benchmark = True
    rows = [{"what": "torchvision one by one", "img_per_s": rate(one_by_one, 1, steps=40, warm_up=5)[0]}]

    def whole(_: int) -> Any:
        with torch.no_grad():
            return reference(list(images.float() / 255))

    rows.append({"what": "torchvision batch", "img_per_s": rate(whole, setting.batch, steps=8, warm_up=2)[0]})
    for batch in arguments.batches:
        many = data(batch, batches=1)[0][0]
        fast = batched(detector(setting), compile=arguments.compile).eval()

        def at_once(_: int, many: Tensor = many, fast: Any = fast) -> Any:
            with torch.autocast("cuda", torch.bfloat16):
                return batched_detect(fast, many)

        rows.append({"what": f"batched {batch}", "img_per_s": rate(at_once, batch, steps=20, warm_up=4)[0]})
    for row in rows:
        print(
            f"{row['what']:25} {row['img_per_s']:7.1f} img/s {row['img_per_s'] / rows[0]['img_per_s']:6.2f}x",
            flush=True,
        )


def _report(rows: list[dict[str, Any]]) -> None:
    base = {(r["setting"], r["batch"]): r["img_per_s"] for r in rows if r["what"] == "torchvision" and "img_per_s" in r}
    print("\nsetting   batch  what                       img/s   ratio  GiB")
    for row in rows:
        figure = row.get("img_per_s", float("nan"))
        ratio = figure / base.get((row["setting"], row["batch"]), float("nan"))
        memory = row.get("memory_gib", 0)
        print(f"{row['setting']:9} {row['batch']:5}  {row['what']:25} {figure:7.1f} {ratio:7.2f} {memory:5}")


def profiled(arguments: argparse.Namespace) -> None:
    setting = Setting(arguments.settings[0], arguments.settings[0] == "frozen", arguments.batches[0])
    sides = {"torchvision": lambda: torchvision_loop(setting), "ours": lambda: our_loop(setting, cuda_graphs=False)}
    for name in arguments.variants or sides:
        step = sides[name]()
        for index in range(5):
            step(index)
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            for index in range(3):
                step(index)
            torch.cuda.synchronize()
        _summary(name, seen, steps=3, rows=arguments.rows)
        del step


def _summary(name: str, seen: Any, *, steps: int, rows: int) -> None:
    events = seen.key_averages()
    kernels = [e for e in events if str(e.device_type).endswith("CUDA") and e.self_device_time_total > 0]
    launches = sum(e.count for e in events if "LaunchKernel" in e.key or e.key == "cuLaunchKernelEx")
    waits = sum(e.count for e in events if e.key in ("cudaStreamSynchronize", "cudaDeviceSynchronize")) - 1
    total = sum(e.self_device_time_total for e in kernels)
    milliseconds = total / steps / 1000
    print(f"\n{name}: {milliseconds:.1f} ms of kernels, {launches / steps:.0f} launches, {waits / steps:.0f} waits")
    groups: dict[str, float] = {}
    for event in kernels:
        group = next((g for g, words in GROUPS.items() if any(w in event.key for w in words)), "other")
        groups[group] = groups.get(group, 0.0) + event.self_device_time_total / steps / 1000
    print(", ".join(f"{g} {ms:.2f}" for g, ms in sorted(groups.items(), key=lambda item: -item[1])))
    for event in sorted(kernels, key=lambda e: -e.self_device_time_total)[:rows]:
        print(f"{event.self_device_time_total / steps / 1000:8.3f} ms {event.count / steps:6.1f}x  {event.key[:110]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "profile", "inference"])
    parser.add_argument("--settings", nargs="+", default=["scratch", "frozen"], choices=["scratch", "frozen"])
    parser.add_argument("--batches", nargs="+", type=int, default=[16, 64])
    parser.add_argument("--variants", nargs="*")
    parser.add_argument("--images", type=int, default=480, help="images timed in each variant")
    parser.add_argument("--compile", action="store_true", help="inference with torch.compile")
    parser.add_argument("--rows", type=int, default=40)
    arguments = parser.parse_args()
    print(torch.__version__, torchvision.__version__, torch.cuda.get_device_name(), flush=True)
    {"speed": speed, "profile": profiled, "inference": inference}[arguments.what](arguments)


if __name__ == "__main__":
    main()
