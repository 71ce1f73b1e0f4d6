"""Says on each rank what it does, and reports how fast it is."""

import os
import time

import resolute

STEPS, PAUSE_S = 30, 0.1


def main() -> None:
    rank = int(os.environ["RANK"])
    with resolute.init() as run:
        for step in range(1, STEPS + 1):
            time.sleep(PAUSE_S)
            print(f"rank {rank} did step {step}", flush=True)
            if rank == 0:
                run.report("training", step, {"loss": 1 / step})
                run.report("throughput", step, {"samples_per_second": 320 + step, "data_wait": 0.1})
        if rank == 0:
            run.report("validation", STEPS, {"loss": 0.1})


if __name__ == "__main__":
    main()
