"""Which interpreter a gang runs in, found or described here; built by the gang's shepherd (`shepherd.environment`),
so that a slow build neither blocks the engine nor dies with the master.

Checks what can be checked at once, with a sentence; never downloads anything.
"""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolute.domain.errors import EnvironmentFailed
from resolute.engine.ports.runner import EnvironmentSpec
from resolute.runners.shepherd.account import Account
from resolute.runners.shepherd.environment import EnvironmentBuild

OLDEST_WARM_PYTHON = (3, 11)
_FORMAT = 1
"""Part of every fingerprint: raise it when environments are built differently."""
_PROBE_TIMEOUT_S = 20.0
_PROBE = (
    "import json, sys, sysconfig; p = sysconfig.get_paths(); "
    "print(json.dumps([list(sys.version_info[:3]), [p['purelib'], p['platlib']]]))"
)
# Gigabytes each: a requirement that merely depends on them uses the platform's copy.
_SHARED_WITH_PLATFORM = ("torch", "torchvision", "torchaudio")


@dataclass(frozen=True, slots=True)
class Interpreter:
    path: str
    version: tuple[int, int, int]
    site_packages: tuple[str, ...]

    @property
    def can_be_warm(self) -> bool:
        return self.version[:2] >= OLDEST_WARM_PYTHON


@dataclass(frozen=True, slots=True)
class Environment:
    python: str
    can_be_warm: bool
    build: EnvironmentBuild | None = None
    """What the shepherd has to build before this interpreter exists."""

    @property
    def is_ready(self) -> bool:
        return self.build is None or self.build.is_complete

    @property
    def is_found_as_python3(self) -> bool:
        """Does `python3` mean this interpreter when its directory comes first on PATH?"""
        usual = os.path.join(os.path.dirname(self.python), "python3")
        return self.build is not None or (os.path.exists(usual) and os.path.samefile(usual, self.python))

    @property
    def prefix(self) -> str | None:
        """The virtual environment it belongs to."""
        prefix = os.path.dirname(os.path.dirname(self.python))
        is_virtual = self.build is not None or os.path.exists(os.path.join(prefix, "pyvenv.cfg"))
        return prefix if is_virtual else None


def resolve(spec: EnvironmentSpec, *, envs: Path, account: Account | None = None) -> Environment:
    """`account`: as whom it will run. Raises EnvironmentFailed when `environment.python` is no working interpreter, or
    there is no uv to build with."""
    base = probe(spec.python, account) if spec.python is not None else _OWN
    if not spec.requirements:
        return Environment(base.path, base.can_be_warm)
    build = EnvironmentBuild(
        directory=str(envs / fingerprint(base, spec.requirements)),
        base_python=base.path,
        requirements=spec.requirements,
        fallback=base.site_packages,
        shared=_shared(base, spec.requirements),
        uv=_uv(),
    )
    return Environment(build.python, base.can_be_warm, build)


def probe(python: str, account: Account | None = None) -> Interpreter:
    """Facts of an interpreter, asked once per file and change."""
    path = shutil.which(os.path.expanduser(python))
    if path is None:
        raise EnvironmentFailed(
            f"environment.python is {python!r}, which is no executable file on this machine. "
            "Give the path of a Python interpreter, such as /path/to/venv/bin/python."
        )
    return _probe(os.path.abspath(path), os.stat(path).st_mtime_ns, account)


_OWN = Interpreter(
    sys.executable,
    sys.version_info[:3],
    tuple(dict.fromkeys([sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]])),
)


@functools.lru_cache(maxsize=64)
def _probe(path: str, _changed_ns: int, account: Account | None) -> Interpreter:
    """The file is whatever a user named: it gets no more than a run of that user would."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("RESOLUTE_", "DET_"))}
    ids: dict[str, Any] = {}
    if account is not None:
        ids = {"user": account.uid, "group": account.gid, "extra_groups": account.groups, "cwd": "/"}
    try:
        answer = subprocess.run(
            [path, "-I", "-c", _PROBE], capture_output=True, text=True, timeout=_PROBE_TIMEOUT_S, env=env, **ids
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFailed(f"environment.python is {path!r}, which does not run: {error}.") from error
    try:
        version, site_packages = json.loads(answer.stdout)
    except ValueError as error:
        why = (answer.stderr or answer.stdout).strip()[-300:] or f"exit code {answer.returncode}"
        raise EnvironmentFailed(
            f"environment.python is {path!r}, which does not answer as Python does: {why}."
        ) from error
    return Interpreter(path, tuple(version), tuple(dict.fromkeys(site_packages)))


def fingerprint(base: Interpreter, requirements: Sequence[str]) -> str:
    """Same interpreter and same lines: same environment."""
    facts = [_FORMAT, base.path, base.version, [line.strip() for line in requirements]]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:24]


def _shared(base: Interpreter, requirements: Sequence[str]) -> tuple[str, ...]:
    asked = {re.split(r"[^A-Za-z0-9_.-]", line.strip(), maxsplit=1)[0].lower() for line in requirements}
    if asked & set(_SHARED_WITH_PLATFORM):
        return ()  # they only work in matching versions
    return tuple(
        name for name in _SHARED_WITH_PLATFORM if any(Path(folder, name).is_dir() for folder in base.site_packages)
    )


def _uv() -> str:
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        raise EnvironmentFailed(
            "environment.requirements needs uv, and there is none on PATH. Install it (pip install uv), "
            "or point environment.python at an environment that has the packages."
        )
    return found
