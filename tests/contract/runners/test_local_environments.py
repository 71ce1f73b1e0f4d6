"""Which Python a gang runs in: another interpreter, an environment built for it, the Determined harness in both."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from resolute.engine.ports.runner import EnvironmentSpec
from resolute.runners.local import LocalRunner

JUDGE = Path(__file__).parents[3] / ".venv-judge/bin/python"
REPORT = """
import determined as det
info = det.get_cluster_info()
print(info.master_url, info.allocation_id, info.slot_ids, info.trial.hparams, info.trial.trial_id)
print(info.container_addrs, info.gpu_uuids)
"""


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A bare environment, without this platform in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    return tmp_path / "bare/bin/python"


def test_python_is_the_interpreter_that_was_asked_for(bench: Any, cold: LocalRunner, venv: Path) -> None:
    gang = bench.gang("a", "python3 -c 'import sys; print(sys.prefix)'", environment=EnvironmentSpec(python=str(venv)))

    status = bench.run(cold, gang)

    assert (status.exit_code, bench.text(gang)) == (0, str(venv.parent.parent))


def test_an_interpreter_of_another_name_is_still_what_python3_means(
    bench: Any, cold: LocalRunner, venv: Path, tmp_path: Path
) -> None:
    odd = tmp_path / "odd/mypython"
    odd.parent.mkdir()
    odd.symlink_to(os.path.realpath(sys.executable))
    gang = bench.gang("a", "python3 -c 'import sys; print(sys.prefix)'", environment=EnvironmentSpec(python=str(odd)))

    status = bench.run(cold, gang)

    assert status.exit_code == 0, bench.text(gang)
    assert bench.text(gang) == sys.base_prefix


def test_an_environment_without_the_platform_starts_warm_too(bench: Any, venv: Path, tmp_path: Path) -> None:
    runner = LocalRunner(home=tmp_path, slots=2, node_id="here")
    bench.until(lambda: runner.is_warm(str(venv)))
    script = "import sys; print(sys.prefix, sys.argv, 'resolute' in sys.modules)"
    environment = EnvironmentSpec(python=str(venv))
    gang = bench.gang("a", "python3 t.py x", context_files={"t.py": script}, environment=environment)

    status = bench.run(runner, gang)

    assert status.exit_code == 0
    assert bench.text(gang) == f"{venv.parent.parent} ['t.py', 'x'] False"
    assert "zygote_main" not in bench.text(gang)
    runner.close(stop_gangs=True)


def test_requirements_are_installed_once_and_the_platform_stays_importable(
    bench: Any, cold: LocalRunner, wheel: Path
) -> None:
    environment = EnvironmentSpec(requirements=(str(wheel),))
    script = "python3 -c 'import greeting, torch, resolute, sys; print(greeting.VERSION, sys.prefix)'"
    first = bench.gang("a", script, environment=environment)
    second = bench.gang("b", script, environment=environment)

    statuses = [bench.run(cold, gang) for gang in (first, second)]

    assert [status.exit_code for status in statuses] == [0, 0], bench.text(first)
    assert "Building a Python environment with" in bench.text(first)
    (prefix,) = (path for path in (bench.home / "envs").iterdir() if path.is_dir())
    assert bench.text(second) == f"1.0 {prefix}"


def test_concurrent_gangs_wait_for_one_build(bench: Any, cold: LocalRunner, wheel: Path) -> None:
    environment = EnvironmentSpec(requirements=(str(wheel),))
    gangs = [bench.gang(name, "python3 -c 'import greeting'", environment=environment) for name in "abc"]

    handles = [cold.start(gang) for gang in gangs]

    assert [bench.end(cold, handle).exit_code for handle in handles] == [0, 0, 0]
    assert sum("Building a Python" in bench.text(gang) for gang in gangs) == 1


def test_what_cannot_be_resolved_is_said_in_the_resolvers_words(bench: Any, cold: LocalRunner) -> None:
    requirement = "no-such-package-of-anybody @ file:///nowhere/x.whl"
    gang = bench.gang("a", "echo never", environment=EnvironmentSpec(requirements=(requirement,)))

    status = bench.run(cold, gang)

    assert (status.exit_code, status.is_final) == (125, True)
    assert "could not be built" in status.reason
    assert "/nowhere/x.whl" in status.reason
    assert "never" not in bench.text(gang)
    assert [path for path in (bench.home / "envs").iterdir() if path.is_dir()] == []


def test_a_build_that_was_killed_half_way_is_built_again(bench: Any, cold: LocalRunner, wheel: Path) -> None:
    environment = EnvironmentSpec(requirements=(str(wheel),))
    gang = bench.gang("a", "python3 -c 'import greeting; print(greeting.VERSION)'", environment=environment)
    directory = Path(cold.render(gang)["environment_directory"])
    (directory / "bin").mkdir(parents=True)
    (directory / "bin/python").write_text("broken")

    status = bench.run(cold, gang)

    assert status.exit_code == 0, bench.text(gang)
    assert bench.text(gang).endswith("1.0")


def test_a_gang_can_be_stopped_while_its_environment_is_built(bench: Any, cold: LocalRunner, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'wait'\nbackend-path = ['.']\n"
        "[project]\nname = 'slow'\nversion = '1'\n"
    )
    (slow / "wait.py").write_text("import time\ntime.sleep(600)\n")
    gang = bench.gang("a", "echo never", environment=EnvironmentSpec(requirements=(str(slow),)))
    handle = cold.start(gang)
    bench.until_said(gang, "Building")

    cold.stop(handle, force=False)

    assert bench.end(cold, handle).exit_code == 128 + signal.SIGTERM
    assert [path for path in (bench.home / "envs").iterdir() if path.is_dir()] == []


@pytest.mark.skipif(not JUDGE.exists(), reason="the official client is not installed; make test installs it")
@pytest.mark.parametrize("warm", [False, True])
def test_the_determined_harness_reads_the_info_files_of_its_own_gang(bench: Any, tmp_path: Path, warm: bool) -> None:
    runner = LocalRunner(home=tmp_path, slots=2, node_id="here", warm=warm)
    if warm:
        bench.until(lambda: runner.is_warm(str(JUDGE)))
    gangs = [
        bench.gang(
            name,
            "python3 report.py",
            context_files={"report.py": REPORT},
            environment=EnvironmentSpec(python=str(JUDGE)),
            files=_info_files(number),
        )
        for number, name in enumerate("ab")
    ]

    handles = [runner.start(gang) for gang in gangs]

    for number, (gang, handle) in enumerate(zip(gangs, handles, strict=True)):
        assert bench.end(runner, handle).exit_code == 0, bench.text(gang)
        assert bench.text(gang) == (
            f"http://localhost:808{number} alloc-{number} [{number}] {{'lr': {number}}} {number}\n"
            f"['10.0.0.{number}'] []"
        )
    runner.close(stop_gangs=True)


def test_a_sitecustomize_of_the_users_own_still_runs(bench: Any, cold: LocalRunner, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/sitecustomize.py").write_text("print('own sitecustomize')")
    gang = bench.gang(
        "a", "python3 -c 'pass'", files={"info/cluster.json": "{}"}, env={"PYTHONPATH": str(tmp_path / "own")}
    )

    bench.run(cold, gang)

    assert bench.text(gang) == "own sitecustomize"


def _info_files(number: int) -> dict[str, str]:
    cluster = {
        "master_url": f"http://localhost:808{number}",
        "cluster_id": "c",
        "agent_id": "here",
        "slot_ids": [number],
        "task_id": "t",
        "allocation_id": f"alloc-{number}",
        "session_token": "v2.x",
        "task_type": "TRIAL",
        "master_cert_name": None,
        "master_cert_file": None,
        "latest_checkpoint": None,
    }
    trial = {
        "trial_id": number,
        "experiment_id": 1,
        "trial_seed": 0,
        "hparams": {"lr": number},
        "config": {},
        "steps_completed": 0,
        "trial_run_id": 1,
        "debug": False,
        "inter_node_network_interface": None,
    }
    rendezvous = {"container_addrs": [f"10.0.0.{number}"], "container_rank": 0, "container_slot_counts": [1]}
    contents = {"cluster": cluster, "trial": trial, "rendezvous": rendezvous, "resources": {"gpu_uuids": []}}
    return {f"info/{name}.json": json.dumps(content) for name, content in contents.items()}
