"""NVIDIA GPUs as their driver's own library (NVML) sees them. Never imports torch, and initialises no CUDA context."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

_LIBRARY = "libnvidia-ml.so.1"
_TEXT_BYTES = 96


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _Utilisation(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class DriverFailed(Exception):
    """A call into NVML failed: the driver is being replaced, or the device has fallen off the bus."""


class GpuUse(NamedTuple):
    busy_percent: int
    free_bytes: int
    used_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """Valid as long as its driver is open."""

    name: str
    uuid: str
    library: ctypes.CDLL
    handle: ctypes.c_void_p

    def use(self) -> GpuUse:
        """What the device does right now. Raises DriverFailed."""
        memory, utilisation = _Memory(), _Utilisation()
        _call(self.library, "nvmlDeviceGetMemoryInfo", self.handle, ctypes.byref(memory))
        _call(self.library, "nvmlDeviceGetUtilizationRates", self.handle, ctypes.byref(utilisation))
        return GpuUse(utilisation.gpu, memory.free, memory.used)


def open_gpus(library: str = _LIBRARY) -> list[Gpu]:
    """In the driver's order; empty without a driver. The driver stays open until the process ends."""
    try:
        driver = ctypes.CDLL(library)
        _call(driver, "nvmlInit_v2")
        return list(_gpus(driver))
    except (OSError, DriverFailed):
        return []


@contextmanager
def gpus(library: str = _LIBRARY) -> Iterator[list[Gpu]]:
    """As `open_gpus`, and the driver is closed afterwards."""
    found = open_gpus(library)
    try:
        yield found
    finally:
        if found:
            found[0].library.nvmlShutdown()


def _gpus(driver: ctypes.CDLL) -> Iterator[Gpu]:
    count = ctypes.c_uint()
    _call(driver, "nvmlDeviceGetCount_v2", ctypes.byref(count))
    for index in range(count.value):
        handle = ctypes.c_void_p()
        # A device that is lost answers no question; the others still do.
        if driver.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == 0:
            name, uuid = (_text(driver, what, handle) for what in ("nvmlDeviceGetName", "nvmlDeviceGetUUID"))
            yield Gpu(name=name, uuid=uuid, library=driver, handle=handle)


def _text(driver: ctypes.CDLL, function: str, handle: ctypes.c_void_p) -> str:
    text = ctypes.create_string_buffer(_TEXT_BYTES)
    _call(driver, function, handle, text, _TEXT_BYTES)
    return text.value.decode()


def _call(driver: ctypes.CDLL, function: str, *arguments: object) -> None:
    code = driver[function](*arguments)
    if code != 0:
        raise DriverFailed(f"{function} failed with NVML error {code}.")
