"""`python:module:Class`: a model written in Python, run as it is."""

import importlib
from collections.abc import Sequence
from typing import Any

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.serving.limits import ModelFailed
from resolute.serving.model import Model, ModelMetadata, Tensor

PREFIX = "python:"


def python_model(source: str, options: dict[str, Any]) -> Model:
    """The class is made with the options as keywords where it takes any; it needs `predict(instances)`."""
    module_name, _, class_name = source.removeprefix(PREFIX).partition(":")
    if not module_name or not class_name:
        raise InvalidInput(f"{source!r} does not name a class; wanted: python:package.module:Class.")
    try:
        made = getattr(importlib.import_module(module_name), class_name)
    except ImportError as error:
        raise InvalidInput(f"{source}: {module_name} cannot be imported: {error}. Is it on PYTHONPATH?") from error
    except AttributeError:
        raise InvalidInput(f"{source}: {module_name} has no {class_name}.") from None
    try:
        model = made(**options)
    except TypeError as error:
        raise InvalidInput(f"{source} cannot be made with the options {sorted(options)}: {error}.") from error
    if not callable(getattr(model, "predict", None)):
        raise InvalidInput(f"{source} has no method predict(instances).")
    return PythonModel(model, source)


class PythonModel:
    """Fills in what the class leaves out."""

    def __init__(self, model: Any, source: str) -> None:
        self._model, self._source = model, source

    @property
    def metadata(self) -> ModelMetadata:
        own = getattr(self._model, "metadata", None)
        return own if isinstance(own, ModelMetadata) else ModelMetadata(platform="python")

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        answers = list(self._model.predict(instances))
        if len(answers) != len(instances):
            raise ModelFailed(
                f"{self._source} gave {len(answers)} answers to {len(instances)} instances; one each is due."
            )
        return answers

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        return list(self._method("explain")(instances))

    def infer(self, requests: Sequence[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        return list(self._method("infer")(requests))

    def _method(self, name: str) -> Any:
        method = getattr(self._model, name, None)
        if method is None:
            raise NotSupported(f"{self._source} has no method {name}; it can predict.")
        return method
