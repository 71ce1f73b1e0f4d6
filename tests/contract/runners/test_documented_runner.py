"""The runner that the documentation shows keeps what every runner promises."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from resolute.domain.allocation import NodeShare
from resolute.engine.ports.runner import Gang, NodePart, Runner
from resolute.runners.contract import RunnerContract

DOC = Path(__file__).parents[3] / "docs/dev/runners.md"
MODULE = re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)[0]


@dataclass
class Job:
    process: subprocess.Popen[bytes]

    @property
    def state(self) -> str:
        return "running"

    @property
    def exit_code(self) -> int | None:
        code = self.process.poll()
        return code if code is None or code >= 0 else 128 - code


class Engine:
    """Runs command lines and forgets none."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._jobs: dict[str, Job] = {}

    def submit_unless_known(self, name: str, command: list[str], env: Mapping[str, str]) -> None:
        if name not in self._jobs:
            own = {"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(self._home), **env}
            self._jobs[name] = Job(subprocess.Popen(command, env=own, stdin=subprocess.DEVNULL))

    def find(self, name: str) -> Job | None:
        return self._jobs.get(name)

    def names(self) -> list[str]:
        return list(self._jobs)

    def signal(self, name: str, number: int) -> None:
        if name in self._jobs:
            self._jobs[name].process.send_signal(number)


class Subject:
    def __init__(self, home: Path) -> None:
        self._engine = Engine(home)
        self._ledger = home / "ledger"
        self._module: Any = ModuleType("documented_runner")
        exec(MODULE, self._module.__dict__)
        self.runner = self.reopened()

    def ending(self, name: str, exit_code: int) -> Gang:
        return self._gang(name, f"echo started >> {self._ledger}; exit {exit_code}")

    def endless(self, name: str) -> Gang:
        return self._gang(name, f"echo started >> {self._ledger}; exec sleep 600")

    def reopened(self) -> Runner:
        runner: Runner = self._module.EngineRunner(self._engine, 2)
        return runner

    def started_count(self) -> int:
        return len(self._ledger.read_text().split())

    def _gang(self, name: str, script: str) -> Gang:
        part = NodePart(share=NodeShare("engine", (0,)))
        return Gang(allocation_id=name, task_id=name, run_id=1, nodes=(part,), entrypoint=script, env={})


class TestDocumentedRunner(RunnerContract):
    @pytest.fixture
    def subject(self, tmp_path: Path) -> Iterator[Subject]:
        subject = Subject(tmp_path)
        yield subject
        subject.runner.close(stop_gangs=True)
