"""Entry of every process the local runner starts: `python zygote_main.py shepherd <run directory>`.

Run by path in any Python 3.11 environment, with or without `resolute` installed in it.
"""

import sys
import types
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def _own_modules() -> None:
    """Make this copy's modules importable without running the package's own `__init__`."""
    package = types.ModuleType("resolute")
    package.__path__ = [str(_PACKAGE)]
    sys.modules["resolute"] = package


def main(mode: str, argument: str) -> None:
    if sys.path[0] == str(Path(__file__).parent):
        del sys.path[0]
    _own_modules()
    from resolute.runners.shepherd.run_directory import RunDirectory
    from resolute.runners.shepherd.session import shepherd

    shepherd(RunDirectory(Path(argument)))


if __name__ == "__main__":
    main(*sys.argv[1:])
