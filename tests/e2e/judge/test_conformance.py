"""The whole official client against one master, held to the page that says how much of it works."""

import grp
import json
import os
import pwd
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.judge.conformance.report import by_verb, names_on, page
from tests.e2e.judge.conftest import JUDGE, MODEL, ROOT, config

from resolute.server.known_operations import known_operations

SCRIPTS = Path(__file__).parent / "scripts"
LINES = [
    line
    for line in (Path(__file__).parent / "conformance" / "cli.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
PAGE = ROOT / "docs" / "determined-conformance.md"
_BRIEF = (
    *("user login", "user whoami", "master info", "agent list", "experiment list", "experiment describe"),
    *("experiment list-trials", "experiment list-checkpoints", "trial describe", "trial logs", "checkpoint describe"),
    *(
        "experiment set log-retention",
        "experiment label add",
        "resources allocations",
        "token create",
        "token describe",
    ),
    *("workspace create", "workspace list", "template create", "model create", "model register-version", "job list"),
)
"""Verbs that every run of the tests tries; the others are tried where there is time."""


@pytest.fixture(scope="module")
def judged(live_master: Any, judge_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Things to name on a command line."""
    folder = tmp_path_factory.mktemp("judged")
    mark = f"c{uuid.uuid4().hex[:6]}"
    keeping = config(name="conforming") + (
        "checkpoint_storage: {save_trial_latest: 3}\nintegrations: {pachyderm: {dataset: {commit: abc}}}\n"
    )
    done = live_master.create(keeping, MODEL)
    live_master.wait(done)
    trial = live_master.call("GET", f"/api/v1/experiments/{done}/trials")["trials"][0]
    checkpoints = live_master.call("GET", f"/api/v1/experiments/{done}/checkpoints")["checkpoints"]
    files = {
        "config": config(name="paused"),
        "search": config().replace("{name: single", "{name: random, max_trials: 2"),
        "template": "max_restarts: 1\n",
        "policies": "constraints: {resources: {max_slots: 4}}\n",
        "generic": "entrypoint: [sleep, '60']\nresources: {slots: 0}\n",
    }
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return {
        **{name: str(folder / f"{name}.yaml") for name in files},
        **_account(),
        "mark": mark,
        "tmp": str(folder),
        "model": str(MODEL),
        "agent": _agent(live_master),
        "done": done,
        "trial": trial["id"],
        "task": trial["taskId"],
        **{name: each["uuid"] for name, each in zip(("checkpoint", "spare", "spare2"), checkpoints, strict=True)},
    }


def _account() -> dict[str, Any]:
    """One that this machine has."""
    account = pwd.getpwuid(os.getuid())
    group = grp.getgrgid(account.pw_gid)
    return {"uid": account.pw_uid, "account": account.pw_name, "gid": group.gr_gid, "group": group.gr_name}


def _agent(master: Any) -> str:
    return str(master.call("GET", "/api/v1/agents")["agents"][0]["id"])


@pytest.fixture
def waiting(live_master: Any, judged: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """With experiments to stop, to continue and to move in the queue."""
    paused = [live_master.create(config(name="paused"), MODEL, activate=False) for _ in range(2)]
    failing = config(name="failing").replace("pause_s: 0.0", "pause_s: 0.0, fail_at: 2")
    failed = live_master.create(failing, MODEL)
    queued = live_master.create(config(name="queued") + "resources: {slots_per_trial: 99}\n", MODEL)
    live_master.wait(failed, "STATE_ERROR")
    job = live_master.experiment(queued)["jobId"]
    yield {**judged, "paused": paused[0], "paused2": paused[1], "failed": failed, "job": job}
    live_master.call("POST", f"/api/v1/experiments/{queued}/kill")


def judge(env: dict[str, str], script: str, given: object) -> Any:
    """What a script of the official client found."""
    command = [str(JUDGE / "python"), str(SCRIPTS / script)]
    done = subprocess.run(
        command,
        env={**env, "DET_USER": "admin", "DET_PASS": ""},
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def test_every_day_verbs_of_the_official_command_line_work(judge_env: dict[str, str], judged: dict[str, Any]) -> None:
    lines = [line for line in LINES if f"{line} ".startswith(tuple(f"{verb} " for verb in _BRIEF))]

    found = judge(judge_env, "conform_cli.py", {"lines": lines, "known": judged})

    assert {verb: why for verb, why in by_verb(_BRIEF, found["results"]).items() if why} == {}
    assert {f"det {verb}" for verb in found["verbs"]} <= names_on(PAGE.read_text())


def test_the_operations_that_are_known_are_those_of_the_official_bindings(judge_env: dict[str, str]) -> None:
    count = "import re, inspect; from determined.common.api import bindings as b; print(len(re.findall("
    count += "r'^def (?:get|post|put|patch|delete)_', inspect.getsource(b), re.M)))"

    found = subprocess.run([str(JUDGE / "python"), "-c", count], env=judge_env, capture_output=True, text=True)

    assert int(found.stdout) == len(known_operations())


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_whole_official_client_does_what_the_page_says(
    judge_env: dict[str, str], waiting: dict[str, Any], live_master: Any
) -> None:
    cli = judge(judge_env, "conform_cli.py", {"lines": LINES, "known": waiting})
    sdk = judge(judge_env, "conform_sdk.py", {**waiting, "spare": waiting["spare2"]})

    found = page(by_verb(cli["verbs"], cli["results"]), sdk)

    if os.environ.get("RESOLUTE_WRITE_CONFORMANCE"):
        PAGE.write_text(found)
    assert found == PAGE.read_text()
