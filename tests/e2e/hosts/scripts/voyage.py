"""Trains on all ranks, one small step at a time, until the file `finish` is there. Rank 0 has every step acknowledged
by the master before it goes on, and saves every few. Each fact is one line in the folder LEDGER, which all hosts share.
"""

import json
import os
import time
import urllib.error
import urllib.request
from pathlib import Path

import torch
import torch.distributed as dist

import resolute

LEDGER = Path(os.environ["LEDGER"])
RUN = os.environ["DET_TRIAL_RUN_ID"]
SAVE_EVERY = 5


def note(ledger: str, *words: object) -> None:
    with (LEDGER / ledger).open("a") as file:
        file.write(" ".join(map(str, words)) + "\n")


def started_at(pid: str) -> str:
    """Empty when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def note_doubles() -> None:
    """Processes of another run that live while this one does."""
    lines = (LEDGER / "processes").read_text().splitlines() if (LEDGER / "processes").exists() else []
    for run, rank, pid, began in map(str.split, lines):
        if run != RUN and started_at(pid) == began:
            note("doubles", RUN, "beside", run, rank)


def report(step: int, value: float) -> None:
    """Returns when the master has it. A refusal ends this process: the run has been replaced."""
    trial = int(os.environ["DET_TRIAL_ID"])
    metrics = {
        "trialId": trial,
        "trialRunId": int(RUN),
        "stepsCompleted": step,
        "metrics": {"avgMetrics": {"loss": value}},
    }
    request = urllib.request.Request(
        f"{os.environ['DET_MASTER']}/api/v1/trials/{trial}/metrics",
        data=json.dumps({"group": "validation", "metrics": metrics}).encode(),
        headers={"Grpc-Metadata-x-allocation-token": f"Bearer {os.environ['DET_SESSION_TOKEN']}"},
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=2):
                return note("acknowledged", RUN, step, repr(value))
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise
        except OSError:
            pass
        time.sleep(0.05)


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
note_doubles()
note("processes", RUN, rank, os.getpid(), started_at(str(os.getpid())))
with resolute.init() as run:
    restored = run.checkpoint.restore()
    step = restored.steps if restored else 0
    if rank == 0:
        note("starts", RUN, step)
    while True:
        step += 1
        total = torch.tensor([1.0, float((LEDGER / "finish").exists())])
        dist.all_reduce(total)
        if rank == 0:
            report(step, float(total[0]) / (world * step))
            if step % SAVE_EVERY == 0:
                with run.checkpoint.store(steps=step) as (folder, _):
                    (folder / "step").write_text(str(step))
                run.checkpoint.wait()
                note("saved", RUN, step)
        if total[1] > 0:
            break
        time.sleep(0.05)
    note_doubles()
dist.destroy_process_group()
