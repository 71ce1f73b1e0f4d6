"""How long a 330 MB checkpoint holds training up: python -m benchmarks.training.checkpoint_stall

The state is copied between two steps and written, hashed and stored by a thread, as `run.checkpoint.save` does.
"""

import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from resolute.training.manifest import describe_folder
from resolute.training.snapshot import Snapshot, Snapshots
from resolute.training.state_file import write_state

MEGABYTES, TENSORS, ROUNDS = 330, 160, 6


def main() -> None:
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    for device in devices:
        elements = MEGABYTES * 1_000_000 // 4 // TENSORS
        state = {f"layer{i}": torch.randn(elements, device=device) for i in range(TENSORS)}
        print(f"{device}: {_measure(state, device)}", flush=True)


def _measure(state: dict[str, torch.Tensor], device: str) -> str:
    snapshots, stalls, uploads = Snapshots(), [], []
    with ThreadPoolExecutor(1) as pool, tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            if device == "cuda":
                torch.cuda.synchronize()
            start = time.perf_counter()
            snapshot = snapshots.take(state)
            if device == "cuda":
                torch.cuda.synchronize()  # Counts the device copy as stall, which an asynchronous step would hide.
            stalls.append(time.perf_counter() - start)
            uploads.append(pool.submit(_write, snapshot, Path(folder)).result())
    first, rest = stalls[0] * 1e3, statistics.median(stalls[1:]) * 1e3
    return f"stall {rest:.1f} ms (first time {first:.1f} ms), written and hashed in {statistics.median(uploads):.2f} s"


def _write(snapshot: Snapshot, folder: Path) -> float:
    start = time.perf_counter()
    write_state(snapshot.on_host(), folder / "state.pt")
    describe_folder(folder)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
