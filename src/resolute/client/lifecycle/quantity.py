"""Amounts of processors, memory and accelerators as Kubernetes spells them. Checks and keeps; limits nothing itself."""

import re
from dataclasses import asdict, dataclass
from typing import Any

from resolute.client.lifecycle.faults import InvalidModelProperty, ModelValidationException

_CPU = re.compile(r"(\d+(?:\.\d+)?)(m?)")
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)(?:([kKMGTP])(i?)B?)?")
_POWERS = "KMGTP"
Amount = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Of one worker. Requests and limits may differ; both are recorded with the experiment."""

    cpu_request: Amount = None
    cpu_limit: Amount = None
    memory_request: Amount = None
    memory_limit: Amount = None
    gpu_request: int | None = None
    gpu_limit: int | None = None

    def __post_init__(self) -> None:
        for key in ("cpu_request", "cpu_limit"):
            check_cpu(getattr(self, key), key)
        for key in ("memory_request", "memory_limit"):
            check_memory(getattr(self, key), key)
        for key in ("gpu_request", "gpu_limit"):
            _check_gpus(getattr(self, key), key)

    @property
    def gpus(self) -> int:
        return max(self.gpu_request or 0, self.gpu_limit or 0)

    def as_data(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value is not None}


def requested(gpus: int | None, cpu: Amount, memory: Amount, resources: Resources | None) -> Resources:
    """`cpu`, `memory` and `gpus` are request and limit at once; `resources` takes their place."""
    if resources is None:
        _check_gpus(gpus, "gpus")
        check_cpu(cpu, "cpu")
        check_memory(memory, "memory")
        return Resources(
            cpu_request=cpu,
            cpu_limit=cpu,
            memory_request=memory,
            memory_limit=memory,
            gpu_request=gpus,
            gpu_limit=gpus,
        )
    both = [key for key, value in (("gpus", gpus), ("cpu", cpu), ("memory", memory)) if value is not None]
    if both:
        raise ModelValidationException(f"{', '.join(both)} and resources were given; keep one of the two.")
    if not isinstance(resources, Resources):
        raise InvalidModelProperty(f"resources: {resources!r} is not a Resources(cpu_request=..., memory_limit=...).")
    return resources


def check_cpu(value: Amount, key: str = "cpu") -> float | None:
    """In processors: `1`, `"1.5"` or `"500m"`."""
    if value is None:
        return None
    match = None if isinstance(value, bool) else _CPU.fullmatch(str(value).strip())
    amount = float(match[1]) / (1000 if match[2] else 1) if match else 0.0
    if amount <= 0:
        raise InvalidModelProperty(f'{key}: {value!r} is not an amount of processors. Write for example "1" or "500m".')
    return amount


def check_memory(value: Amount, key: str = "memory") -> int | None:
    """In bytes: `"2G"`, `"512Mi"` or a number."""
    if value is None:
        return None
    match = None if isinstance(value, bool) else _MEMORY.fullmatch(str(value).strip())
    amount = _bytes(match) if match else 0
    if amount <= 0:
        raise InvalidModelProperty(f'{key}: {value!r} is not an amount of memory. Write for example "2G" or "512Mi".')
    return amount


def _bytes(match: re.Match[str]) -> int:
    if not match[2]:
        return int(float(match[1]))
    power = _POWERS.index(match[2].upper()) + 1
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)


def _check_gpus(value: int | None, key: str) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise InvalidModelProperty(f"{key}: {value!r} is not a number of GPUs. Give a whole number from 0.")
