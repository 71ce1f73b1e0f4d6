"""What an entrypoint means: a plain Python command that a warm process can run itself, or a command to execute."""

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

_SHELL_MEANING = re.compile(r"[|&;<>()$`\\*?\[\]#~{}!\n]")
_PYTHON_NAME = re.compile(r"python(3(\.\d+)?)?")
# Read by the interpreter or by torch's libraries while they load: a process that has loaded them cannot follow.
_READ_AT_LOAD = ("PYTHON", "LD_", "MALLOC_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "ATEN_", "PYTORCH_", "TORCH_")
_FOLLOWED = frozenset({"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"})


@dataclass(frozen=True, slots=True)
class PythonCommand:
    """`python3 script.py args` or `python3 -m module args`."""

    interpreter: str
    target: str
    is_module: bool
    arguments: tuple[str, ...]

    @property
    def argv(self) -> list[str]:
        return [self.interpreter, *(["-m"] if self.is_module else []), self.target, *self.arguments]


def command_of(entrypoint: str | Sequence[str]) -> list[str]:
    """The argument vector to execute."""
    return ["sh", "-c", entrypoint] if isinstance(entrypoint, str) else list(entrypoint)


def plain_python(entrypoint: str | Sequence[str]) -> PythonCommand | None:
    """None when a shell or an interpreter option would make a difference."""
    if isinstance(entrypoint, str):
        if _SHELL_MEANING.search(entrypoint):
            return None
        try:
            words = shlex.split(entrypoint)
        except ValueError:
            return None
    else:
        words = list(entrypoint)
    if len(words) < 2 or not _PYTHON_NAME.fullmatch(os.path.basename(words[0])):
        return None
    interpreter, *rest = words
    rest = rest[1:] if rest[0] == "-u" else rest
    is_module = rest[:1] == ["-m"]
    rest = rest[1:] if is_module else rest
    if not rest or rest[0].startswith("-") or not (is_module or rest[0].endswith(".py")):
        return None
    return PythonCommand(interpreter, rest[0], is_module, tuple(rest[1:]))


def can_run_here(command: PythonCommand, env: dict[str, str], *, executable: str, own_env: dict[str, str]) -> bool:
    """Would executing `command` give an interpreter that this process can stand in for?"""
    found = shutil.which(command.interpreter, path=env.get("PATH"))
    if found is None or os.path.dirname(os.path.abspath(found)) != os.path.dirname(os.path.abspath(executable)):
        return False
    if not os.path.samefile(found, executable):
        return False
    names = {name for name in (*env, *own_env) if name.startswith(_READ_AT_LOAD)} - _FOLLOWED
    return all(env.get(name) == own_env.get(name) for name in names)
