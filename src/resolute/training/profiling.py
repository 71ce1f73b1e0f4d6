"""What the machine does while a trial trains: processor, memory, disk, network and GPU, sampled by one slow thread.

Values are nested under the node's name, so that several nodes can report beside one another. The x-axis of these groups
is whole seconds since the run began, not batches: a machine is also busy between two batches.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import psutil

from resolute.host.nvml import Gpu, open_gpus

_log = logging.getLogger("resolute")
_GIGABYTE = 1e9

Put = Callable[[tuple[str, int, float, dict[str, Any]]], None]


class Probe(Protocol):
    """Reads one part of the machine. `sample` returns values since the last call."""

    group: str

    def sample(self, elapsed_s: float) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Window:
    """The batches during which a run is profiled: `begin_on_batch` to `end_after_batch`."""

    begin: int = 0
    end: int | None = None

    @staticmethod
    def of(config: Mapping[str, Any]) -> "Window | None":
        """As the experiment's `profiling` section says; None: not at all."""
        section = config.get("profiling") or {}
        if not section.get("enabled"):
            return None
        return Window(int(section.get("begin_on_batch") or 0), section.get("end_after_batch"))

    def holds(self, batch: int) -> bool:
        return batch >= self.begin and not self.is_over(batch)

    def is_over(self, batch: int) -> bool:
        return self.end is not None and batch > self.end


class Profiler:
    """Samples every `period_s` while `batch` is in the window, until closed. One per node."""

    def __init__(
        self,
        put: Put,
        node: str,
        *,
        window: Window | None = None,
        period_s: float = 1.0,
        probes: list[Probe] | None = None,
    ) -> None:
        self.batch = 0
        """How far the training is; whoever knows sets it."""
        self._window = window or Window()
        self._put = put
        self._node = node
        self._period_s = period_s
        self._probes = find_probes() if probes is None else probes
        self._closing = threading.Event()
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="resolute-profiler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    def sample(self, elapsed_s: float) -> None:
        seconds = int(time.monotonic() - self._started)
        for probe in self._probes:
            try:
                values = probe.sample(elapsed_s)
            except Exception as error:  # A driver may go away; training must not.
                _log.warning("Profiling of %s has stopped: %s", probe.group, error)
                self._probes = [other for other in self._probes if other is not probe]
                continue
            self._put((probe.group, seconds, time.time(), {self._node: values}))

    def _run(self) -> None:
        last = time.monotonic()
        while not self._closing.wait(self._period_s) and not self._window.is_over(self.batch):
            now = time.monotonic()
            if self._window.holds(self.batch):
                self.sample(now - last)
            last = now


def find_probes() -> list[Probe]:
    probes: list[Probe] = [CpuProbe(), MemoryProbe(), DiskProbe(), NetworkProbe()]
    gpus = open_gpus()
    return [*probes, GpuProbe(gpus)] if gpus else probes


class CpuProbe:
    group = "cpu"

    def __init__(self) -> None:
        psutil.cpu_percent()  # The first call only sets the mark.

    def sample(self, elapsed_s: float) -> dict[str, Any]:
        return {"cpu_util_simple": psutil.cpu_percent()}


class MemoryProbe:
    group = "memory"

    def sample(self, elapsed_s: float) -> dict[str, Any]:
        memory = psutil.virtual_memory()
        return {"memory_free": memory.available / _GIGABYTE, "memory_used": memory.used / _GIGABYTE}


class DiskProbe:
    group = "disk"

    def __init__(self) -> None:
        self._last = self._read()

    def sample(self, elapsed_s: float) -> dict[str, Any]:
        before, self._last = self._last, self._read()
        reads, writes, operations = (now - then for now, then in zip(self._last, before, strict=True))
        return {
            "disk_throughput_read": reads / elapsed_s,
            "disk_throughput_write": writes / elapsed_s,
            "disk_iops": operations / elapsed_s,
        }

    @staticmethod
    def _read() -> tuple[int, int, int]:
        counters = psutil.disk_io_counters()
        if counters is None:
            return 0, 0, 0
        return counters.read_bytes, counters.write_bytes, counters.read_count + counters.write_count


class NetworkProbe:
    group = "network"

    def __init__(self) -> None:
        self._last = psutil.net_io_counters()

    def sample(self, elapsed_s: float) -> dict[str, Any]:
        before, self._last = self._last, psutil.net_io_counters()
        return {
            "net_throughput_sent": (self._last.bytes_sent - before.bytes_sent) / elapsed_s,
            "net_throughput_recv": (self._last.bytes_recv - before.bytes_recv) / elapsed_s,
        }


class GpuProbe:
    """Utilisation (percent) and memory (bytes) of each NVIDIA GPU, by its uuid."""

    group = "gpu"

    def __init__(self, gpus: Sequence[Gpu]) -> None:
        self._gpus = gpus

    def sample(self, elapsed_s: float) -> dict[str, Any]:
        uses = {gpu.uuid: gpu.use() for gpu in self._gpus}
        return {
            uuid: {"gpu_util": use.busy_percent, "gpu_free_memory": use.free_bytes, "gpu_used_memory": use.used_bytes}
            for uuid, use in uses.items()
        }
