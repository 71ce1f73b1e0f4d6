"""A trial that checkpoints at step 5, kills itself with SIGKILL at step 8 of its first run, and goes on after."""

import os
import signal

import resolute

with resolute.init() as run:
    restored = run.checkpoint.restore()
    start = int((restored.path / "step").read_text()) if restored else 0
    print(f"starting at step {start}")
    for step in range(start + 1, 13):
        run.report("validation", step, {"loss": 1.0 / step})
        if step == 5:
            with run.checkpoint.store(steps=step) as (folder, _):
                (folder / "step").write_text(str(step))
            run.checkpoint.wait()
        if step == 8 and start == 0:
            os.kill(os.getpid(), signal.SIGKILL)
