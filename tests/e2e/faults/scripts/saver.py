"""Saves a checkpoint every ten steps up to 30 and waits to be paused after 25; says where it starts and with what."""

import sys
import time

import resolute

with resolute.init() as run:
    restored = run.checkpoint.restore()
    start = restored.steps if restored else 0
    content = (restored.path / "weights").read_text() if restored else ""
    print(f"starting at step {start} with {content!r}", flush=True)
    for step in range(start + 1, 31):
        run.report("validation", step, {"loss": 1.0 / step})
        if step % 10 == 0:
            with run.checkpoint.store(steps=step) as (folder, _):
                (folder / "weights").write_text(f"of step {step}")
        if step == 25 and start == 0:
            run.checkpoint.wait()
            print("waiting to be paused", flush=True)
            while not run.should_stop():
                time.sleep(0.05)
            sys.exit(0)
