"""Gangs as another account of the machine. Only root can start them, so only root can try."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.agent_account import AgentAccount
from resolute.domain.errors import EnvironmentFailed
from resolute.engine.ports.runner import EnvironmentSpec
from resolute.runners.local import LocalRunner

NOBODY = AgentAccount(uid=54321, gid=54322, user="ada")
IS_ROOT = os.geteuid() == 0
as_root = pytest.mark.skipif(not IS_ROOT or sys.platform != "linux", reason="only root starts processes of others")
SYSTEM_PYTHON = "/usr/bin/python3"
HARMLESS = """
import json, os
print(json.dumps({
    "ids": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()],
    "home": os.environ["HOME"], "user": os.environ["USER"],
    "no_new_privs": [line for line in open("/proc/self/status") if line.startswith("NoNewPrivs")][0].split()[1],
}))
"""
NOSY = """
import os, sys
run, home = sys.argv[1:]
supervisor = int(open(f"/proc/{os.getsid(0)}/stat").read().rpartition(")")[2].split()[1])
def tried(what, act):
    try:
        act()
    except OSError:
        return
    print("REACHED", what)
tried("list the home", lambda: os.listdir(home))
tried("list the checkpoints", lambda: os.listdir(home + "/checkpoints"))
tried("list the runs", lambda: os.listdir(home + "/runs"))
tried("read the database", lambda: open(home + "/resolute.sqlite3"))
tried("read another run's file", lambda: open(home + "/runs/other.1/files/info"))
tried("replace its own exit", lambda: open(run + "/exit.json", "w"))
tried("read its control files", lambda: open(run + "/shepherd.json"))
tried("signal its supervisor", lambda: os.kill(supervisor, 0))
tried("look into its supervisor", lambda: open(f"/proc/{supervisor}/environ", "rb").read())
os.mkdir(home + "/checkpoints/mine")
open(os.environ["HOME"] + "/of-mine", "w").close()
open("result", "w").close()
print("done")
"""


@pytest.fixture
def open_bench(bench: Any) -> Any:
    """Temporary folders are closed to other accounts."""
    for folder in (bench.home, *bench.home.parents):
        if folder.owner() == "root" and str(folder) != "/" and "pytest" in str(folder):
            folder.chmod(folder.stat().st_mode | 0o011)
    return bench


@as_root
def test_user_code_runs_as_the_account(open_bench: Any, cold: LocalRunner) -> None:
    files = {"who.py": HARMLESS, "startup-hook.sh": "id -u"}
    gang = open_bench.gang("a", f"{SYSTEM_PYTHON} who.py", context_files=files, account=NOBODY)

    status = open_bench.run(cold, gang)

    assert status.exit_code == 0, open_bench.text(gang)
    said = open_bench.text(gang).splitlines()
    assert "54321" in said
    facts = json.loads(next(line for line in said if line.startswith("{")))
    assert facts["ids"] == [54321, 54321, 54322, [54322]]
    assert facts["user"] == "ada"
    assert Path(facts["home"]) == open_bench.home / "accounts/54321"
    assert facts["no_new_privs"] == "1"


@as_root
def test_the_account_reaches_its_own_and_nothing_else(open_bench: Any, cold: LocalRunner) -> None:
    home = open_bench.home
    (home / "resolute.sqlite3").write_text("secrets")
    other = home / "runs/other.1/files"
    other.mkdir(parents=True)
    (other / "info").write_text("token")
    other.parent.chmod(0o700)
    (home / "checkpoints/of-others").mkdir(parents=True)
    gang = open_bench.gang(
        "a", f"{SYSTEM_PYTHON} nosy.py {home}/runs/a.1 {home}", context_files={"nosy.py": NOSY}, account=NOBODY
    )

    status = open_bench.run(cold, gang)

    said = open_bench.text(gang)
    assert status.exit_code == 0, said
    assert "REACHED" not in said
    assert "done" in said
    assert (home / "checkpoints/mine").stat().st_uid == NOBODY.uid


@as_root
def test_a_warm_start_is_of_the_account_too(open_bench: Any, warm_bench: Any) -> None:
    runner, bench = warm_bench
    for folder in (bench.home, *bench.home.parents):
        if "pytest" in str(folder):
            folder.chmod(folder.stat().st_mode | 0o011)
    gang = bench.gang("of-ada", "python3 who.py", context_files={"who.py": HARMLESS}, account=NOBODY)

    bench.run(runner, gang)

    said = bench.text(gang)
    assert '"ids": [54321, 54321' in said or f"cannot run {sys.executable}" in said


@as_root
def test_an_interpreter_of_a_user_is_asked_as_that_user(open_bench: Any, cold: LocalRunner) -> None:
    asked = open_bench.home / "asked"
    asked.mkdir()
    asked.chmod(0o777)
    script = asked / "python"
    script.write_text(f'#!/bin/sh\nid -u >> {asked}/by\nenv >> {asked}/env\nexec {SYSTEM_PYTHON} "$@"\n')
    script.chmod(0o755)
    os.environ["RESOLUTE_ADMIN_PASSWORD"] = "hush"
    gang = open_bench.gang("a", "true", environment=EnvironmentSpec(python=str(script)), account=NOBODY)

    try:
        open_bench.run(cold, gang)
    finally:
        del os.environ["RESOLUTE_ADMIN_PASSWORD"]

    assert set((asked / "by").read_text().split()) == {"54321"}
    assert "hush" not in (asked / "env").read_text()


@as_root
def test_an_environment_is_built_by_the_account_and_for_it(open_bench: Any, cold: LocalRunner, wheel: Path) -> None:
    # The home is closed to the account; what it installs lies elsewhere.
    found = open_bench.home.with_name("wheels") / wheel.name
    found.parent.mkdir()
    found.write_bytes(wheel.read_bytes())
    environment = EnvironmentSpec(python=SYSTEM_PYTHON, requirements=(str(found),))
    script = "python3 -c 'import greeting, sys; print(greeting.VERSION, sys.prefix)'"
    first = open_bench.gang("a", script, environment=environment, account=NOBODY)

    status = open_bench.run(cold, first)

    assert status.exit_code == 0, open_bench.text(first)
    envs = open_bench.home / "accounts/54321/envs"
    (prefix,) = (path for path in envs.iterdir() if path.is_dir())
    assert f"1.0 {prefix}" in open_bench.text(first)
    assert {path.stat().st_uid for path in (prefix, *prefix.rglob("greeting.py"))} == {NOBODY.uid}


@as_root
def test_what_the_account_cannot_build_ends_the_run_with_a_sentence(open_bench: Any, cold: LocalRunner) -> None:
    environment = EnvironmentSpec(python=SYSTEM_PYTHON, requirements=("nobody-has-this @ file:///nowhere/x.whl",))
    gang = open_bench.gang("a", "echo never", environment=environment, account=NOBODY)

    status = open_bench.run(cold, gang)

    assert (status.exit_code, status.is_final) == (125, True)
    assert "/nowhere/x.whl" in status.reason
    assert "Traceback" not in open_bench.text(gang)


@as_root
def test_links_of_bind_mounts_are_made_by_the_account(open_bench: Any, cold: LocalRunner) -> None:
    target = open_bench.home / "outside"
    target.mkdir()
    data = open_bench.home / "data"
    data.mkdir()
    mounts = ((str(data), "here", False), (str(data), str(target / "planted"), False))
    gang = open_bench.gang("a", "ls -l here", bind_mounts=mounts, account=NOBODY)

    open_bench.run(cold, gang)

    assert not (target / "planted").is_symlink()
    assert not (target / "planted").exists()


@as_root
def test_a_run_of_the_account_ends_when_it_is_told_to(open_bench: Any, cold: LocalRunner) -> None:
    gang = open_bench.gang("a", "trap '' TERM; setsid sleep 600 & sleep 600", account=NOBODY)
    handle = cold.start(gang)
    open_bench.until(lambda: (open_bench.home / "runs/a.1/entrypoint.json").exists())

    cold.stop(handle, force=True)

    assert open_bench.end(cold, handle).exit_code == 137


def test_without_root_nothing_is_started_as_somebody_else(
    bench: Any, cold: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4242)

    with pytest.raises(EnvironmentFailed, match=r"run as ada \(uid 54321\).*not root"):
        cold.start(bench.gang("a", "true", account=NOBODY))


def test_other_runners_refuse_an_account(bench: Any) -> None:
    from resolute.runners.node_request import node_request

    with pytest.raises(EnvironmentFailed, match="only the master's own machine does"):
        node_request(bench.gang("a", "true", account=NOBODY))
