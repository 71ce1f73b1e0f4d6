"""The example, word for word from its README, only shorter and in a folder of its own; then its notebook."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
EXAMPLE = Path(__file__).parents[3] / "examples" / "xview"
SHORTER = {
    "prepare.py": ["--images", "6", "--side", "320", "--objects", "20"],
    "create": ["--config", "searcher.max_length.batches=2"],
}


def commands() -> list[list[str]]:
    """The indented lines of the README."""
    lines = re.findall(r"^    (\S.*)$", (EXAMPLE / "README.md").read_text(), re.MULTILINE)
    return [shlex.split(line) for line in lines]


@pytest.fixture
def environment(live_master: Any, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DET_", "RESOLUTE_"))}
    bin_folder = Path(sys.executable).parent
    own = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return {
        **kept, **own, "RESOLUTE_MASTER": live_master.url, "OMP_NUM_THREADS": "1",
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
    }  # fmt: skip


def typed(words: list[str], folder: Path, env: dict[str, str]) -> str:
    """As the README has it, with another place for the data, and shortened."""
    words = [word.replace("/tmp/xview", str(folder / "xview")) for word in words]
    words += [extra for name, more in SHORTER.items() if name in words for extra in more]
    if "create" in words:
        words += ["--config", f"hyperparameters.data_dir={folder}/xview/tiles"]
    done = subprocess.run(words, cwd=EXAMPLE, env=env, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_readme_leads_from_nothing_to_ground_truth_beside_predictions(
    live_master: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    prepare, up, create, download, notebook = commands()

    typed(prepare, tmp_path, environment)
    said = typed(create, tmp_path, environment)
    experiment = int(re.search(r"Created experiment (\d+)", said)[1])  # type: ignore[index]
    live_master.wait(experiment)
    (trial,) = live_master.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"]
    uuid = trial["bestCheckpoint"]["uuid"]
    typed([uuid if word == "UUID" else word for word in download], tmp_path, environment)

    assert up == ["resolute", "up", "&"]
    assert "tiles, " in said or "images, " in said  # The log of the first trial was followed.
    assert {"detector.json", "weights.safetensors", "evaluation.json"} <= {
        path.name for path in (tmp_path / "xview" / "checkpoint").iterdir()
    }
    assert notebook[0].startswith("XVIEW_CHECKPOINT=")
    assert notebook[-1] == "look.ipynb"
    assert pictures_of(tmp_path / "xview", environment) == 3


def pictures_of(folder: Path, env: dict[str, str]) -> int:
    """How many pictures the notebook shows."""
    notebook = nbformat.read(EXAMPLE / "look.ipynb", as_version=4)
    own = {**env, "XVIEW_TILES": str(folder / "tiles"), "XVIEW_CHECKPOINT": str(folder / "checkpoint")}
    NotebookClient(notebook, timeout=200).execute(env=own)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)
