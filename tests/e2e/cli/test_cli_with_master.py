"""The command line and the SDK against a real master, from submission to a downloaded checkpoint."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from resolute import client as shared
from resolute.client import Client, LogFilter
from resolute.domain.errors import InvalidInput

CONFIG = """\
name: from the command line # kept
entrypoint: python3 train.py
hyperparameters:
  lr: {type: double, minval: 0.1, maxval: 1.0}
searcher: {name: random, metric: loss, max_trials: 2, max_length: {batches: 4}}
max_restarts: 0
"""
SCRIPT = """\
import resolute

with resolute.init() as run:
    for step in range(1, 5):
        run.report("training", step, {"loss": run.hparams["lr"] / step})
    run.report("validation", 4, {"loss": run.hparams["lr"]})
    run.checkpoint.save({"step": 4}, steps=4)
    print("trained with", run.hparams["lr"])
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "train.py").write_text(SCRIPT)
    return tmp_path


def test_an_experiment_goes_from_a_file_to_a_downloaded_checkpoint(resolute: Any, work: Path) -> None:
    created = resolute("e", "create", "config.yaml", "model", "--json")
    number = str(json.loads(created.out)["id"])

    waited = resolute("e", "wait", number, "--polling-interval", "0.2")
    best = json.loads(resolute("e", "lc", number, "--best", "1", "--json").out)
    downloaded = resolute("e", "download", number, "-q")

    assert waited.code == 0, waited.out + waited.err + resolute("e", "logs", number).out
    assert downloaded.out.strip() == f"checkpoints/{best[0]['uuid']}"
    assert (work / "checkpoints" / best[0]["uuid"] / "metadata.json").exists()
    assert "trained with" in resolute("e", "logs", number).out
    assert "2 of 2 trials ended" in " ".join(resolute("e", "watch", number).out.split())
    assert resolute("e", "config", number, "--original").out == CONFIG
    for listing in (("e", "list"), ("e", "lt", number), ("e", "describe", number), ("t", "describe", "1")):
        assert resolute(*listing).code == 0


def test_the_program_itself_runs_and_ends_with_a_code(master: str) -> None:
    command = [sys.executable, "-m", "resolute.cli.main", "-m", master]

    info = subprocess.run([*command, "master", "info"], capture_output=True, text=True, check=False)
    missing = subprocess.run([*command, "e", "describe", "999"], capture_output=True, text=True, check=False)

    assert (info.returncode, info.stderr) == (0, "")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == "Error: experiment not found: 999\n"


def test_a_fault_is_told_with_the_users_own_file_and_line(resolute: Any, work: Path) -> None:
    (work / "bad.yaml").write_text(CONFIG.replace("max_trials", "max_trails"))

    refused = resolute("e", "create", "bad.yaml", "model")

    assert refused.code == 1
    assert refused.err.startswith("Error: bad.yaml:5:")
    assert "max_trials" in refused.err


def test_a_paused_experiment_is_renamed_labelled_and_deleted(resolute: Any, work: Path) -> None:
    number = str(json.loads(resolute("e", "create", "config.yaml", "model", "--paused", "--json").out)["id"])

    for change in (("set", "name", number, "new"), ("label", "add", number, "a"), ("set", "priority", number, "7")):
        assert resolute("e", *change).code == 0
    described = json.loads(resolute("e", "describe", number, "--json").out)[0]
    killed = resolute("e", "kill", number)
    resolute("e", "wait", number, "--polling-interval", "0.1")
    deleted = resolute("e", "delete", number, "--yes")

    assert (described["name"], described["labels"], described["state"]) == ("new", ["a"], "STATE_PAUSED")
    assert (killed.code, deleted.code) == (0, 0)


@pytest.mark.parametrize(
    "listing",
    [
        ("agent", "list"),
        ("slot", "list"),
        ("rp", "list"),
        ("job", "list"),
        ("task", "list"),
        ("user", "list"),
        ("workspace", "list"),
        ("project", "list", "Uncategorized"),
        ("template", "list"),
        ("master", "info"),
        ("master", "config"),
        ("master", "logs", "--tail", "5"),
        ("version",),
    ],
    ids=" ".join,
)
def test_every_list_works(resolute: Any, listing: tuple[str, ...]) -> None:
    done = resolute(*listing)

    assert (done.code, done.err) == (0, "")


def test_places_and_templates_are_made_and_removed(resolute: Any, work: Path) -> None:
    (work / "template.yaml").write_text("max_restarts: 1\n")
    steps = [
        ("w", "create", "Vision"),
        ("p", "create", "Vision", "tanks", "--description", "small ones"),
        ("p", "describe", "Vision", "tanks"),
        ("tpl", "create", "base", "template.yaml"),
        ("tpl", "describe", "base"),
        ("tpl", "set", "base", "template.yaml"),
        ("tpl", "rm", "base"),
        ("p", "delete", "Vision", "tanks", "--yes"),
        ("w", "delete", "Vision", "--yes"),
    ]

    for step in steps:
        done = resolute("-u", "admin", *step)
        assert done.code == 0, f"{step}: {done.err}"


def test_the_sdk_sees_what_the_command_line_made(master: str, work: Path, tmp_path: Path) -> None:
    with Client(master, env={"XDG_CONFIG_HOME": str(tmp_path / "sdk")}) as client:
        experiment = client.create_experiment(work / "config.yaml", work / "model")
        state = experiment.wait(interval_s=0.2, timeout_s=60)
        trial = experiment.trials()[0]

        assert state == "COMPLETED", "".join(line["message"] for line in trial.logs())
        assert [r["steps_completed"] for r in trial.metrics("training")] == [1, 2, 3, 4]
        assert [r["metrics"]["loss"] for r in trial.metrics("validation")] == [trial.hparams["lr"]]
        assert trial.searcher_metric == trial.hparams["lr"]
        assert any("trained with" in line["message"] for line in trial.logs(LogFilter(search="trained")))
        assert experiment.top_checkpoint() is not None
        with pytest.raises(InvalidInput):
            client.create_experiment({"searcher": {"name": "nonsense"}})


def test_a_script_needs_no_client_object(
    master: str, work: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "shared"))
    monkeypatch.setenv("RESOLUTE_MASTER", master)
    monkeypatch.chdir(work)
    shared.login(master, "determined", "")

    experiment = shared.create_experiment("config.yaml", "model", activate=False)
    same = shared.get_experiment(experiment.id)
    same.kill()

    assert same.wait(interval_s=0.1, timeout_s=60) == "CANCELED"
    assert experiment.id in {found.id for found in shared.list_experiments()}
    shared.logout()
