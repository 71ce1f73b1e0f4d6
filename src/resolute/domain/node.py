"""What trials run on: nodes with slots, as a runner reports them. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class DeviceType(StrEnum):
    CPU = "CPU"
    CUDA = "CUDA"
    ROCM = "ROCM"


@dataclass(frozen=True, slots=True)
class Slot:
    id: int
    type: DeviceType = DeviceType.CPU
    brand: str = ""
    uuid: str = ""
    is_enabled: bool = True


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    slots: tuple[Slot, ...]
    resource_pool: str = "default"
    addresses: tuple[str, ...] = ("127.0.0.1",)
    is_enabled: bool = True
    is_draining: bool = False
