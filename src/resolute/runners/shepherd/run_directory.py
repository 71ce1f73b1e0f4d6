"""The directory of one gang, and the facts in it that survive everybody: what was asked, who has it in hand,
how it ended.

    node.json        what to run on this node, where a runner leaves it for the node command; removed when it is read
    request.json     what to run; read once by the shepherd, then removed (it holds the allocation's token)
    launch.json      the process that was started to claim it
    shepherd.json    the claim: written by exactly one process, so that a gang can never start twice
    entrypoint.json  the process that runs now, so that it can be killed when its shepherd no longer can
    phase            while it is not running yet, what takes it so long
    cgroup           path of the control group that all its processes are in, where there is one
    exit.json        exit code and reason, durable before anybody is told
    work/            working directory with the unpacked model definition
    bin/             python3, where the gang's interpreter goes by another name
    files/           info files for the harness
    layer/           what startup-hook.sh installs

Nothing here starts or signals a process.
"""

import contextlib
import json
import os
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resolute.domain.gang import Phase
from resolute.host.process_identity import NOBODY, ProcessIdentity

_RESERVED_BYTES = 4096
_LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True)
class Exit:
    code: int
    reason: str = ""
    is_final: bool = False
    """Another try would end the same way."""


@dataclass(frozen=True, slots=True)
class RunDirectory:
    path: Path

    @property
    def work(self) -> Path:
        return self.path / "work"

    @property
    def files(self) -> Path:
        return self.path / "files"

    @property
    def bin(self) -> Path:
        return self.path / "bin"

    @property
    def _request(self) -> Path:
        return self.path / "request.json"

    @property
    def node_request(self) -> Path:
        return self.path / "node.json"

    @property
    def _claim(self) -> Path:
        return self.path / "shepherd.json"

    @property
    def _exit(self) -> Path:
        return self.path / "exit.json"

    def prepare(self, request: dict[str, Any]) -> None:
        """Write down what to run. Repeating it before anybody claimed the gang replaces the request."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_new(self._request, json.dumps(request).encode())

    def leave_for_node(self, request: dict[str, Any]) -> None:
        """The node command finds it there, unless the run has been forgotten before it came to that."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_new(self.node_request, json.dumps(request).encode())

    def open_to_account(self) -> None:
        """Others may pass to the folders that were handed over. Names here are known; contents are the runner's."""
        for path in self.path.iterdir():
            if path.is_file():
                path.chmod(0o600)
        self.path.chmod(0o711)

    def take_request(self) -> dict[str, Any]:
        request: dict[str, Any] = json.loads(self._request.read_bytes())
        self._request.unlink()
        return request

    def claim(self, identity: ProcessIdentity) -> bool:
        """True for exactly one caller, ever. Space for the exit code is set aside at the same time."""
        draft = self.path / f".claim.{_own_suffix()}"
        draft.write_text(json.dumps(asdict(identity)))
        draft.chmod(0o600)
        try:
            os.link(draft, self._claim)
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        with contextlib.suppress(OSError):  # a full disk: recording the exit will wait for space instead
            self._exit_draft.write_bytes(b" " * _RESERVED_BYTES)
        return True

    def claimed_by(self) -> ProcessIdentity | None:
        """None: nobody yet. NOBODY: it was given up before a process had it."""
        return _identity(self._claim)

    def give_up(self) -> bool:
        """Make sure that no process will ever claim it. False: one already has."""
        return self.claim(NOBODY) or self.claimed_by() == NOBODY

    def note_launch(self, shepherd: ProcessIdentity) -> None:
        """Until it claims the gang, this is all that tells of it."""
        _write_new(self.path / "launch.json", json.dumps(asdict(shepherd)).encode())

    def launched(self) -> ProcessIdentity:
        return _identity(self.path / "launch.json") or NOBODY

    def note_entrypoint(self, identity: ProcessIdentity) -> None:
        _write_new(self.path / "entrypoint.json", json.dumps(asdict(identity)).encode())

    def entrypoint(self) -> ProcessIdentity:
        return _identity(self.path / "entrypoint.json") or NOBODY

    def note_phase(self, phase: Phase) -> None:
        """STARTING needs no note, and what runs has an entrypoint."""
        if phase is Phase.PULLING:
            _write_new(self.path / "phase", phase.encode())
            return
        with contextlib.suppress(FileNotFoundError):
            (self.path / "phase").unlink()

    def phase(self) -> Phase:
        """Of a gang that has not ended."""
        try:
            return Phase((self.path / "phase").read_text())
        except FileNotFoundError:
            has_begun = (self.path / "entrypoint.json").exists()
        return Phase.RUNNING if has_begun else Phase.STARTING

    def note_cgroup(self, path: Path) -> None:
        _write_new(self.path / "cgroup", str(path).encode())

    def cgroup(self) -> Path | None:
        try:
            return Path((self.path / "cgroup").read_text())
        except FileNotFoundError:
            return None

    def record_exit(self, ended: Exit) -> None:
        """Atomic and durable. Raises OSError when the disk is full, leaving what was."""
        content = json.dumps({**asdict(ended), "reason": ended.reason[:_LONGEST_REASON]}).encode()
        # Written over the reserved bytes: this needs no new space where blocks are overwritten in place.
        descriptor = os.open(self._exit_draft, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content.ljust(_RESERVED_BYTES))
            file.flush()
            os.fsync(descriptor)
        os.replace(self._exit_draft, self._exit)
        _sync_directory(self.path)

    def exit(self) -> Exit | None:
        try:
            content = json.loads(self._exit.read_bytes())
        except FileNotFoundError:
            return None
        return Exit(**content)

    def ended_at(self) -> float:
        """When its exit was written down, in seconds of this machine's clock. 0 when it was not."""
        try:
            return self._exit.stat().st_mtime
        except FileNotFoundError:
            return 0.0

    @property
    def _exit_draft(self) -> Path:
        return self.path / ".exit.json"


def _identity(path: Path) -> ProcessIdentity | None:
    try:
        return ProcessIdentity(**json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None


def _write_new(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.{_own_suffix()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
    os.replace(draft, path)


def _own_suffix() -> str:
    """No other process or thread writes a draft of this name."""
    return f"{os.getpid()}.{threading.get_ident()}"


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
