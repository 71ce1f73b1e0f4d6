"""Run by the interpreter itself at the start of every Python process of a gang, when this folder is on PYTHONPATH.

The Determined harness reads its info files from one fixed directory, and copies the user's code from another, which
gangs on one machine would share. Here it is given the gang's own: info files in RESOLUTE_INFO_DIR, code in the working
directory, as soon as the harness is imported. Works in any Python the harness supports; imports the standard library
only; must never keep an interpreter from starting.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_INFO = "determined._info"
_CONSTANTS = "determined.constants"
_FILES = {
    "ClusterInfo": "cluster.json",
    "TrialInfo": "trial.json",
    "RendezvousInfo": "rendezvous.json",
    "ResourcesInfo": "resources.json",
}


class HarnessFinder:
    """Finds two modules of the harness as Python would, and redirects them once they are loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _REDIRECTS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _REDIRECTS[name](module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def redirect_code(module: ModuleType) -> None:
    """Checkpoints carry a copy of the user's code; it is where the process runs."""
    module.MANAGED_TRAINING_MODEL_COPY = os.getcwd()  # type: ignore[attr-defined]


def redirect_info(module: ModuleType) -> None:
    directory = os.environ.get("RESOLUTE_INFO_DIR", "")
    for class_name, file_name in _FILES.items():
        for method in ("_from_file", "_to_file"):
            bound: Any = getattr(getattr(module, class_name, None), method, None)
            function: Any = getattr(bound, "__func__", bound)
            if directory and getattr(function, "__defaults__", None):
                function.__defaults__ = (os.path.join(directory, file_name),)


def run_next_sitecustomize() -> None:
    """The one that this file hides, if there is one."""
    others = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_REDIRECTS = {_INFO: redirect_info, _CONSTANTS: redirect_code}
for _name, _redirect in _REDIRECTS.items():
    if _name in sys.modules:
        _redirect(sys.modules[_name])
sys.meta_path.insert(0, HarnessFinder())

run_next_sitecustomize()
