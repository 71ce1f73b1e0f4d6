"""Masters that are killed while they deliver changes: each change comes at least once, those of a thing in order."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from resolute.store.db import open_store

MASTER = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path

from resolute.domain.change import Action
from resolute.engine.changes.loop import DeliveryLoop
from resolute.engine.platform import MasterConfig, Platform
from resolute.engine.unit_of_work import flow
from resolute.store.db import open_store
from resolute.runners.fake import FakeRunner
from resolute.store.blobs import open_blobs
from resolute.store.db import open_store
from resolute.store.logs import FileLogs

home, makes_changes = Path(sys.argv[1]), sys.argv[2] == "changing"
platform = Platform(
    store=open_store(f"sqlite:///{home / 'db'}"),
    runner=FakeRunner(1),
    logs=FileLogs(home / "logs"),
    blobs=open_blobs,
    clock=lambda: datetime.now(UTC),
    config=MasterConfig(home=home),
)
heard = os.open(home / "heard", os.O_WRONLY | os.O_APPEND | os.O_CREAT)


class Follower:
    name = "heard"

    def wants(self, change):
        return True

    def take(self, change):
        os.write(heard, f"{change.thing_id} {change.seq}\\n".encode())


loop = DeliveryLoop(platform)
loop.start()
loop.follow(Follower())
print("ready", flush=True)
number = 0
while makes_changes:
    number += 1
    with flow(platform) as current:
        current.record(Action.CHANGED, "thing", number % 3)
sys.stdin.read()
"""


def master(home: Path, does: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", MASTER, str(home), does]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def heard(home: Path) -> list[tuple[str, int]]:
    return [(thing, int(seq)) for thing, seq in map(str.split, (home / "heard").read_text().splitlines())]


def wait_until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.02)


def test_masters_that_are_killed_while_they_deliver_lose_nothing(tmp_path: Path) -> None:
    for kills in range(4):
        process = master(tmp_path, "changing")
        before = len(heard(tmp_path))
        wait_until(lambda before=before, kills=kills: len(heard(tmp_path)) > before + 30 * kills)
        end(process)
    store = open_store(f"sqlite:///{tmp_path / 'db'}")
    with store.read() as tx:
        happened = tx.changes.after(0, limit=1_000_000)
    store.close()

    process = master(tmp_path, "delivering")
    wait_until(lambda: heard(tmp_path)[-1][1] == happened[-1].seq)
    end(process)

    for thing in "012":
        first_heard = list(dict.fromkeys(seq for name, seq in heard(tmp_path) if name == thing))
        assert first_heard == [change.seq for change in happened if change.thing_id == thing]
