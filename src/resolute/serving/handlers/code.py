"""Python files of a model: imported from their folder, and searched for the one class that counts.

Only the model process may call this: the code of an archive runs here.
"""

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from resolute.domain.errors import InvalidInput

ALIASES = Path(__file__).parent / "aliases"
"""Holds the package `ts`, so that handlers written for TorchServe import ours under the names they know."""


def import_file(path: Path) -> ModuleType:
    """Import `path` whatever its name (`model-xview.py` too); files beside it can be imported by it."""
    for folder in (str(ALIASES), str(path.parent)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{path.name} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise InvalidInput(_missing_package(path, error)) from error
    except Exception as error:
        raise InvalidInput(f"{path.name} cannot be imported: {type(error).__name__}: {error}.") from error
    return module


def classes_in(module: ModuleType, parent: type | None = None) -> list[type]:
    """Classes that the module itself defines."""
    found = [each for _, each in inspect.getmembers(module, inspect.isclass) if each.__module__ == module.__name__]
    return [each for each in found if parent is None or issubclass(each, parent)]


def one_class(path: Path, parent: type | None = None) -> type:
    """The file's class, where there is exactly one of that kind."""
    return _only(classes_in(import_file(path), parent), path, parent)


def one_handler(module: ModuleType, path: Path) -> type:
    """The file's handler class: has `handle`, and no other class in the file is made from it."""
    having = [each for each in classes_in(module) if callable(getattr(each, "handle", None))]
    return _only([each for each in having if not any(each in other.__mro__[1:] for other in having)], path, None)


def _only(found: list[Any], path: Path, parent: type | None) -> type:
    if len(found) != 1:
        kind = parent.__name__ if parent else "handler"
        names = ", ".join(each.__name__ for each in found) or "none"
        raise InvalidInput(
            f"{path.name} must define exactly one {kind} class; it defines {names}. "
            "Move other classes into a file of their own and import them."
        )
    only: type = found[0]
    return only


def _missing_package(path: Path, error: ImportError) -> str:
    asked = path.parent / "requirements.txt"
    hint = f" Its requirements.txt lists {', '.join(asked.read_text().split())[:200]}." if asked.is_file() else ""
    return f"{path.name} cannot be imported: {error}.{hint} Install it where the model server runs."
