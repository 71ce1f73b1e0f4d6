"""What tests of models share: loading runs code and changes import paths, as it would in a model process."""

import sys
import tempfile
from collections.abc import Iterator

import pytest

from resolute.serving.handlers.code import ALIASES


@pytest.fixture
def model_process() -> Iterator[None]:
    """Import paths and the models' own modules are put back: a real model process ends with its model."""
    paths = list(sys.path)
    yield
    sys.path[:] = paths
    own = (tempfile.gettempdir(), str(ALIASES))
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(own):
            del sys.modules[name]
