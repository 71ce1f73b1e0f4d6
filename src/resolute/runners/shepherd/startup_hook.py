"""`startup-hook.sh` of a model definition: sourced by bash before the entrypoint, so that what it exports counts.

What it installs goes into a layer of this run's own above the environment, never into what other runs share: `pip` and
`python3` mean that layer, and everything below stays importable. Starts nothing itself.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from resolute.domain.errors import EnvironmentFailed

HOOK = "startup-hook.sh"
Run = Callable[[list[str], Mapping[str, str]], int]
"""Runs a command in the working directory with this environment, its output going to the task's log."""

_MAKE_LAYER = """
import os, site, sys, venv
layer, uv = sys.argv[1:]
venv.EnvBuilder(symlinks=True, with_pip=False).create(layer)
python = os.path.join(layer, "bin", "python")
inside = os.path.join(layer, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
with open(os.path.join(inside, "zzz_platform.pth"), "w") as below:
    for folder in site.getsitepackages():
        below.write("import site; site.addsitedir(%r)\\n" % folder)
try:
    import pip
    command = '"%s" -m pip "$@"' % python
except ImportError:
    command = '"%s" pip "$@"' % uv
for name in ("pip", "pip3"):
    path = os.path.join(layer, "bin", name)
    with open(path, "w") as script:
        script.write("#!/bin/sh\\nexec %s\\n" % command)
    os.chmod(path, 0o755)
"""
_SOURCE = 'set -e; into=$2; . "$1"; set +e; command -p env -0 > "$into"'


def run_hook(run: Run, *, work: Path, layer: Path, env: Mapping[str, str]) -> tuple[int, dict[str, str]]:
    """Its exit code, and the environment that the entrypoint gets. `layer`: where what it installs goes."""
    layered = _make_layer(run, layer, env)
    found = layer / "environment"
    shell = shutil.which("bash", path=layered["PATH"]) or "sh"
    code = run([shell, "-c", _SOURCE, HOOK, str(work / HOOK), str(found)], layered)
    if code != 0 or not found.exists():  # one that ends with `exit 0` exports nothing
        return code, layered
    exported = (entry.partition("=") for entry in os.fsdecode(found.read_bytes()).split("\0") if "=" in entry)
    return code, {name: value for name, _, value in exported}


def _uv() -> str:
    """What installs where the environment has no pip."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.exists() else "uv"


def _make_layer(run: Run, layer: Path, env: Mapping[str, str]) -> dict[str, str]:
    python = shutil.which("python3", path=env.get("PATH", os.defpath))
    if python is None:
        return dict(env)
    try:
        code = run([python, "-I", "-c", _MAKE_LAYER, str(layer), _uv()], env)
    except OSError:  # the run's account cannot execute it, so neither can the hook
        return dict(env)
    if code != 0:
        raise EnvironmentFailed(f"The environment that {HOOK} installs into could not be made from {python}.")
    own = layer / "bin"
    return {**env, "VIRTUAL_ENV": str(layer), "PATH": f"{own}{os.pathsep}{env.get('PATH', os.defpath)}"}
