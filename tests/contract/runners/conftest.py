"""Gangs, archives and patience for the runner tests."""

import hashlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.log import LogLine, decode_line
from resolute.engine.ports.runner import Gang, GangStatus, NodePart
from resolute.runners.contract import ended, until
from resolute.runners.local import LocalRunner
from resolute.runners.shepherd.model_code import keep_code


class Bench:
    """What a test needs around a local runner: a home, gangs in it, their logs and their ends."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def gang(self, name: str, entrypoint: str | tuple[str, ...], **options: Any) -> Gang:
        values: dict[str, Any] = {
            "task_id": name,
            "run_id": 1,
            "nodes": (NodePart(share=NodeShare("here", (0,))),),
            "env": {},
            "context_id": self.keep(options.pop("context_files", {})),
            "log_path": str(self.home / f"{name}.log"),
        }
        return Gang(allocation_id=f"{name}.1", entrypoint=entrypoint, **{**values, **options})

    def keep(self, files: dict[str, str]) -> str | None:
        """A model definition where the runner looks for it."""
        if not files:
            return None
        content = packed(files)
        context_id = hashlib.sha256(content).hexdigest()
        keep_code(self.home / "contexts", context_id, content)
        return context_id

    def lines(self, gang: Gang) -> list[LogLine]:
        try:
            records = Path(gang.log_path).read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        return [decode_line(record, offset=0) for record in records]

    def text(self, gang: Gang) -> str:
        return "\n".join(line.text for line in self.lines(gang))

    def run(self, runner: LocalRunner, gang: Gang) -> GangStatus:
        """Start it and wait for its end."""
        return self.end(runner, runner.start(gang))

    def end(self, runner: LocalRunner, handle: str) -> GangStatus:
        return ended(runner, handle)

    def until_said(self, gang: Gang, word: str) -> None:
        until(lambda: word in self.text(gang))

    until = staticmethod(until)


def packed(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            tar.addfile(entry, io.BytesIO(content.encode()))
    return buffer.getvalue()


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def cold(tmp_path: Path) -> Iterator[LocalRunner]:
    """A runner whose trials start fresh interpreters."""
    runner = LocalRunner(home=tmp_path, slots=2, node_id="here", warm=False)
    yield runner
    runner.close(stop_gangs=True)


@pytest.fixture(scope="session")
def warm_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalRunner, Bench]]:
    """A runner with torch loaded, shared by the whole session: warming it up takes seconds."""
    home = tmp_path_factory.mktemp("warm")
    runner = LocalRunner(home=home, slots=2, node_id="here")
    until(lambda: runner.is_warm(sys.executable))
    yield runner, Bench(home)
    runner.close(stop_gangs=True)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A package that only a requirement can bring: its version says which copy was imported."""
    path = tmp_path / "greeting-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("greeting.py", "VERSION = '1.0'\n")
        archive.writestr("greeting-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        archive.writestr(
            "greeting-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("greeting-1.0.dist-info/RECORD", "")
    return path
