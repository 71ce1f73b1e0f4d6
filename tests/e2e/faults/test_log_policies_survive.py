"""Log policies over kills of the master: what a line sets off comes within a second, and once."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

CONFIG = """
name: talker
entrypoint: python3 talker.py
max_restarts: 5
searcher: {{name: single, metric: loss}}
environment: {{environment_variables: [TALKER_FOLDER={folder}]}}
log_policies:
  - {{name: nan, pattern: loss is NaN}}
  - {{name: oom, pattern: out of memory, action: cancel_retries}}
"""


@pytest.fixture
def said(tmp_path: Path) -> Any:
    """The trial prints what is put here."""
    folder = tmp_path / "said"
    folder.mkdir()

    def say(number: int, text: str) -> None:
        (folder / "next").write_text(text)
        (folder / "next").rename(folder / f"say-{number}")

    say.folder = folder  # type: ignore[attr-defined]
    return say


def test_lines_act_within_a_second_and_once_while_the_master_is_killed(
    make_master: Any, said: Any, tmp_path: Path
) -> None:
    master = make_master(tmp_path / "home", warm=False)
    experiment = master.create(CONFIG.format(folder=said.folder), "talker.py")
    said(0, "begun")
    trial = _until(lambda: next((t for t in master.trials(experiment) if "begun" in master.log(t["id"])), None))

    began = time.monotonic()
    said(1, "loss is NaN")
    _until(lambda: _told(master, trial["id"], "nan"))
    took_s = time.monotonic() - began
    master.kill()
    said(2, "loss is NaN again")
    said(3, "out of memory")
    master.start()
    _until(lambda: _told(master, trial["id"], "oom"))
    (said.folder / "end").touch()
    state = master.wait(experiment)

    assert took_s < 1.5  # a second, and the questions of the test
    assert (_told(master, trial["id"], "nan"), _told(master, trial["id"], "oom")) == (1, 1)
    assert (state, master.trials(experiment)[0]["restarts"]) == ("STATE_ERROR", 0)


def _told(master: Any, trial_id: int, name: str) -> int:
    lines = [json.loads(line)["result"]["log"] for line in master.log(trial_id).splitlines()]
    return sum(f"Log policy '{name}' matched" in line for line in lines)


def _until(ask: Any, timeout_s: float = 60) -> Any:
    ends_at = time.monotonic() + timeout_s
    while time.monotonic() < ends_at:
        if found := ask():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come about")
