"""A grid as a sequence that makes its points when asked: a search over a large one is restored at every event."""

import math
from functools import cached_property

from resolute.search.space import Assignment, Space


class Grid:
    """The points of `space.grid()`, in the same order."""

    def __init__(self, space: Space) -> None:
        self._space = space
        ordered = sorted(space.parameters, key=lambda parameter: parameter.name)
        self._axes = [(parameter.name, parameter.axis()) for parameter in ordered]
        self._has_conditions = any(parameter.when for parameter in ordered)

    def __len__(self) -> int:
        if self._has_conditions:
            return len(self._listed)
        return math.prod(len(axis) for _, axis in self._axes)

    def __getitem__(self, number: int) -> Assignment:
        if self._has_conditions:
            return self._listed[number]
        point: Assignment = {}
        for name, axis in reversed(self._axes):
            number, at = divmod(number, len(axis))
            point[name] = axis[at]
        return point

    @cached_property
    def _listed(self) -> list[Assignment]:
        """Conditions make points fall together; only the whole list shows which."""
        return self._space.grid()
