"""What a user should know about settings that mean less on this machine than they say. Pure, but for a look at PATH."""

import os
import shutil
from collections.abc import Mapping
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.vision.settings import DetectionSettings

_MORE_IS_BETTER = ("mAP", "mAR")
_COMPILERS = ("g++", "clang++")


def advice(
    settings: DetectionSettings, device: str, ranks: int, searcher: Mapping[str, Any] | None = None
) -> list[str]:
    """One sentence for each. `device` is where it runs: cpu or cuda. `searcher`: that part of the experiment's YAML."""
    found = []
    metric = str((searcher or {}).get("metric"))
    if metric.removeprefix("mask_").startswith(_MORE_IS_BETTER) and (searcher or {}).get("smaller_is_better", True):
        found.append(
            f"searcher.smaller_is_better is true, but more {metric} is better: the worst checkpoints would be kept as "
            "the best. Set it to false."
        )
    if (settings.sync_bn or settings.norm == "sync") and ranks == 1:
        found.append("sync_bn is on, but there is one slot, which has nothing to share: it is plain batch norm.")
    return found + (_on_a_cpu(settings) if device == "cpu" else [])


def _on_a_cpu(settings: DetectionSettings) -> list[str]:
    found = []
    if settings.device in ("cuda", "gpu"):
        found.append(f"device is {settings.device}, but torch sees no GPU here: this runs on the CPU.")
    if settings.precision == "bf16":
        found.append("precision is bf16, which is used here, but most CPUs are slower with it than with fp32.")
    if settings.compile:
        found.append("compile is on: the backbone is compiled for this CPU at the first batch, which takes minutes.")
    if settings.fast:
        found.append("fast is on, but made for GPUs: here it runs uncompiled, and often no faster than without it.")
    if settings.augment_on == "gpu":
        found.append("augment_on is gpu, but there is none: whole batches are augmented on the CPU.")
    return found


def check_compiler() -> None:
    """Before the data is read, not at the first batch: compiling for a CPU needs a C++ compiler."""
    wanted = [os.environ["CXX"]] if os.environ.get("CXX") else list(_COMPILERS)
    if not any(shutil.which(name) for name in wanted):
        raise InvalidInput(
            f"compile is true, but compiling for a CPU needs a C++ compiler and none of {', '.join(wanted)} is here. "
            "Install one, or leave compile out."
        )
