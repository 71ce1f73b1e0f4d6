"""A simulation ends when the caller has had enough, and a grid is measured before it is listed."""

import pytest

from resolute.domain.errors import InvalidConfig
from resolute.search.registry import new_searcher
from resolute.search.simulate import simulate

SPACE = {"a": {"type": "double", "minval": 0.0, "maxval": 1.0, "count": 10}}


def test_what_the_check_raises_ends_a_simulation() -> None:
    steps = iter(range(5))

    def check() -> None:
        next(steps)

    with pytest.raises(StopIteration):
        simulate({"name": "random", "metric": "l", "max_trials": 1000}, SPACE, 1, slots=1, check=check)


def test_a_grid_too_large_to_list_is_refused_by_its_size() -> None:
    space = {name: {"type": "double", "minval": 0.0, "maxval": 1.0, "count": 10**9} for name in "abc"}

    with pytest.raises(InvalidConfig, match="at most 100,000 are possible"):
        new_searcher({"name": "grid", "metric": "l"}, space, 1)
