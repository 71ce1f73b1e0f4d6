"""Several objectives: domination, the Pareto set and the order."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from resolute.search.pareto import best_first, dominates, pareto_set

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=25)


def test_better_in_one_and_no_worse_in_the_other_dominates() -> None:
    assert dominates((1, 2), (1, 3))
    assert not dominates((1, 2), (1, 2))
    assert not dominates((1, 3), (2, 2))


def test_the_pareto_set_of_a_small_example() -> None:
    assert pareto_set([(1, 5), (2, 2), (3, 3), (5, 1), (2, 2)]) == [0, 1, 3, 4]


@given(POINTS)
def test_nobody_in_the_pareto_set_is_dominated_and_everybody_else_is(points: list[tuple[int, int]]) -> None:
    front = pareto_set(points)

    for at, point in enumerate(points):
        assert (at in front) == (not any(dominates(other, point) for other in points))


@given(POINTS)
def test_the_order_never_puts_a_point_before_one_that_dominates_it(points: list[tuple[int, int]]) -> None:
    order = best_first(points)

    assert sorted(order) == list(range(len(points)))
    for earlier, later in itertools.pairwise(order):
        assert not dominates(points[later], points[earlier])


def test_with_one_objective_the_order_is_by_value_then_age() -> None:
    assert best_first([(3.0,), (1.0,), (2.0,), (1.0,)]) == [1, 3, 2, 0]
