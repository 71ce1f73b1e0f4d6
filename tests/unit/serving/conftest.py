"""What tests of models share: loading runs code and changes import paths, as it would in a model process."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def model_process() -> Iterator[None]:
    """Import paths and modules are put back afterwards: a real model process ends with its model."""
    paths, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = paths
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if "/site-packages/" not in file and "/src/resolute/" not in file.replace("/aliases/", "/alias-"):
            del sys.modules[name]
    for name in [name for name in sys.modules if name == "ts" or name.startswith("ts.")]:
        del sys.modules[name]
