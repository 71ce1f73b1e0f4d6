"""What this machine has to run trials on: its CUDA devices, else its cores. Never imports torch."""

import os
import socket
from collections.abc import Mapping

from resolute.domain.node import DeviceType, Node, Slot
from resolute.host.nvml import gpus


def local_node(node_id: str, slots: int | None, env: Mapping[str, str]) -> Node:
    """`slots` None: as many as there are devices. More slots than devices share them in turn."""
    devices = visible_devices(cuda_devices(), env.get("CUDA_VISIBLE_DEVICES"))
    count = slots if slots is not None else len(devices) or usable_cores()
    if not devices:
        found = tuple(Slot(id=number, type=DeviceType.CPU, brand=_cpu_brand()) for number in range(count))
    else:
        found = tuple(
            Slot(id=number, type=DeviceType.CUDA, brand=brand, uuid=uuid)
            for number in range(count)
            for brand, uuid in [devices[number % len(devices)]]
        )
    return Node(id=node_id, slots=found, addresses=("127.0.0.1",))


def host_name() -> str:
    return socket.gethostname() or "local"


def usable_cores() -> int:
    """Cores this process may use: an affinity mask is honoured."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def visible_devices(devices: list[tuple[str, str]], allowed: str | None) -> list[tuple[str, str]]:
    """Those that CUDA_VISIBLE_DEVICES of the master allows, by index or by the start of a uuid, in its order.
    As in CUDA, the first entry that names no device hides the rest."""
    if allowed is None:
        return devices
    chosen: list[tuple[str, str]] = []
    for entry in (part.strip() for part in allowed.split(",")):
        if entry.isdigit() and int(entry) < len(devices):
            chosen.append(devices[int(entry)])
            continue
        matches = [device for device in devices if entry and device[1].startswith(entry)]
        if len(matches) != 1:
            break
        chosen.append(matches[0])
    return chosen


def cuda_devices() -> list[tuple[str, str]]:
    """(name, uuid) of each NVIDIA device, in the driver's order; empty without a driver."""
    with gpus() as found:
        return [(gpu.name, gpu.uuid) for gpu in found]


def _cpu_brand() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "CPU")
    except OSError:
        return "CPU"
