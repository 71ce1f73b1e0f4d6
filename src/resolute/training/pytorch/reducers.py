"""Metric reducers: metrics that are more than a mean of batches, gathered over batches and then over slots."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any


class Reducer(StrEnum):
    """How `evaluate_batch` values of one name become one value."""

    AVG = "avg"
    SUM = "sum"
    MAX = "max"
    MIN = "min"


class MetricReducer(ABC):
    """Collects what it likes while batches pass; asked once per reporting period."""

    @abstractmethod
    def reset(self) -> None:
        """A new period begins."""

    @abstractmethod
    def per_slot_reduce(self) -> Any:
        """What this slot has to say; any picklable value."""

    @abstractmethod
    def cross_slot_reduce(self, per_slot_metrics: Sequence[Any]) -> Any:
        """The metric (a number, or a mapping of names to numbers) from all slots' values."""


class FunctionReducer(MetricReducer):
    """Wraps a function of the list of all values passed to `update`."""

    def __init__(self, function: Callable[[list[Any]], Any]) -> None:
        self._function = function
        self._values: list[Any] = []

    def update(self, value: Any) -> None:
        self._values.append(value)

    def reset(self) -> None:
        self._values = []

    def per_slot_reduce(self) -> list[Any]:
        return self._values

    def cross_slot_reduce(self, per_slot_metrics: Sequence[Any]) -> Any:
        return self._function([value for values in per_slot_metrics for value in values])


class NamedReducer:
    """A reducer under the name its metric is reported with. No name: it returns a mapping of its own."""

    def __init__(self, reducer: MetricReducer, name: str | None, *, for_training: bool, for_validation: bool) -> None:
        self.reducer = reducer
        self.name = name
        self.for_training = for_training
        self.for_validation = for_validation

    def reduce(self, gather: Callable[[Any], list[Any]]) -> dict[str, Any]:
        value = self.reducer.cross_slot_reduce(gather(self.reducer.per_slot_reduce()))
        return {self.name: value} if self.name is not None else dict(value)
