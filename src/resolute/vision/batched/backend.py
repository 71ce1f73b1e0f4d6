"""Whether the Triton kernels can serve a tensor; everything has a plain torch form for where they cannot."""

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from torch import Tensor


def has_kernels(tensor: Tensor) -> bool:
    """On a GPU with Triton, or anywhere under Triton's interpreter (TRITON_INTERPRET=1)."""
    return _triton_is_there() and (tensor.is_cuda or os.environ.get("TRITON_INTERPRET") == "1")


@cache
def kernels() -> Any:
    """The module of kernels, loaded on first use: machines without Triton never import it."""
    return import_module("resolute.vision.batched.kernels")


@cache
def _triton_is_there() -> bool:
    return find_spec("triton") is not None
