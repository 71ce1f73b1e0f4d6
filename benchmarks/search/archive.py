"""Races that were run, on disk: one file of JSON lines for each contestant, so that a benchmark of hours can be
stopped and continued. Delete a contestant's file (or use `--again NAME`) when it has changed."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.search.race import Race

Key = tuple[str, int]
"""(task, repeat)"""


class Archive:
    """Races of one setting (budget and workers); others have folders of their own."""

    def __init__(self, folder: Path, *, budget: int, workers: int) -> None:
        self._folder = folder / f"{budget}-epochs-{workers}-workers"
        self._folder.mkdir(parents=True, exist_ok=True)

    def races(self, contestant: str) -> dict[Key, Race]:
        path = self._path(contestant)
        if not path.exists():
            return {}
        return dict(_parsed(line) for line in path.read_text().splitlines() if line.endswith("}"))

    def add(self, contestant: str, task: str, repeat: int, race: Race) -> None:
        with self._path(contestant).open("a") as file:
            file.write(json.dumps({"task": task, "repeat": repeat, **asdict(race)}) + "\n")

    def forget(self, contestant: str) -> None:
        self._path(contestant).unlink(missing_ok=True)

    def _path(self, contestant: str) -> Path:
        return self._folder / (re.sub(r"\W+", "_", contestant) + ".jsonl")


def _parsed(line: str) -> tuple[Key, Race]:
    fields: dict[str, Any] = json.loads(line)
    key = fields.pop("task"), fields.pop("repeat")
    fields["regrets"] = [(epochs, regret) for epochs, regret in fields["regrets"]]
    return key, Race(**fields)
