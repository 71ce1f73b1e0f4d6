"""A trial that reports and logs slowly, and writes a checkpoint every few steps, for as long as it is told."""

import os
import time

import resolute

STEPS = int(os.environ["PATIENT_STEPS"])
with resolute.init() as run:
    for step in range(1, STEPS + 1):
        run.report("validation", step, {"loss": 1.0 / step})
        print(f"step {step}", flush=True)
        if step % 20 == 0:
            with run.checkpoint.store(steps=step) as (folder, _):
                (folder / "weights").write_bytes(os.urandom(200_000))
        if run.should_stop():
            break
        time.sleep(0.05)
