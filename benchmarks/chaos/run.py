"""Random kills and faults under load, with a ledger: is anything acknowledged lost, does anything run twice?

    python -m benchmarks.chaos.run [--kills 60] [--faults 8] [--database postgres] [--storage s3] [--hosts 3]

Prints what was done, what was found, and the figures. Exits with 1 when something was lost or ran twice.
"""

import argparse
import contextlib
import json
import random
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.chaos.faults import Storm
from benchmarks.chaos.ledger import Ledger, doubled, lost
from benchmarks.chaos.load import Load
from benchmarks.chaos.processes import KINDS
from benchmarks.chaos.servers import PostgresServer, S3Server
from benchmarks.chaos.stage import Stage, small_disk
from resolute.runners.hosts import write_hosts
from resolute.runners.namespaces import namespace_network

_FAULT_LASTS_S = (0.5, 4.0)
_SPARED_WITHIN_S = 60.0
"""A short storm goes on for so long until one of every kind was killed."""
_BEGINS_WITHIN_S = 180.0
_CALMS_WITHIN_S = 900.0
_FINAL = ("STATE_COMPLETED", "STATE_ERROR", "STATE_CANCELED")


def main() -> None:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rng = random.Random(options.seed)
    with contextlib.ExitStack() as ending:
        stage, disk_can_be_full = _stage(options, ending)
        ledger = Ledger(stage.folder / "ledger")
        stage.start()
        storm = Storm(stage, ledger, rng=rng, disk_can_be_full=disk_can_be_full)
        load = Load(stage, ledger, steps=options.steps, slots_of_gang=2, serves=not options.hosts)
        began = time.monotonic()
        load.start()
        begin(ledger)
        rage(storm, kills=options.kills, faults=options.faults, pause_s=options.pause, tells=not options.json)
        load.stop()
        calm(stage, ledger)
        found = {
            "lost": lost(ledger, stage),
            "twice": doubled(ledger, stage),
            "failures": [*load.failures, *(" ".join(line) for line in ledger.lines("refused"))],
        }
        figures = _figures(storm, stage, ledger, time.monotonic() - began)
    print(json.dumps({**figures, **found}, indent=1))
    if not options.json:
        print(
            f"{sum(storm.kills.values())} kills, {sum(storm.faults.values())} faults: "
            f"{len(found['lost'])} lost, {len(found['twice'])} twice"
        )
    sys.exit(1 if found["lost"] or found["twice"] or load.failures else 0)


def begin(ledger: Ledger) -> None:
    """Until trials report: a storm over nothing would find nothing lost."""
    deadline = time.monotonic() + _BEGINS_WITHIN_S
    while not ledger.count("acknowledged."):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no trial reported within {_BEGINS_WITHIN_S:.0f} s")
        time.sleep(0.2)


def rage(storm: Storm, *, kills: int, faults: int, pause_s: float, tells: bool) -> None:
    """Until there were so many kills of every kind together, with the faults spread among them."""
    names = [storm.fault_names[number % len(storm.fault_names)] for number in range(faults)]
    storm.rng.shuffle(names)
    at = {round((number + 1) * kills / (faults + 1)): name for number, name in enumerate(names)}
    done = 0
    patience_ends = time.monotonic() + _SPARED_WITHIN_S
    while done < kills or (storm.spared and time.monotonic() < patience_ends):
        time.sleep(storm.rng.uniform(0, 2 * pause_s))
        name = at.pop(done, None)
        if name is None:
            done += bool(storm.kill_any())
            continue
        if tells:
            print(f"{done:5d} kills; {name}", flush=True)
        with storm.fault(name):
            # Most harm is done by what happens meanwhile.
            time.sleep(storm.rng.uniform(*_FAULT_LASTS_S))
            if storm.rng.random() < 0.5:
                done += bool(storm.kill_any())


def calm(stage: Stage, ledger: Ledger) -> None:
    """Until all that was submitted has ended."""
    deadline = time.monotonic() + _CALMS_WITHIN_S
    while time.monotonic() < deadline:
        experiments = stage.get("/api/v1/experiments", limit=-1)["experiments"]
        if all(each["state"] in _FINAL for each in experiments):
            return
        time.sleep(0.5)
    left = [each["id"] for each in experiments if each["state"] not in _FINAL]
    raise TimeoutError(f"experiments {left} have not ended:\n{stage.output.read_text()[-4000:]}")


def _figures(storm: Storm, stage: Stage, ledger: Ledger, seconds: float) -> dict[str, Any]:
    recoveries = sorted(stage.recoveries_s)
    return {
        "kills": {kind: storm.kills.get(kind, 0) for kind in KINDS},
        "faults": storm.faults,
        "minutes": round(seconds / 60, 1),
        "experiments": len(ledger.experiments),
        "trials_started": ledger.count("started"),
        "reports_acknowledged": ledger.count("acknowledged."),
        "checkpoints_acknowledged": ledger.count("saved."),
        "models_acknowledged": len(ledger.models),
        "predictions": dict(ledger.predictions),
        "recovery_p50_s": round(statistics.median(recoveries), 2),
        "recovery_max_s": round(recoveries[-1], 2),
    }


def _stage(options: argparse.Namespace, ending: contextlib.ExitStack) -> tuple[Stage, bool]:
    folder = Path(
        ending.enter_context(tempfile.TemporaryDirectory(prefix="resolute-chaos-", ignore_cleanup_errors=True))
    )
    stage = Stage(folder=folder)
    disk_can_be_full = False
    if options.hosts:
        network = ending.enter_context(namespace_network(options.hosts))
        (folder / "disk").mkdir()
        write_hosts(folder / "hosts.json", network.hosts)
        stage.host, stage.slots, stage.hosts = network.address, 1, network.hosts
        stage.environment["RESOLUTE_TEST_HOSTS"] = str(folder / "hosts.json")
    else:
        disk_can_be_full = ending.enter_context(small_disk(folder / "disk"))
    if options.database == "postgres":
        stage.postgres = ending.enter_context(contextlib.closing(PostgresServer()))
    if options.storage == "s3":
        stage.s3 = ending.enter_context(contextlib.closing(S3Server()))
    ending.callback(stage.close)
    return stage, disk_can_be_full


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--faults", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--pause", type=float, default=0.7, help="mean seconds between two kills")
    parser.add_argument("--steps", type=int, default=60, help="of each trial; it saves every ten")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--storage", choices=("local", "s3"), default="local")
    parser.add_argument("--hosts", type=int, default=0, help="network namespaces to run on; needs root")
    parser.add_argument("--json", action="store_true", help="print the figures alone")
    return parser.parse_args()


if __name__ == "__main__":
    main()
