"""A Python environment for one set of requirements, built once and shared by all gangs that ask for the same.

It is complete when its marker exists; anything else is removed and built again. Builders of one environment wait
for each other through a lock that the kernel drops when its holder dies.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resolute.domain.errors import EnvironmentFailed, ResoluteError, Unavailable

_LOCK_TURN_S = 0.2
BUILD_LATER = 75
"""As `EX_TEMPFAIL`."""
_DECORATION = re.compile(r"[×╰─▶│├╭✘⚠]+|^\s*error:", re.MULTILINE)

_MAY_PASS = re.compile(
    r"error sending request|timed out|connection (reset|refused)|dns error|No space left", re.IGNORECASE
)

Execute = Callable[[list[str]], tuple[int, str]]
"""Runs a command with its output going to the task's log; gives exit code and what it wrote to standard error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentBuild:
    directory: str
    base_python: str
    requirements: tuple[str, ...]
    fallback: tuple[str, ...]
    """Site-packages that are searched after the environment's own: torch and the platform stay importable."""
    shared: tuple[str, ...]
    """Packages taken from there instead of being installed when something merely depends on them."""
    uv: str

    @property
    def python(self) -> str:
        return f"{self.directory}/bin/python"

    @property
    def is_complete(self) -> bool:
        return self._marker.exists()

    @property
    def _marker(self) -> Path:
        return Path(self.directory, ".complete")

    def note_use(self) -> None:
        """Environments that are not used for long are removed."""
        with contextlib.suppress(OSError):
            os.utime(self._marker)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def build_from_json(value: dict[str, Any]) -> EnvironmentBuild:
    lists = {name: tuple(value[name]) for name in ("requirements", "fallback", "shared")}
    return EnvironmentBuild(**{**value, **lists})


def ensure_built(
    build: EnvironmentBuild, *, execute: Execute, say: Callable[[str], None], wait: Callable[[float], None]
) -> None:
    """Return when the environment is complete; raise EnvironmentFailed when it cannot be. `wait` may raise."""
    if build.is_complete:
        return
    with _locked(Path(f"{build.directory}.lock"), say=say, wait=wait):
        if build.is_complete:
            return
        shutil.rmtree(build.directory, ignore_errors=True)
        say(f"Building a Python environment with {', '.join(build.requirements)}.")
        try:
            _install(build, execute)
        except BaseException:
            shutil.rmtree(build.directory, ignore_errors=True)
            raise
        say(f"The Python environment is complete and kept for later: {build.directory}")


def build_alone(build: EnvironmentBuild, env: dict[str, str]) -> None:
    """In a process that does nothing else: says what goes on, and ends it with a sentence when it cannot be built."""

    def execute(argv: list[str]) -> tuple[int, str]:
        done = subprocess.run(argv, env=env, cwd="/", stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stderr.decode(errors="replace")

    def say(text: str) -> None:
        print(text, flush=True)

    try:
        Path(build.directory).parent.mkdir(parents=True, exist_ok=True)
        ensure_built(build, execute=execute, say=say, wait=time.sleep)
    except ResoluteError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(BUILD_LATER if isinstance(error, Unavailable) else 1)


def _install(build: EnvironmentBuild, execute: Execute) -> None:
    directory = Path(build.directory)
    _checked(execute([build.uv, "venv", "--quiet", "--python", build.base_python, str(directory)]), build)
    wanted = directory / "requirements.txt"
    wanted.write_text("\n".join(build.requirements) + "\n")
    shared = directory / "shared.txt"
    shared.write_text("".join(f"{name}\n" for name in build.shared))
    _checked(
        execute([
            build.uv, "pip", "install", "--no-progress", "--compile-bytecode", "--python", build.python,
            "--excludes", str(shared), "--requirements", str(wanted),
        ]),
        build,
    )  # fmt: skip
    _add_fallback(directory, build.fallback)
    with open(build._marker, "w") as marker:
        os.fsync(marker.fileno())


def _checked(result: tuple[int, str], build: EnvironmentBuild) -> None:
    code, complaint = result
    if code == 0:
        return
    sentence = " ".join(_DECORATION.sub(" ", complaint).split()) or f"uv ended with exit code {code}"
    what = f"The Python environment with {', '.join(build.requirements)} could not be built: {sentence[:1500]}"
    if _MAY_PASS.search(sentence):
        raise Unavailable(f"{what} Check the network and the disk, and try again.")
    raise EnvironmentFailed(f"{what} Correct environment.requirements.")


def _add_fallback(directory: Path, fallback: tuple[str, ...]) -> None:
    for site_packages in directory.glob("lib/python*/site-packages"):
        lines = [f"import site; site.addsitedir({folder!r})\n" for folder in fallback]
        # Read last of all .pth files, so that everything of the environment's own comes first.
        (site_packages / "zzz_platform.pth").write_text("".join(lines))


@contextlib.contextmanager
def _locked(path: Path, *, say: Callable[[str], None], wait: Callable[[float], None]) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        is_waiting = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not is_waiting:
                    say("Another run is building the same Python environment; waiting for it.")
                is_waiting = True
                wait(_LOCK_TURN_S)
        yield
