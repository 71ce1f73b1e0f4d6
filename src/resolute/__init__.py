"""Resolute: a deep-learning training platform from raw data to a rolled-out endpoint.

    with resolute.init() as run: ...         inside a training script
    resolute.client.create_experiment(...)   outside of it
    resolute.Model(...).train(...)           from a trainer's file to an endpoint

Public names load on first use, so that `import resolute` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from resolute.version import __version__

if TYPE_CHECKING:
    from resolute import accelerate, client, huggingface, keras, lifecycle, lightning, pytorch
    from resolute.client.lifecycle.model import Model
    from resolute.training.core import InvalidHparams, init

_ATTRIBUTES = {
    "InvalidHparams": "resolute.training.core",
    "Model": "resolute.client.lifecycle.model",
    "init": "resolute.training.core",
}
_MODULES = frozenset({"accelerate", "client", "huggingface", "keras", "lifecycle", "lightning", "pytorch"})

__all__ = [
    "InvalidHparams",
    "Model",
    "__version__",
    "accelerate",
    "client",
    "huggingface",
    "init",
    "keras",
    "lifecycle",
    "lightning",
    "pytorch",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _ATTRIBUTES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(_ATTRIBUTES[name])
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"resolute.{name} needs the package {missing.name!r}. Install it with: pip install 'resolute[train]'"
        ) from missing
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
