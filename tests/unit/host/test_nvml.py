"""GPUs through the driver's library, played by a small library of our own: no GPU is needed to be asked about one."""

import shutil
import subprocess
from pathlib import Path

import pytest

from resolute.host.nvml import DriverFailed, GpuUse, open_gpus
from resolute.training.profiling import GpuProbe

DRIVER = """
#include <string.h>
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned int gpu, memory; } utilisation;
static int is_lost = 0;
void lose(void) { is_lost = 1; }
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **handle) {
    *handle = (void *)(long)(index + 1);
    return index == 1 ? 15 : 0;
}
int nvmlDeviceGetName(void *handle, char *text, unsigned int size) { strcpy(text, "H200"); return 0; }
int nvmlDeviceGetUUID(void *handle, char *text, unsigned int size) {
    strcpy(text, "GPU-0"); text[4] += (long)handle - 1; return 0;
}
int nvmlDeviceGetMemoryInfo(void *handle, memory *found) {
    found->total = 150ull << 30; found->free = 100ull << 30; found->used = 50ull << 30;
    return is_lost ? 15 : 0;
}
int nvmlDeviceGetUtilizationRates(void *handle, utilisation *found) { found->gpu = 70; found->memory = 3; return 0; }
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to build the pretended driver with")
    folder = tmp_path_factory.mktemp("driver")
    (folder / "nvml.c").write_text(DRIVER)
    library = folder / "libnvml.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(folder / "nvml.c")], check=True)
    return str(library)


def test_devices_are_named_and_one_that_is_lost_is_left_out(driver: str) -> None:
    assert [(gpu.name, gpu.uuid) for gpu in open_gpus(driver)] == [("H200", "GPU-0"), ("H200", "GPU-2")]


def test_a_device_tells_how_busy_it_is_and_what_memory_is_left(driver: str) -> None:
    gpu = open_gpus(driver)[0]

    assert gpu.use() == GpuUse(busy_percent=70, free_bytes=100 << 30, used_bytes=50 << 30)
    assert GpuProbe([gpu]).sample(1.0)["GPU-0"]["gpu_used_memory"] == 50 << 30


def test_a_device_that_falls_off_the_bus_says_so(driver: str) -> None:
    gpu = open_gpus(driver)[0]
    gpu.library.lose()

    with pytest.raises(DriverFailed, match="nvmlDeviceGetMemoryInfo failed with NVML error 15"):
        gpu.use()


def test_without_a_driver_there_is_no_gpu(tmp_path: Path) -> None:
    assert open_gpus(str(tmp_path / "absent.so")) == []
