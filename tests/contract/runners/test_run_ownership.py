"""Nothing of a run outlives it, whoever is killed and however its processes were started.

A run may be started again as soon as its gang polls as ended or lost, so that is the moment at which each test looks.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.gang import CLUSTER_INFO
from resolute.engine.ports.runner import NodePart
from resolute.runners.local import LocalRunner
from resolute.runners.shepherd.cgroups import own_groups

from .conftest import is_gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

WORKER = "echo $$ >> $LEDGER; exec sleep 600\n"
"""Any process of a run: it writes down its pid and stays."""

DOUBLE_FORK = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sh", ["sh", "worker.sh"])
    os._exit(0)
os.wait()
os.execvp("sh", ["sh", "worker.sh"])
"""
CLEARED = DOUBLE_FORK.replace(
    'execvp("sh", ["sh", "worker.sh"])\n    os._exit',
    'execve("/bin/sh", ["sh", "worker.sh"], {name: os.environ[name] for name in ("LEDGER", "PATH")})\n    os._exit',
)
FORKING = """
import multiprocessing, os, time

def work():
    if os.getpid() != os.getsid(0):
        os.setsid()
    with open(os.environ["LEDGER"], "a") as ledger:
        ledger.write(f"{os.getpid()}\\n")
    time.sleep(600)

multiprocessing.get_context("fork").Process(target=work).start()
work()
"""
RANKS = """
import os, time
with open(os.environ["LEDGER"], "a") as ledger:
    ledger.write(f"{os.getpid()}\\n")
time.sleep(600)
"""
FILES = {
    "worker.sh": WORKER,
    "double_fork.py": DOUBLE_FORK,
    "cleared.py": CLEARED,
    "forking.py": FORKING,
    "ranks.py": RANKS,
}

BACKGROUND = {
    "a child of a shell": "sh worker.sh & sh worker.sh",
    "a child under nohup": "nohup sh worker.sh >/dev/null 2>&1 & sh worker.sh",
    "a child in a session of its own": "setsid sh worker.sh & sh worker.sh",
    "a double fork": "exec python3 double_fork.py",
    "a process that forks itself": "exec python3 forking.py",
}


class Run:
    """One gang whose processes note their pids."""

    def __init__(self, bench: Any, runner: LocalRunner, entrypoint: str, workers: int, **options: Any) -> None:
        self._runner = runner
        self._bench = bench
        self._ledger = bench.home / "ledger"
        env = {"LEDGER": str(self._ledger), **options.pop("env", {})}
        self._gang = bench.gang("a", entrypoint, context_files=FILES, env=env, **options)
        self.handle = runner.start(self._gang)
        bench.until(lambda: len(self.workers) == workers or self.is_over)
        assert len(self.workers) == workers, bench.text(self._gang)

    @property
    def workers(self) -> list[int]:
        return [int(pid) for pid in self._ledger.read_text().split()] if self._ledger.exists() else []

    @property
    def is_over(self) -> bool:
        status = self._runner.poll([self.handle])[self.handle]
        return status.is_lost or status.exit_code is not None

    @property
    def shepherd(self) -> int:
        return self._pid_in("shepherd.json")

    @property
    def entrypoint(self) -> int:
        return self._pid_in("entrypoint.json")

    def living_when_over(self) -> list[int]:
        """Those of its processes that are alive at the moment the gang polls as over."""
        self._bench.until(lambda: self.is_over)
        return [pid for pid in self.workers if not is_gone(pid)]

    def _pid_in(self, name: str) -> int:
        return int(json.loads((self._bench.home / "runs/a.1" / name).read_text())["pid"])


@pytest.fixture(params=["version 2", "version 1", "none"])
def owning(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LocalRunner]:
    """A runner that has control groups of one kind, or none as for most users in a container."""
    found = [group for group in own_groups() if is_freezer(group) == (request.param == "version 1")]
    if request.param != "none" and not found:
        pytest.skip(f"control groups of {request.param} cannot be made here")
    runner = LocalRunner(
        home=tmp_path, slots=2, node_id="here", warm=False, cgroups=() if request.param == "none" else found
    )
    yield runner
    runner.close(stop_gangs=True)


@pytest.mark.parametrize("how", BACKGROUND)
def test_nothing_lives_on_when_a_shepherd_is_killed(bench: Any, owning: LocalRunner, how: str) -> None:
    run = Run(bench, owning, BACKGROUND[how], 2)

    os.kill(run.shepherd, signal.SIGKILL)

    assert run.living_when_over() == []
    assert owning.running() == []


@pytest.mark.parametrize("how", BACKGROUND)
def test_nothing_lives_on_when_shepherd_and_entrypoint_are_killed_together(
    bench: Any, owning: LocalRunner, how: str
) -> None:
    run = Run(bench, owning, BACKGROUND[how], 2)

    kill(run, ("shepherd", "entrypoint"))

    assert run.living_when_over() == []


@pytest.mark.parametrize("how", BACKGROUND)
def test_nothing_lives_on_when_an_entrypoint_is_killed(bench: Any, cold: LocalRunner, how: str) -> None:
    run = Run(bench, cold, BACKGROUND[how], 2)

    kill(run, ("entrypoint",))

    assert run.living_when_over() == []


