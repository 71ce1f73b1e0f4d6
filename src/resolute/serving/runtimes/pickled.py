"""An object with `predict` out of a pickle, joblib or dill file. Loading it runs its writer's code: only if allowed."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from resolute.domain.errors import InvalidInput
from resolute.serving.model import Model
from resolute.serving.runtimes.python_model import PythonModel

_LOADERS = {".pkl": "pickle", ".pickle": "pickle", ".joblib": "joblib", ".dill": "dill"}


def pickled_model(path: Path) -> Model:
    return PythonModel(Pickled(_load(path), path.name), path.name)


def _load(path: Path) -> Any:
    name = _LOADERS[path.suffix]
    try:
        with path.open("rb") as file:
            return import_module(name).load(file)
    except ImportError as error:
        raise InvalidInput(f"{path.name} needs a package that is not installed here: {error}.") from error
    except Exception as error:
        raise InvalidInput(f"{path.name} cannot be loaded: {type(error).__name__}: {error}.") from error


class Pickled:
    """Rows in, rows out, as scikit-learn's estimators have it."""

    def __init__(self, loaded: Any, name: str) -> None:
        if not callable(getattr(loaded, "predict", None)):
            raise InvalidInput(f"{name} holds a {type(loaded).__name__}, which has no method predict.")
        self._loaded = loaded

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        return list(np.asarray(self._loaded.predict(_rows(instances))).tolist())

    def infer(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"predict": np.asarray(self._loaded.predict(next(iter(each.values()))))} for each in requests]


def _rows(instances: Sequence[Any]) -> Any:
    try:
        return np.asarray(instances)
    except ValueError:
        return list(instances)
