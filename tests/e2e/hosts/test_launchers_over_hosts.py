"""Trials over several hosts come to the loss that the same ranks come to on one, whichever launcher starts them."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "scripts/regression.py"
LAUNCHERS = {
    "ours": "python3 -m resolute.launch.torch_distributed regression.py ours",
    "torchrun": "torchrun regression.py",
    "official": "python3 -m determined.launch.torch_distributed python3 regression.py harness",
}


@cache
def losses_on_one_host(ranks: int) -> list[float]:
    command = [sys.executable, "-m", "resolute.launch.torch_distributed", f"--nproc={ranks}", str(SCRIPT)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    return losses_in(done.stdout)


def losses_in(output: str) -> list[float]:
    (line,) = [line for line in output.splitlines() if "losses " in line]
    return [float(word) for word in line.partition("losses ")[2].split()]


@pytest.fixture(scope="module")
def harness(cluster: Any, harness_in: Callable[[Path], Path]) -> Path:
    return harness_in(cluster.folder)


def run(cluster: Any, launcher: str, hosts: int, path: Path | None = None) -> tuple[dict[str, Any], str]:
    variables = ["OMP_NUM_THREADS=1", *([f"PYTHONPATH={path}"] if path else [])]
    experiment = cluster.submit(f"""
name: {launcher} over {hosts} hosts
entrypoint: {LAUNCHERS[launcher]}
resources: {{slots_per_trial: {hosts}}}
max_restarts: 0
searcher: {{name: single, metric: loss, max_length: {{batches: 20}}}}
environment: {{environment_variables: {variables}}}
""")
    state = cluster.master.wait(experiment, timeout_s=200)
    trial = cluster.trial(experiment)
    log = cluster.log(trial["id"])
    assert state == "STATE_COMPLETED", log
    return trial, log


@pytest.mark.parametrize("hosts", [pytest.param(2, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize("launcher", ["ours", "torchrun"])
def test_hosts_come_to_the_loss_of_one_host(cluster: Any, launcher: str, hosts: int) -> None:
    _, log = run(cluster, launcher, hosts)

    assert losses_in(log) == losses_on_one_host(hosts)
    for rank in range(hosts):
        assert f"rank {rank} of {hosts} in host" in log


@pytest.mark.parametrize("hosts", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_hosts_come_to_the_loss_of_one_host_under_the_official_launcher(
    cluster: Any, harness: Path, hosts: int
) -> None:
    trial, log = run(cluster, "official", hosts, harness)

    expected = losses_on_one_host(hosts)
    assert losses_in(log) == expected
    assert trial["bestValidation"]["metrics"]["avgMetrics"]["loss"] == expected[-1]
    for rank in range(hosts):
        assert f"rank {rank} of {hosts} in host" in log
