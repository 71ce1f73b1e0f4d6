"""The trial that a storm runs: it reports step by step, saves now and then, and writes every fact into the ledger.

Each rank holds a lock for as long as it lives, so that a second process of the same rank is noticed by itself. Reports
go out one request at a time, and what the master acknowledged is written down before the next one.
"""

import fcntl
import json
import os
import time
import urllib.error
import urllib.request
from pathlib import Path

import resolute
from resolute.host.process_identity import identity_of

LEDGER = Path(os.environ["LEDGER"])
STEPS = int(os.environ["WALKER_STEPS"])
SAVE_EVERY = 10
TRIAL, RUN = os.environ["DET_TRIAL_ID"], os.environ["DET_TRIAL_RUN_ID"]
RANK = os.environ.get("RANK", "0")


def note(name: str, *words: object) -> None:
    """One write: lines of several processes stay whole."""
    descriptor = os.open(LEDGER / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    os.write(descriptor, (" ".join(map(str, words)) + "\n").encode())
    os.close(descriptor)


def be_the_only_one() -> int:
    held = os.open(LEDGER / f"lock.{TRIAL}.{RANK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note("doubles", TRIAL, RUN, RANK, os.getpid(), "beside", os.pread(held, 100, 0).decode().strip())
    os.pwrite(held, f"run {RUN} pid {os.getpid()}\n".encode(), 0)
    return held


def report(step: int) -> None:
    """Returns once the master has it. The value says which run sent it."""
    group, value = ("validation" if step % 5 == 0 else "training"), float(int(RUN) * 1_000_000 + step)
    metrics = {
        "trialId": int(TRIAL),
        "trialRunId": int(RUN),
        "stepsCompleted": step,
        "metrics": {"avgMetrics": {"loss": value}},
    }
    request = urllib.request.Request(
        f"{os.environ['DET_MASTER']}/api/v1/trials/{TRIAL}/metrics",
        data=json.dumps({"group": group, "metrics": metrics}).encode(),
        headers={"Grpc-Metadata-x-allocation-token": f"Bearer {os.environ['DET_SESSION_TOKEN']}"},
    )
    note(f"sent.{TRIAL}", RUN, group, step, value)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=5):
                return note(f"acknowledged.{TRIAL}", RUN, group, step, value)
        except urllib.error.HTTPError as error:
            if error.code < 500:
                note("refused", TRIAL, RUN, step, error.code, error.read()[:200])
                raise
        except OSError:
            pass
        time.sleep(0.05)


def newest_saved() -> int:
    """Step of the newest checkpoint of this trial that any run was told to be kept."""
    try:
        lines = (LEDGER / f"saved.{TRIAL}").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return max(int(line.split()[1]) for line in lines)


def walk() -> None:
    with resolute.init() as run:
        restored = run.checkpoint.restore()
        start = restored.steps if restored else 0
        if restored and (restored.path / "step").read_text() != str(start):
            note("damaged", TRIAL, RUN, start)
        if start < newest_saved():
            note("lost", TRIAL, RUN, "starts at", start, "after a checkpoint of step", newest_saved())
        for step in range(start + 1, STEPS + 1):
            report(step)
            if step % SAVE_EVERY == 0:
                with run.checkpoint.store(steps=step) as (folder, uuid):
                    (folder / "step").write_text(str(step))
                run.checkpoint.wait()
                note(f"saved.{TRIAL}", RUN, step, uuid)
            time.sleep(0.03)
    (LEDGER / f"done.{TRIAL}.{RUN}").touch()


held = be_the_only_one()
note("started", TRIAL, RUN, RANK, os.getpid(), identity_of(os.getpid()).started)
if RANK == "0":
    walk()
else:
    while not (LEDGER / f"done.{TRIAL}.{RUN}").exists():
        time.sleep(0.02)