@pytest.mark.parametrize("owning", ["version 2", "version 1"], indirect=True)
def test_a_control_group_finds_what_has_hidden_from_everything_else(bench: Any, owning: LocalRunner) -> None:
    """A double fork into a session of its own, with a cleared environment."""
    run = Run(bench, owning, "exec python3 cleared.py", 2)

    kill(run, ("shepherd", "entrypoint"))

    assert run.living_when_over() == []


@pytest.mark.parametrize("owning", ["version 2", "version 1"], indirect=True)
def test_a_control_group_goes_with_its_run(bench: Any, owning: LocalRunner) -> None:
    run = Run(bench, owning, BACKGROUND["a child of a shell"], 2)
    group = Path((bench.home / "runs/a.1/cgroup").read_text())
    was_there = group.is_dir()

    owning.stop(run.handle, force=True)
    bench.until(lambda: run.is_over)
    bench.until(lambda: owning.forget(run.handle) or not group.exists())

    assert was_there


def test_forked_processes_of_a_warm_trial_do_not_outlive_their_shepherd(bench: Any, tmp_path: Path) -> None:
    """No control group, and the environment that others see of them is the one that the warm process was given."""
    warm = LocalRunner(home=tmp_path, slots=2, node_id="here", cgroups=())
    bench.until(lambda: warm.is_warm(sys.executable))
    run = Run(bench, warm, "python3 forking.py", 2)

    kill(run, ("shepherd", "entrypoint"))

    assert run.living_when_over() == []
    warm.close(stop_gangs=True)


LAUNCHERS = {
    "resolute's launcher": "exec python3 -m resolute.launch.torch_distributed --nproc 2 ranks.py",
    "torchrun": "exec python3 -m torch.distributed.run --nproc_per_node 2 --master_port 0 ranks.py",
    "the official launcher": "exec python3 -m determined.launch.torch_distributed python3 ranks.py",
}
CLUSTER = {"cluster_id": "c", "agent_id": "here", "slot_ids": [0, 1], "session_token": "t", "task_id": "a"}
OFFICIAL = {"master_url": "http://127.0.0.1:1", "allocation_id": "a.1", "task_type": "TRIAL"}
"""What the official launcher reads about its task before it starts anything."""


OURS, TORCHRUN, OFFICIAL_LAUNCHER = LAUNCHERS
VICTIMS = [
    *((launcher, victim) for launcher in (OURS, TORCHRUN) for victim in ("shepherd", "launcher", "rank")),
    *((OFFICIAL_LAUNCHER, victim) for victim in ("shepherd", "agent")),
    *(pytest.param(OFFICIAL_LAUNCHER, victim, marks=pytest.mark.slow) for victim in ("launcher", "rank")),
]


@pytest.mark.parametrize(("launcher", "victim"), VICTIMS)
def test_ranks_never_outlive_their_run(
    bench: Any, cold: LocalRunner, harness_in: Callable[[Path], Path], launcher: str, victim: str
) -> None:
    options: dict[str, Any] = {"env": {"OMP_NUM_THREADS": "1"}}
    if launcher == OFFICIAL_LAUNCHER:
        options = official(options["env"], harness_in(bench.home))
    run = Run(bench, cold, LAUNCHERS[launcher], 2, **options)
    rank = run.workers[0]
    victims = {"shepherd": run.shepherd, "launcher": run.entrypoint, "agent": agent_of(rank), "rank": rank}

    os.kill(victims[victim], signal.SIGKILL)

    assert run.living_when_over() == []


def official(env: dict[str, str], harness: Path) -> dict[str, Any]:
    return {
        "nodes": (NodePart(share=NodeShare("here", (0, 1))),),
        "env": {**env, "PYTHONPATH": str(harness), "DET_MASTER": OFFICIAL["master_url"]},
        "files": {CLUSTER_INFO: json.dumps({**CLUSTER, **OFFICIAL})},
    }


def agent_of(rank: int) -> int:
    """The process that watches the ranks; with our launcher and torchrun it is the entrypoint."""
    parents = psutil.Process(rank).parents()
    return next((each.pid for each in parents if "torch.distributed.run" in each.cmdline()), parents[0].pid)


@pytest.mark.parametrize("how", BACKGROUND)
def test_nothing_lives_on_after_a_forced_stop(bench: Any, cold: LocalRunner, how: str) -> None:
    run = Run(bench, cold, BACKGROUND[how], 2)

    cold.stop(run.handle, force=True)

    assert run.living_when_over() == []


def test_a_stopped_shepherd_still_obeys_a_forced_stop(bench: Any, cold: LocalRunner) -> None:
    run = Run(bench, cold, BACKGROUND["a child of a shell"], 2)

    os.kill(run.shepherd, signal.SIGSTOP)
    cold.stop(run.handle, force=True)

    assert run.living_when_over() == []


def kill(run: Run, victims: tuple[str, ...]) -> None:
    pids = [getattr(run, victim) for victim in victims]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def is_freezer(group: str) -> bool:
    return not Path(group, "cgroup.controllers").exists()
