"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_script_runs_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(block("python"))

    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("runs/*/checkpoints/*/weights"))


def test_the_script_and_its_configuration_run_as_a_search(live_master: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(block("python"))

    experiment = live_master.create(block("yaml"), tmp_path)

    assert live_master.wait(experiment, timeout_s=180) == "STATE_COMPLETED"
    shown = live_master.experiment(experiment)
    assert shown["numTrials"] == 16
    assert 0 < shown["bestTrialSearcherMetric"] < 1


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\(((?!http)[^)#]+)\)", README)

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_step_of_the_demo_works(tmp_path: Path) -> None:
    said = demo(tmp_path, "--batches", "12")

    assert "Restarts: 1; nothing was lost." in said
    assert "Registered xview-tiles:1" in said
    assert re.search(r"planes +.*30", said)
    assert list(tmp_path.glob("home/xview/predictions/*"))


@pytest.mark.slow
@pytest.mark.timeout(1000)
def test_the_demo_teaches_a_detector_to_see(tmp_path: Path) -> None:
    said = demo(tmp_path)

    found = re.search(r"best mAP ([0-9.]+)", said)
    assert found is not None
    assert float(found[1]) > 0.2  # an untrained one has 0.0002


def demo(folder: Path, *options: str) -> str:
    command = [sys.executable, str(ROOT / "examples/demo.py"), "--exit", "--port", "0", "--home", str(folder / "home")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
