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
class Pool:
    """Nodes that work can be sent to under one name, as a runner declares it. It may have no node yet."""

    name: str
    device: DeviceType = DeviceType.CPU
    can_grow: bool = False
    """Nodes come when work waits for them, so what does not fit now may fit later."""
    is_delegating: bool = False
    """An engine outside places: it is given the gang and says later which nodes and slots that came to."""
    problem: str = ""
    """Why nothing can be started there now, as one sentence: its engine does not answer."""


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    slots: tuple[Slot, ...]
    resource_pool: str = "default"
    addresses: tuple[str, ...] = ("127.0.0.1",)
    is_enabled: bool = True
    is_draining: bool = False
