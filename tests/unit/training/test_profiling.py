"""Profiling: what is sampled, where it goes, and that it never gets in training's way."""

import logging
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from resolute.client.task.fake import FakeTaskMaster
from resolute.host.nvml import GpuUse
from resolute.training.core import init
from resolute.training.profiling import CpuProbe, DiskProbe, GpuProbe, MemoryProbe, NetworkProbe, Profiler, Window


def test_every_group_is_reported_under_the_nodes_name() -> None:
    rows: list[Any] = []
    profiler = Profiler(rows.append, "node-1", probes=[CpuProbe(), MemoryProbe(), DiskProbe(), NetworkProbe()])

    profiler.sample(1.0)

    assert [row[0] for row in rows] == ["cpu", "memory", "disk", "network"]
    assert all(list(row[3]) == ["node-1"] for row in rows)
    assert rows[1][3]["node-1"]["memory_free"] > 0
    assert set(rows[2][3]["node-1"]) == {"disk_throughput_read", "disk_throughput_write", "disk_iops"}


def test_gpus_report_by_their_own_ids() -> None:
    gpus = [SimpleNamespace(uuid=f"GPU-{n}", use=lambda n=n: GpuUse(70 + n, 10, 5)) for n in range(2)]

    values = GpuProbe(gpus).sample(1.0)

    assert values["GPU-1"] == {"gpu_util": 71, "gpu_free_memory": 10, "gpu_used_memory": 5}


def test_a_probe_that_breaks_is_dropped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        group = "gpu"

        def sample(self, elapsed_s: float) -> dict[str, Any]:
            raise RuntimeError("driver gone")

    rows: list[Any] = []
    profiler = Profiler(rows.append, "node-1", probes=[Broken(), MemoryProbe()])

    with caplog.at_level(logging.WARNING, logger="resolute"):
        profiler.sample(1.0)
        profiler.sample(1.0)

    assert [row[0] for row in rows] == ["memory", "memory"]
    assert caplog.text.count("driver gone") == 1


def test_one_sample_costs_less_than_a_hundredth_of_its_second() -> None:
    profiler = Profiler(lambda row: None, "node-1", probes=[CpuProbe(), MemoryProbe(), DiskProbe(), NetworkProbe()])
    costs = []

    for _ in range(20):
        start = time.thread_time()
        profiler.sample(1.0)
        costs.append(time.thread_time() - start)

    assert sorted(costs)[len(costs) // 2] < 0.01


def test_the_experiments_yaml_turns_it_on(
    on_cluster: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = on_cluster.env(tmp_path, config={"profiling": {"enabled": True}})["DET_EXPERIMENT_CONFIG"]
    monkeypatch.setenv("DET_EXPERIMENT_CONFIG", config)

    with init():
        names = {thread.name for thread in threading.enumerate()}

    assert "resolute-profiler" in names
    assert "resolute-profiler" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize(
    ("section", "batches"),
    [
        ({"enabled": True}, {0, 5, 10, 11}),
        ({"enabled": True, "begin_on_batch": 5}, {5, 10, 11}),
        ({"enabled": True, "begin_on_batch": 5, "end_after_batch": 10}, {5, 10}),
    ],
)
def test_the_experiment_says_which_batches_are_profiled(section: dict[str, Any], batches: set[int]) -> None:
    window = Window.of({"profiling": section})

    assert window is not None
    assert {batch for batch in (0, 5, 10, 11) if window.holds(batch)} == batches


@pytest.mark.parametrize("config", [{}, {"profiling": None}, {"profiling": {"enabled": False}}])
def test_profiling_is_off_unless_asked_for(config: dict[str, Any]) -> None:
    assert Window.of(config) is None


def test_nothing_is_sampled_outside_the_window_and_the_thread_ends_with_it() -> None:
    rows: list[Any] = []
    profiler = Profiler(rows.append, "n", window=Window(5, 10), period_s=0.001, probes=[MemoryProbe()])

    profiler.start()
    time.sleep(0.02)
    before = len(rows)
    profiler.batch = 7
    wait_until(lambda: bool(rows))
    profiler.batch = 11
    wait_until(lambda: not profiler._thread.is_alive())

    assert before == 0


def wait_until(holds: Any, timeout_s: float = 10.0) -> None:
    ends_at = time.monotonic() + timeout_s
    while not holds() and time.monotonic() < ends_at:
        time.sleep(0.001)
    assert holds()
