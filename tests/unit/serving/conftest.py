"""What tests of models share: loading runs code and changes import paths, as it would in a model process."""

import sys
import tempfile
from collections.abc import Iterator

import pytest

from resolute.serving.handlers.code import ALIASES


@pytest.fixture
def model_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Import paths and the models' own modules are put back: a real model process ends with its model."""
    paths, known = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = paths
    own = (str(tmp_path_factory.getbasetemp()), str(ALIASES))
    unpacked = (f"{tempfile.gettempdir()}/resolute", f"{tempfile.gettempdir()}/tmp")
    for name in set(sys.modules) - known:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith((*own, *unpacked)):
            del sys.modules[name]
