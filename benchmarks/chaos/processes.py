"""The processes of a stage by what they are, found where the platform writes them down."""

import json
from pathlib import Path

import psutil

from benchmarks.chaos.ledger import Ledger
from benchmarks.chaos.stage import Stage
from resolute.host.process_identity import ProcessIdentity

KINDS = ("master", "zygote", "shepherd", "rank", "launcher", "router", "router supervisor", "replica", "model process")
_NEWEST_STARTS = 200


def living(stage: Stage, ledger: Ledger, kind: str) -> list[int]:
    """Those of one kind that live now."""
    match kind:
        case "master":
            return [stage.pid] if stage.is_ready else []
        case "zygote":
            return [pid for pid in _children(stage.pid) if "zygote_main.py" in _command(pid)]
        case "shepherd":
            return _of_runs(stage, "shepherd.json")
        case "rank":
            return [int(pid) for *_, pid, at in ledger.lines("started")[-_NEWEST_STARTS:] if _is(int(pid), at)]
        case "launcher":
            parents = {_parent(pid) for pid in living(stage, ledger, "rank")}
            return sorted(parents & set(_of_runs(stage, "entrypoint.json")))
        case "router":
            return _written_in([stage.home / "router" / "router.json"])
        case "router supervisor":
            return _written_in([stage.home / "router" / "supervisor.json"])
        case "replica":
            return [pid for pid in _of_runs(stage, "entrypoint.json") if "resolute.serving" in _command(pid)]
        case "model process":
            return [child for pid in living(stage, ledger, "replica") for child in _children(pid)]
    raise ValueError(kind)


def _of_runs(stage: Stage, name: str) -> list[int]:
    """Of runs that have not ended."""
    runs = [run for run in (stage.home / "runs").glob("*") if not (run / "exit.json").exists()]
    return _written_in([run / name for run in runs])


def _written_in(paths: list[Path]) -> list[int]:
    found = []
    for path in paths:
        try:
            facts = json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        identity = ProcessIdentity(int(facts["pid"]), str(facts["started"]))
        if identity.is_alive:
            found.append(identity.pid)
    return found


def _is(pid: int, started: str) -> bool:
    return ProcessIdentity(pid, started).is_alive


def _children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []


def _parent(pid: int) -> int:
    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return 0


def _command(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""
